"""The command line: the root group, and the one place where errors become words and exit statuses."""

import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import takewhile
from typing import Any

import click

from mmem import __version__
from mmem.app import App, errors_option, mute_stdout
from mmem.errors import Internal, MmemError, Storage, Usage
from mmem.exits import ExitStatus
from mmem.lazy import LazyGroup
from mmem.names import did_you_mean, nearest
from mmem.options import shared_options
from mmem.settings import ERRORS_VARIABLE


class _Escaped(Exception):
    """Carries an error past click's `main`, which would end a run with 1 for a closed pipe and for Ctrl-C."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


@contextmanager
def _past_click() -> Iterator[None]:
    try:
        yield
    except (OSError, KeyboardInterrupt) as error:
        raise _Escaped(error) from error


class Root(LazyGroup):
    """The `mmem` command itself."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **settings: Any) -> Any:
        """Run and exit with one of `ExitStatus`; never with a traceback."""
        words = list(sys.argv[1:] if args is None else args)
        app = settings.pop("obj", None) or App()
        app.words = words
        variable = app.streams.environ.get(ERRORS_VARIABLE, "")
        app.errors = errors_option(words, variable)
        if variable.lower() not in {"", "text", "json"}:
            app.show_error(Usage(f"{ERRORS_VARIABLE} is '{variable}'; it can be text or json"))
            sys.exit(int(ExitStatus.USAGE))
        settings.setdefault("prog_name", "mmem")
        sys.exit(int(_run(lambda: super(Root, self).main(words, standalone_mode=False, obj=app, **settings), app)))

    def make_context(self, *args: Any, **settings: Any) -> click.Context:
        """Parse the words; `--help` prints here already."""
        with _past_click():
            context = super().make_context(*args, **settings)
            return context

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _past_click():
            return super().invoke(ctx)


def _run(click_main: Callable[[], Any], app: App) -> ExitStatus:
    try:
        status = click_main()
        if sys.stdout is not None:
            sys.stdout.flush()
        return ExitStatus(status) if isinstance(status, int) else ExitStatus.OK
    except _Escaped as escaped:
        return _status_of(escaped.error, app)
    except Exception as error:
        return _status_of(error, app)


def _status_of(error: BaseException, app: App) -> ExitStatus:
    """Say what happened, once, and return the exit status for it."""
    if isinstance(error, click.ClickException):
        error = _from_click(error, app)
    if isinstance(error, MmemError):
        app.show_error(error, words=error.in_words)
        return error.exit
    if isinstance(error, KeyboardInterrupt):
        if app.streams.notes_terminal:
            app.streams.note("")  # the terminal has shown ^C on this line
        app.streams.note("mmem: interrupted")
        return ExitStatus.INTERRUPTED
    if isinstance(error, click.Abort):
        app.streams.note("mmem: nothing was done")
        return ExitStatus.FAILED
    if isinstance(error, BrokenPipeError):
        mute_stdout()
        return ExitStatus.CLOSED_PIPE
    if isinstance(error, OSError):
        mute_stdout()
        app.show_error(Storage(f"writing the output failed: {(error.strerror or str(error)).lower()}"))
        return ExitStatus.STORAGE
    app.show_error(_bug(error))
    return ExitStatus.FAILED


def _from_click(error: click.ClickException, app: App) -> MmemError:
    """Return a usage error for one of click's; `mmem` alone is one, before which stands what to do next."""
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        if app.errors == "text":
            from mmem.welcome import welcome

            for line in welcome(app):
                app.streams.note(line)
        return Usage("name a command; mmem --help lists them")
    usage = Usage(_usage_message(error, app.words) if isinstance(error, click.UsageError) else error.format_message())
    usage.in_words = True
    return usage


def _bug(error: BaseException) -> Internal:
    import traceback

    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(frame.filename)}:{frame.lineno}"
    return Internal(
        f"a bug in mmem {__version__} ({type(error).__name__} in {place}: {error}); please report it with the "
        "command that showed it"
    )


def _usage_message(error: click.UsageError, words: Sequence[str]) -> str:
    """Return click's message in our words, with a hint at what to do."""
    if isinstance(error, click.NoSuchOption):
        hint = "a text that begins with a dash goes after --, behind all options"
        if (word := _run_together(error.option_name, words)) is not None:
            return f"there is no option '{word}' ({hint}: -- {shlex.quote(word)})"
        near = did_you_mean(nearest(error.option_name, list(error.possibilities or ()), 1))
        return f"there is no option '{error.option_name}'{near} ({hint})"
    message = error.format_message().rstrip(".") + _nearest_choice(error)
    message = message[:1].lower() + message[1:]
    return message if error.ctx is None else f"{message} (see {error.ctx.command_path} --help)"


def _nearest_choice(error: click.UsageError) -> str:
    """Return the nearest of an option's choices to the value that isn't one."""
    given = re.match(r"'(.*)' is not one of ", error.message)
    if given is None or not isinstance(error, click.BadParameter) or error.param is None:
        return ""
    choices = getattr(error.param.type, "choices", ())
    return did_you_mean(nearest(given[1], [str(one) for one in choices], 1))


def _run_together(option: str, words: Sequence[str]) -> str | None:
    """Return the word of several letters behind one dash that click took an option of one letter from."""
    if len(option) != 2 or option.startswith("--"):
        return None
    given = list(takewhile(lambda word: word != "--", words))
    return next((word for word in given if re.match(r"-[^-].", word) and option[1] in word), None)


@click.group(cls=Root, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="mmem %(version)s")
@shared_options
def cli() -> None:
    """Give your assistants and scripts a memory: a knowledge graph in categories, each one SQLite file.

    Every tool takes a request in words or with --json; options stand before or after the command.

    \b
    mmem create-entities UserService -t service -o "Manages user data"
    mmem search-nodes user data
    mmem help query
    """
