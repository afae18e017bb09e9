"""What makes a click command of a tool: shared options, words or `--json`, one way to run and to show it.

Only click is imported here; what requests need is imported when one is run, so that `--help` stays quick.
"""

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from mmem.app import App
from mmem.errors import MmemError, Usage
from mmem.exits import ExitStatus
from mmem.options import add_last, shared_options
from mmem.registry import Tool, carry_out

if TYPE_CHECKING:
    from mmem.arguments import Request
    from mmem.outcomes import Outcome
    from mmem.store import Store

Arguments = dict[str, Any]
Words = Callable[..., Arguments]
Question = Callable[["Store", Any], str | None]


def tool_command(
    name: str,
    load: Callable[[], Tool],
    *,
    question: Question | None = None,
    status: Callable[[Any, Any], ExitStatus] = lambda request, result: ExitStatus.OK,
    direct: "Callable[[App], Outcome[Any]] | None" = None,
) -> Callable[[Words], click.Command]:
    """Make a click command of a function that turns words into a tool's arguments.

    `load` returns the tool. `question` returns what to ask before a destructive request in words runs (None:
    nothing to ask), and adds `--yes`. `status` maps a request and its result to the exit status. `direct` runs
    the words without making a request of them.
    """

    def decorate(words: Words) -> click.Command:
        @wraps(words)
        def invoke(json_text: str | None, assume_yes: bool = False, **given: Any) -> None:
            context = click.get_current_context()
            app = context.find_object(App) or App()
            app.verbose = bool(given.get("verbose"))
            app.separates_names = bool(given.pop("print0", False))
            in_words = json_text is None
            try:
                if direct is not None and in_words:
                    app.show(direct(app))
                    return
                found = load()
                request = _request(context, app, found, json_text, lambda: words(**given))
                with app.store() as store:
                    if question is not None and in_words and not assume_yes:
                        app.confirm(lambda: question(store, request))
                    outcome = carry_out(store, found, request)
            except MmemError as error:
                error.in_words = in_words
                raise
            app.show(outcome, words=in_words)
            if code := status(request, outcome.result):
                raise click.exceptions.Exit(int(code))

        options = [_json_option] if question is None else [_yes_option, _json_option]
        return click.command(name)(shared_options(add_last(invoke, options)))

    return decorate


_json_option = click.option(
    "--json",
    "json_text",
    metavar="JSON|@FILE|-",
    help="The request as JSON: its arguments, a file that holds them, or - for standard input.",
)
_yes_option = click.option("-y", "--yes", "assume_yes", is_flag=True, help="Don't ask.")

_NOT_WORDS = {"json_text", "assume_yes", "exit_status", "verbose", "print0"}
_print0_option = click.option(
    "-0", "--print0", is_flag=True, help="Print names alone, raw and each ended by a NUL, for xargs -0."
)


def print0_option(words: Words) -> Words:
    """Add `-0`, which prints the names of a result in the way that other programs split safely."""
    return _print0_option(words)


def names_options(words: Words) -> Words:
    """Add `--names`, which a function takes as `names`, and `-0`, which turns it on."""
    option = click.option("--names", is_flag=True, help="Print names alone.")

    @wraps(words)
    def with_names(**given: Any) -> Arguments:
        app = click.get_current_context().find_object(App)
        if app is not None and app.separates_names:
            given["names"] = True
        return words(**given)

    return option(_print0_option(with_names))


def _request(
    context: click.Context, app: App, tool: Tool, json_text: str | None, words: Callable[[], Arguments]
) -> "Request":
    """Return the request that the words or the JSON text make."""
    from mmem.requests import parse, parse_checked

    if json_text is None:
        arguments = {key: value for key, value in words().items() if value is not None}
        app.require_same_category(arguments.get("category"))
        return parse(tool.request, arguments)
    _require_no_words(context)
    return parse_checked(tool.request, _json_arguments(app, tool, json_text))


def _require_no_words(context: click.Context) -> None:
    for parameter in context.command.params:
        name = parameter.name or ""
        if not parameter.expose_value or name in _NOT_WORDS:
            continue
        if context.get_parameter_source(name) == click.core.ParameterSource.COMMANDLINE:
            shown = parameter.opts[0] if isinstance(parameter, click.Option) else parameter.make_metavar(context)
            raise click.UsageError(f"a request is given in words or with --json, not both ({shown})")


def _json_arguments(app: App, tool: Tool, given: str) -> object:
    from mmem import jsontext
    from mmem.requests import wrap_list

    if given == "-":
        raw: bytes | str = app.streams.read()
    elif given.startswith("@"):
        raw = _read_file(given[1:])
    else:
        raw = given
    arguments = wrap_list(tool.request, jsontext.decode(raw))
    app.require_same_category(arguments.get("category") if isinstance(arguments, dict) else None)
    return arguments


def _read_file(name: str) -> bytes:
    try:
        with open(name, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not a file's name"
        raise Usage(f"--json @{name}: {(reason or 'unreadable').lower()}") from None
