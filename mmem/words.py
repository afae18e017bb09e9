"""Words on the command line, turned into a request's arguments; and the options that several tools share."""

import re
from collections.abc import Callable
from typing import Any, TypeVar

import click

from mmem import jsontext
from mmem.errors import MmemError

F = TypeVar("F", bound=Callable[..., Any])

_ID = re.compile(r"id:([0-9]+)", re.ASCII)


def reference_word(word: str, entity_type: str | None = None) -> dict[str, object]:
    """Return a reference: `id:7` is an id, `name:TEXT` a literal name, anything else a name."""
    if match := _ID.fullmatch(word):
        if entity_type is not None:
            raise click.UsageError(f"{word} is an id; a type goes with a name")
        return {"id": match[1]}
    reference: dict[str, object] = {"name": word.removeprefix("name:")}
    if entity_type is not None:
        reference["entityType"] = entity_type
    return reference


def name_word(word: str) -> str:
    """Return the name of an entity to create: `name:TEXT` is a literal name, and `id:7` can't be one without it."""
    if _ID.fullmatch(word):
        raise click.UsageError(f"{word} stands for an id; to create an entity of that name, say name:{word}")
    return word.removeprefix("name:")


def reference_words(words: tuple[str, ...], entity_type: str | None) -> list[dict[str, object]]:
    """Return references; the type goes with those that are names."""
    return [reference_word(word, None if _ID.fullmatch(word) else entity_type) for word in words]


def property_words(words: tuple[str, ...]) -> dict[str, object] | None:
    """Return properties: `KEY=TEXT` is text, `KEY:=JSON` is JSON; None where no words are given."""
    properties: dict[str, object] = {}
    for word in words:
        key, equals, value = word.partition("=")
        is_json = key.endswith(":")
        key = key.removesuffix(":")
        if not equals or not key:
            raise click.BadParameter(f"'{word}' must be KEY=TEXT or KEY:=JSON", param_hint="'-p'")
        if key in properties:
            raise click.BadParameter(f"the property '{key}' is given twice", param_hint="'-p'")
        properties[key] = _json_value(word, value) if is_json else value
    return properties or None


def _json_value(word: str, value: str) -> object:
    try:
        return jsontext.decode(value)
    except MmemError as error:
        hint = f"{error.message} (KEY=TEXT is for text)"
        raise click.BadParameter(f"'{word}': {hint}", param_hint="'-p'") from None


def observation_words(
    plain: tuple[str, ...],
    typed: tuple[tuple[str, str], ...],
    source: str | None,
    timestamp: str | None,
    properties: dict[str, object] | None = None,
) -> list[object] | None:
    """Return observations: plain texts and typed ones, all with the same source, timestamp and properties."""
    common = {
        key: value
        for key, value in (("source", source), ("timestamp", timestamp), ("properties", properties))
        if value is not None
    }
    if common and not plain and not typed:
        raise click.UsageError("a source, a timestamp or a property of observations needs a TEXT to go with")
    texts: list[object] = [{"text": text, **common} for text in plain]
    texts += [{"observationType": kind, "text": text, **common} for kind, text in typed]
    return texts or None


def _source_options(function: F) -> F:
    function = click.option("--timestamp", metavar="TIME", help="When it was so: ISO 8601; now by default.")(function)
    return click.option("--source", metavar="SOURCE", help="Where the observations come from.")(function)


def observation_options(function: F) -> F:
    """Add `-o`, `-O`, `--source` and `--timestamp` to a command that stores observations."""
    function = _source_options(function)
    function = typed_observations_option(function)
    return click.option(
        "-o",
        "--observation",
        "observations",
        metavar="TEXT",
        multiple=True,
        help="A plain observation; repeatable.",
    )(function)


def source_options(function: F) -> F:
    """Add `--source` and `--timestamp`."""
    return _source_options(function)


def typed_observations_option(function: F) -> F:
    """Add `-O TYPE TEXT`."""
    return click.option(
        "-O",
        "--typed-observation",
        "typed_observations",
        metavar="TYPE TEXT",
        nargs=2,
        multiple=True,
        help="An observation with a type; repeatable.",
    )(function)


def properties_option(whose: str) -> Callable[[F], F]:
    """Add `-p KEY=TEXT` and `-p KEY:=JSON`."""
    return click.option(
        "-p",
        "--property",
        "properties",
        metavar="KEY=TEXT|KEY:=JSON",
        multiple=True,
        help=f"A property {whose}, as text or as JSON; repeatable.",
    )


def override_option(text: str) -> Callable[[F], F]:
    """Add `--override`."""
    return click.option("--override", is_flag=True, help=text)
