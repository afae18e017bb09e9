"""The command line: the root group, and the one place where errors become words and exit statuses."""

import os
import sys
from collections.abc import Sequence
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


class Root(LazyGroup):
    """The `mmem` command itself."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **settings: Any) -> Any:
        """Run and exit with one of `ExitStatus`; never with a traceback."""
        words = list(sys.argv[1:] if args is None else args)
        app = settings.pop("obj", None) or App()
        app.errors = errors_option(words, app.streams.environ.get(ERRORS_VARIABLE))
        sys.exit(int(_run(super().main, words, app, settings)))


def _run(click_main: Any, words: list[str], app: App, settings: dict[str, Any]) -> ExitStatus:
    settings.setdefault("prog_name", "mmem")
    try:
        status = click_main(words, standalone_mode=False, obj=app, **settings)
        sys.stdout.flush()
        return ExitStatus(status) if isinstance(status, int) else ExitStatus.OK
    except BaseException as error:
        return _status_of(error, app)


def _status_of(error: BaseException, app: App) -> ExitStatus:
    """Say what happened, once, and return the exit status for it."""
    if isinstance(error, MmemError):
        app.show_error(error, words=error.in_words)
        return error.exit
    if isinstance(error, click.UsageError):
        app.show_error(Usage(_usage_message(error)))
        return ExitStatus.USAGE
    if isinstance(error, click.ClickException):
        app.show_error(Usage(error.format_message()))
        return ExitStatus.USAGE
    if isinstance(error, KeyboardInterrupt) or (
        isinstance(error, click.Abort) and isinstance(error.__cause__, KeyboardInterrupt)
    ):
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
    if isinstance(error, SystemExit):
        raise error
    app.show_error(_bug(error))
    return ExitStatus.FAILED


def _bug(error: BaseException) -> Internal:
    import traceback

    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{os.path.basename(frame.filename)}:{frame.lineno}"
    return Internal(
        f"a bug in mmem {__version__} ({type(error).__name__} in {place}: {error}); please report it with the "
        "command that showed it"
    )


def _usage_message(error: click.UsageError) -> str:
    """Return click's message in our words, with a hint at what to do."""
    if isinstance(error, click.NoSuchOption):
        near = did_you_mean(nearest(error.option_name, list(error.possibilities or ()), 1))
        return f"there is no option '{error.option_name}'{near} (a text that begins with a dash goes after --)"
    message = error.format_message().rstrip(".")
    message = message[:1].lower() + message[1:]
    return message if error.ctx is None else f"{message} (see {error.ctx.command_path} --help)"


@click.group(cls=Root, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="mmem %(version)s")
@shared_options
def cli() -> None:
    """Give your assistants and scripts a memory: a knowledge graph in categories, each one SQLite file.

    Every tool takes a request in words or with --json; options stand before or after the command.
    """
