"""The options that stand before the command as well as after it."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from mmem.app import App
from mmem.settings import FORMATS

F = TypeVar("F", bound=Callable[..., Any])


def _keep(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """Return a callback that keeps an option on the run's `App`; the one nearest to the end wins."""

    def callback(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        app = context.ensure_object(App)
        if value is None or (value is False and name == "quiet"):
            return
        if name == "color":
            app.streams.color = value
        else:
            setattr(app, name, value)

    return callback


_OPTIONS: tuple[tuple[tuple[str, ...], str, dict[str, Any]], ...] = (
    (
        ("--base-dir",),
        "base_dir",
        {"metavar": "DIR", "help": "Where the categories lie.  [env: MEMORY_BASE_DIR; default: .aim]"},
    ),
    (
        ("-c", "--category"),
        "category",
        {"metavar": "NAME", "help": "The category to use.  [env: DEFAULT_CATEGORY; default: default]"},
    ),
    (
        ("-f", "--format"),
        "format",
        {
            "type": click.Choice(FORMATS),
            "help": "How to print: auto is a table on a terminal, else json.  [env: SERIALIZATION_FORMAT]",
        },
    ),
    (
        ("--errors",),
        "errors",
        {
            "type": click.Choice(["text", "json"]),
            "help": "How to print errors and notices.  [env: MMEM_ERRORS]",
        },
    ),
    (
        ("--color",),
        "color",
        {"type": click.Choice(["auto", "always", "never"]), "help": "When to use colours."},
    ),
    (("-q", "--quiet"), "quiet", {"is_flag": True, "help": "Print no progress; results and notices stay."}),
)


def shared_options(function: F) -> F:
    """Add the options that every command takes."""
    for names, name, settings in reversed(_OPTIONS):
        function = click.option(
            *names, f"shared_{name}", expose_value=False, is_eager=True, callback=_keep(name), **settings
        )(function)
    return function
