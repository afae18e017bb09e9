"""What makes a click command of a tool: shared options, words or `--json`, one way to run and to show it."""

import re
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click

from mmem import jsontext
from mmem.app import App
from mmem.arguments import Request
from mmem.errors import Usage
from mmem.exits import ExitStatus
from mmem.options import shared_options
from mmem.outcomes import Outcome
from mmem.requests import parse_checked, wrap_list
from mmem.store import Store
from mmem.values import require_storable

Arguments = dict[str, Any]
RequestT = TypeVar("RequestT", bound=Request)
Words = Callable[..., Arguments]
Question = Callable[[Store, Any], str | None]


class Tool(NamedTuple):
    """A tool's request type and command function, for the registry."""

    request: type[Request]
    run: Callable[[Store, Any], Outcome[Any]]


def tool_command(
    kind: type[RequestT],
    run: Callable[[Store, RequestT], Outcome[Any]],
    *,
    question: Question | None = None,
    status: Callable[[Any], ExitStatus] = lambda result: ExitStatus.OK,
) -> Callable[[Words], click.Command]:
    """Make a click command of a function that turns words into a tool's arguments.

    `question` returns what to ask before a destructive request in words runs (None: nothing to ask), and adds
    `--yes`. `status` maps a result to the exit status.
    """

    def decorate(words: Words) -> click.Command:
        @wraps(words)
        def invoke(json_text: str | None, assume_yes: bool = False, **given: Any) -> None:
            context = click.get_current_context()
            app = context.find_object(App) or App()
            context.meta["mmem.words"] = json_text is None
            if json_text is None:
                arguments: object = {key: value for key, value in words(**given).items() if value is not None}
                require_storable(arguments)
            else:
                _require_no_words(context)
                arguments = _json_arguments(app, kind, json_text)
            request = parse_checked(kind, arguments)
            with app.store() as store:
                if question is not None and json_text is None and not assume_yes:
                    app.confirm(question(store, request))
                outcome = run(store, request)
            app.show(outcome, words=json_text is None)
            if code := status(outcome.result):
                raise click.exceptions.Exit(int(code))

        function = _json_option(invoke)
        if question is not None:
            function = _yes_option(function)
        return click.command(_command_name(kind))(shared_options(function))

    return decorate


def _command_name(kind: type[Request]) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", kind.__name__).lower()


_json_option = click.option(
    "--json",
    "json_text",
    metavar="JSON|@FILE|-",
    help="The request as JSON: its arguments, a file that holds them, or - for standard input.",
)
_yes_option = click.option("-y", "--yes", "assume_yes", is_flag=True, help="Don't ask.")

_NOT_WORDS = {"json_text", "assume_yes"}


def _require_no_words(context: click.Context) -> None:
    for parameter in context.command.params:
        name = parameter.name or ""
        if not parameter.expose_value or name in _NOT_WORDS:
            continue
        if context.get_parameter_source(name) == click.core.ParameterSource.COMMANDLINE:
            shown = parameter.opts[0] if isinstance(parameter, click.Option) else parameter.human_readable_name
            raise click.UsageError(f"a request is given in words or with --json, not both ({shown})")


def _json_arguments(app: App, kind: type[Request], given: str) -> object:
    if given == "-":
        raw: bytes | str = app.streams.read()
    elif given.startswith("@"):
        raw = _read_file(given[1:])
    else:
        raw = given
    arguments = wrap_list(kind, jsontext.decode(raw))
    own = arguments.get("category") if isinstance(arguments, dict) else None
    if app.category and own and own != app.category:
        raise Usage(f"--category is '{app.category}', but the request's own category is '{own}'; give one of them")
    return arguments


def _read_file(name: str) -> bytes:
    try:
        return Path(name).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a file's name"
        raise Usage(f"--json @{name}: {(reason or 'unreadable').lower()}") from None
