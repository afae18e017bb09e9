"""What the environment and the exit statuses mean: declared once, for every page and for the README."""

from collections.abc import Iterable
from typing import NamedTuple

from mmem.exits import ExitStatus
from mmem.manual.page import Items
from mmem.settings import BASE_DIR_VARIABLE, CATEGORY_VARIABLE, ERRORS_VARIABLE, FORMAT_VARIABLE


class Variable(NamedTuple):
    """A setting, or several that belong together: the option that goes before it, its meaning and its default."""

    names: tuple[str, ...]
    options: tuple[str, ...]
    meaning: str
    default: str = ""


VARIABLES = (
    Variable(
        (BASE_DIR_VARIABLE,),
        ("--base-dir",),
        "where the categories lie; `~` is expanded",
        "`.aim` in the current folder",
    ),
    Variable((CATEGORY_VARIABLE,), ("-c", "--category"), "the category of requests that name none", "`default`"),
    Variable((FORMAT_VARIABLE,), ("-f", "--format"), "how to print when not on a terminal", "`json`"),
    Variable((ERRORS_VARIABLE,), ("--errors",), "how to print errors and notices, `text` or `json`", "`text`"),
    Variable(("MMEM_SEMANTIC",), (), "`off` does without the extra `semantic`"),
    Variable(
        ("NO_COLOR", "FORCE_COLOR"),
        ("--color",),
        "no colours, or colours everywhere; the option takes `auto`, `always` and `never`",
        "`auto`",
    ),
    Variable(
        ("MMEM_PAGER", "PAGER"),
        ("--no-pager",),
        "what shows long output on a terminal; empty or `cat`: nothing",
        "`less -FRX`",
    ),
    Variable(
        ("FORCE_HYPERLINK", "TERM_PROGRAM", "VTE_VERSION"),
        (),
        "`1` or `0`: links to files, whatever the terminal; what terminals say of themselves otherwise",
    ),
    Variable(("PATH",), (), "where `less`, `man` and other programs are found"),
    Variable(("VISUAL", "EDITOR"), (), "the editor of `mmem edit`", "`vi`"),
    Variable(("TERM", "COLUMNS"), (), "`dumb` has no colours; how wide the terminal is", "what the terminal says"),
    Variable(
        ("HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "XDG_CONFIG_HOME", "CLAUDE_CONFIG_DIR"),
        (),
        "where `mmem config` finds the files of hosts",
    ),
    Variable(
        ("XDG_DATA_HOME", "BASH_COMPLETION_USER_DIR"),
        (),
        "where `mmem completions --install` puts its files",
    ),
    Variable(("MEMORY_FILE_PATH",), (), "the reference server's file, which `mmem serve` offers to import"),
)

STATUSES = {
    (ExitStatus.OK,): "done; an empty result is a success",
    (
        ExitStatus.FAILED,
    ): "a request of a batch failed, `mmem doctor` found a problem, you said no at a prompt, or mmem has a bug",
    (ExitStatus.USAGE,): "the words or the request are wrong",
    (ExitStatus.NOT_FOUND,): "a named entity or category isn't there (`open-nodes`: none of them); not so for "
    "deletions and for reading a category, where a notice says it",
    (ExitStatus.RETRY,): "a lost race, or a file that another process kept locked for 30 s: try again",
    (ExitStatus.STORAGE,): "the file can't be used: not a database, made by a newer program, unreadable, disk full",
    (ExitStatus.INTERRUPTED, ExitStatus.CLOSED_PIPE, ExitStatus.TERMINATED): "Ctrl-C; the reader of a pipe went "
    "away; a batch was told to end (SIGTERM; a server ends with 0)",
}


def variables(*, with_options: bool = False) -> Items:
    """Return the environment as terms and their meanings: all of it, or the variables that options go before."""
    chosen = (one for one in VARIABLES if one.options or not with_options)
    return Items(tuple((", ".join(f"`{name}`" for name in one.names), _meaning(one)) for one in chosen))


def statuses() -> Items:
    """Return the exit statuses as terms and their meanings."""
    return Items(tuple((f"`{_numbers(numbers)}`", _sentence(meaning)) for numbers, meaning in STATUSES.items()))


def settings_table() -> str:
    """Return the README's table of settings."""
    rows = (
        f"| {', '.join(f'`{name}`' for name in one.names)} | {', '.join(f'`{name}`' for name in one.options)} "
        f"| {one.meaning} | {one.default} |"
        for one in VARIABLES
    )
    return _table("| variable | option | meaning | default |", rows)


def statuses_table() -> str:
    """Return the README's table of exit statuses."""
    rows = (f"| {_numbers(numbers)} | {meaning} |" for numbers, meaning in STATUSES.items())
    return _table("| exit status | when |", rows)


def commands_table() -> str:
    """Return the README's table of commands."""
    from mmem.registry import COMMANDS

    rows = (f"| `{name}` | {entry.help.rstrip('.')} |" for name, entry in COMMANDS.items())
    return _table("| command | what it does |", rows)


def _table(head: str, rows: Iterable[str]) -> str:
    lines = (" ".join(line.split()) for line in rows)
    return "".join(f"{line}\n" for line in (head, "|---" * (head.count("|") - 1) + "|", *lines))


def _numbers(numbers: tuple[ExitStatus, ...]) -> str:
    return ", ".join(str(int(number)) for number in numbers)


def _meaning(variable: Variable) -> str:
    parts = [_sentence(variable.meaning)]
    if variable.options:
        parts.append(f"{' or '.join(f'`{name}`' for name in variable.options)} goes before it.")
    if variable.default:
        parts.append(f"Default: {variable.default}.")
    return " ".join(parts)


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."
