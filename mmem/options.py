"""The options that stand before the command as well as after it."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from mmem.app import App
from mmem.settings import FORMATS

F = TypeVar("F", bound=Callable[..., Any])


def _keep(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """Return a callback that keeps an option on the run's `App`; the one nearest to the end wins."""

    def callback(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        app = context.ensure_object(App)
        if value is None or value is False:
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
    (
        ("--no-pager",),
        "no_pager",
        {"is_flag": True, "help": "Don't show long output in a pager.  [env: MMEM_PAGER, PAGER]"},
    ),
    (("-q", "--quiet"), "quiet", {"is_flag": True, "help": "Print no progress; results and notices stay."}),
)
SHARED = frozenset(f"shared_{name}" for _, name, _ in _OPTIONS)  # what click calls them


def add_last(function: F, options: Sequence[Callable[[F], F]]) -> F:
    """Add options in such a way that the help shows them, in their order, after those added before."""
    before: list[click.Parameter] = getattr(function, "__click_params__", [])
    function.__click_params__ = []  # type: ignore[attr-defined]  # click keeps a command's parameters here
    for option in reversed(options):
        option(function)
    function.__click_params__ += before  # type: ignore[attr-defined]  # click turns the order round
    return function


def shared_options(function: F) -> F:
    """Add the options that every command takes."""
    return add_last(function, [_shared(*option) for option in _OPTIONS])


def _shared(names: tuple[str, ...], name: str, settings: dict[str, Any]) -> Callable[[F], F]:
    callback = _keep(name)
    return click.option(*names, f"shared_{name}", expose_value=False, is_eager=True, callback=callback, **settings)
