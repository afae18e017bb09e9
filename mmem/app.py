"""What one run of the command line knows: its options, its streams, its store."""

import re
import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from mmem.errors import MmemError, Usage
from mmem.settings import base_directory, default_category, output_format
from mmem.streams import Streams
from mmem.visible import visible

if TYPE_CHECKING:
    from mmem.outcomes import Notice, Outcome
    from mmem.store import Store

_STEP = r'\.\w+|\[\d+\]|\["(?:[^"\\]|\\.)*"\]'
_HINTS = {  # what messages call arguments and tools, and what these are called on the command line
    "add_observations": "mmem add-observations",
    "override": "--override",
    "observations": "--observations",
    "limit": "--limit",
    "offset": "--offset",
    "type": "--type",
    "maxLength": "--max",
    "directed": "--directed",
    "dropRelations": "--drop-relations",
    "merge": "mmem merge",
    "move": "mmem move",
}
_HINT = re.compile(r"`(?P<word>" + "|".join(_HINTS) + r")(?P<rest> \w+)?`")
_PATH = re.compile(rf"\$(?:(?:{_STEP})*(?P<last>{_STEP}))?: ")


class App:
    """The options that every command takes, and what follows from them."""

    def __init__(self, streams: Streams | None = None) -> None:
        """Begin with no option given."""
        self.streams = streams or Streams()
        self.words: list[str] = []  # the command line as it was given
        self.base_dir: str | None = None
        self.category: str | None = None
        self.format: str | None = None
        self.errors = "text"
        self.quiet = False
        self.verbose = False
        self.separates_names = False  # print names alone, each ended by a NUL
        self.no_pager = False

    def base_directory(self) -> str:
        """Return the absolute path of the base directory."""
        return base_directory(self.base_dir, self.streams.environ)

    def default_category(self) -> str:
        """Return the category of requests that name none. Raises `InvalidArguments` for a bad name."""
        return default_category(self.category, self.streams.environ)

    def store(self, *, synchronous: str = "NORMAL", dry_run: bool = False, temp_store: str = "MEMORY") -> "Store":
        """Return the store that the options and variables name, with the default category of this run."""
        from mmem.store import Store

        return Store(
            self.base_directory(),
            self.default_category(),
            synchronous=synchronous,
            dry_run=dry_run,
            temp_store=temp_store,
        )

    def output_format(self) -> str:
        """Return the format to print in."""
        return output_format(self.format, self.streams.shows_terminal, self.streams.environ)

    def show(self, outcome: "Outcome[Any]", *, words: bool = True, file: str | None = None) -> None:
        """Print a result on stdout and its notices on stderr, a line each.

        A file that a sentence speaks of is a link where the terminal follows such.
        """
        try:
            self.write(self._formatted(outcome, file))
        finally:
            self.show_notices(outcome.notices, words=words)

    def write(self, output: bytes) -> None:
        """Write output to stdout; on a terminal that it doesn't fit, through the pager."""
        if self.streams.shows_terminal and not self.no_pager:
            from mmem.pager import page

            if page(output, self.streams):
                return
        self.streams.write(output)

    def _formatted(self, outcome: "Outcome[Any]", file: str | None) -> bytes:
        if self.separates_names:
            return self._separated(outcome.result)
        name = self.output_format()
        if name == "table":
            from mmem.render import render

            if outcome.matches is not None:
                outcome.matches.shows_scores = self.verbose
            text = render(outcome.result, self.streams, outcome.matches)
            return (self._linked(text, file) if file else text).encode()
        from mmem.formats import formatted

        return formatted(outcome.result, name, on_terminal=self.streams.shows_terminal)

    def _linked(self, text: str, file: str) -> str:
        from mmem.links import follows_links, linked

        streams = self.streams
        wanted = streams.shows_terminal and streams.colored(True) and follows_links(streams.environ)
        return linked(text, file) if wanted else text

    def _separated(self, result: object) -> bytes:
        from mmem.formats import separated

        if self.format not in {None, "auto"}:
            raise Usage(f"-0 prints names alone and -f {self.format} whole results; give one of them")
        names = separated(result)
        return visible(names.decode()).encode() if self.streams.shows_terminal else names

    def show_notices(self, notices: "Iterable[Notice]", *, words: bool = True) -> None:
        """Print notices on stderr, a line each."""
        for notice in notices:
            if self.errors == "json":
                self.streams.note(_json(notice.to_dict()))
            else:
                message = spoken(notice.message) if words else notice.message
                self.streams.note(f"mmem: {notice.code}: {message}")

    def show_error(self, error: MmemError, *, words: bool = True) -> None:
        """Print an error on stderr: one line, or one JSON object with `--errors json`."""
        if self.errors == "json":
            self.streams.note(_json(error.to_dict()))
        else:
            self.streams.note(f"mmem: {spoken(error.message) if words else error.message}")

    def confirm(self, question: Callable[[], str | None], *, effect: str = "this deletes for good") -> None:
        """Ask before something is destroyed, unless the question turns out to be None: nothing to ask.

        Raises `Usage`, with the effect in words, where nobody can be asked, and `Abort` on a no.
        """
        import click

        if not self.streams.can_prompt:
            raise Usage(f"{effect}, and there is no terminal to ask on: say --yes if you mean it")
        asked = question()
        if asked is not None and not self._yes(asked):
            raise click.Abort

    def _yes(self, question: str) -> bool:
        while True:
            sys.stderr.write(f"{visible(question)} [y/N] ")
            sys.stderr.flush()
            answer = sys.stdin.readline()
            if not answer.endswith("\n"):
                sys.stderr.write("\n")
            word = answer.strip().lower()
            if word in {"y", "yes", "n", "no", ""}:
                return word in {"y", "yes"}
            self.streams.note("mmem: answer y or n")

    def require_same_category(self, own: object) -> None:
        """Raise `Usage` where a request's own category isn't the one of `--category`."""
        if self.category and own and own != self.category:
            raise Usage(f"--category is '{self.category}', but the request's own category is '{own}'; give one of them")


def spoken(message: str) -> str:
    """Return a message without the paths of a JSON request, which a person who typed words didn't write."""

    def last(match: re.Match[str]) -> str:
        step = match["last"] or ""
        if step == ".entity":  # it is NAME, the one thing that was said
            return ""
        if step.startswith("."):
            return f"{step[1:]}: "
        return f"{step[1:-1]}: " if step.startswith('["') else ""

    return _HINT.sub(lambda match: _HINTS[match["word"]] + (match["rest"] or ""), _PATH.sub(last, message))


def errors_option(arguments: list[str], variable: str | None) -> str:
    """Return `json` or `text` from the raw words, so that errors in the words themselves come out right."""
    chosen = "json" if (variable or "").lower() == "json" else "text"
    for index, word in enumerate(arguments):
        if word == "--":
            break
        value = None
        if word == "--errors" and index + 1 < len(arguments):
            value = arguments[index + 1]
        elif word.startswith("--errors="):
            value = word.removeprefix("--errors=")
        if value in {"json", "text"}:
            chosen = value
    return chosen


def _json(value: dict[str, object]) -> str:
    from mmem import jsontext

    return jsontext.encode(value)


def mute_stdout() -> None:
    """Let nothing more be written to a stdout that is closed or full, not even at exit."""
    import os

    if sys.stdout is None:
        return
    try:
        descriptor = os.open(os.devnull, os.O_WRONLY)
        os.dup2(descriptor, sys.stdout.fileno())
        os.close(descriptor)
    except (OSError, ValueError):
        pass
