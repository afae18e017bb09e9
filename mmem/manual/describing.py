"""Pages made of click's commands: what `--help` shows, exit statuses and the environment."""

import re
from collections.abc import Iterator
from inspect import cleandoc

import click

from mmem.cli import cli
from mmem.manual.declared import statuses, variables
from mmem.manual.page import Block, Code, Items, Page, Section, Text
from mmem.manual.topics import TOPICS, Asked, topic_page
from mmem.options import SHARED
from mmem.registry import COMMANDS

_FLAG = re.compile(r"(?<![\w-])--?[a-z][\w-]*")
_FILES = Items(
    (
        ("BASE/CATEGORY`.db`", "A category: one SQLite file, readable by you alone. BASE is the base directory."),
        ("BASE/CATEGORY`.db-wal`, BASE/CATEGORY`.db-shm`", "What belongs to it while a program has it open."),
        ("BASE/`replaced/`", "What `mmem restore` put others in the place of."),
    )
)
_TOPICS_OF = {  # which topics stand under SEE ALSO; every page names the environment
    "batch": ("batch",),
    "serve": ("query",),
    "search-nodes": ("query", "formats"),
    "read-graph": ("formats",),
    "open-nodes": ("formats",),
    "import": ("formats",),
    "export": ("formats",),
    "seed": ("formats",),
}


def page(asked: Asked) -> Page:
    """Return the page that was asked for."""
    if asked.number == 7:
        return topic_page(asked.name)
    return _root_page() if asked.name == "mmem" else _command_page(asked.name)


def pages() -> Iterator[Page]:
    """Yield every page of the manual: mmem's own, each command's, each topic's."""
    yield _root_page()
    yield from map(_command_page, COMMANDS)
    yield from map(topic_page, TOPICS)


def context_of(name: str) -> click.Context:
    """Return the context in which a command's help is written; `mmem` is the whole program's."""
    root = click.Context(cli, info_name="mmem", **cli.context_settings)
    command = None if name == "mmem" else cli.get_command(root, name)
    return root if command is None else click.Context(command, parent=root, info_name=name)


def examples(name: str) -> list[str]:
    """Return the examples of a command's help, a command line each."""
    return [line for block in _parts(context_of(name).command)[1] for line in block]


def _root_page() -> Page:
    context = context_of("mmem")
    prose, shown = _parts(context.command)
    listed = Items(tuple((f"mmem-{name}(1)", entry.help) for name, entry in COMMANDS.items()))
    topics = Items(tuple((f"mmem-{topic}(7)", f"{about[0].upper()}{about[1:]}.") for topic, about in TOPICS.items()))
    sections = (
        Section("Synopsis", (_usage(context),)),
        Section("Description", prose),
        Section("Commands", (listed,)),
        Section("Topics", (topics,)),
        Section("Options", (_options(context, shared=False), _options(context, shared=True))),
        Section("Exit status", (statuses(),)),
        Section("Environment", (variables(),)),
        Section("Files", (_FILES,)),
        Section("Examples", tuple(map(Code, shown))),
        Section("See also", (Text(", ".join(f"mmem-{topic}(7)" for topic in TOPICS)),)),
    )
    return Page("mmem", 1, "a knowledge graph memory for assistants and scripts", sections)


def _command_page(name: str) -> Page:
    context = context_of(name)
    prose, shown = _parts(context.command)
    see = ["mmem(1)", "mmem-environment(7)", *(f"mmem-{topic}(7)" for topic in _TOPICS_OF.get(name, ()))]
    sections = (
        Section("Synopsis", (_usage(context),)),
        Section("Description", prose),
        Section("Options", (_options(context, shared=False),)),
        Section("Options of every command", (_options(context, shared=True),)),
        Section("Exit status", (statuses(),)),
        Section("Environment", (variables(with_options=True), Text("mmem-environment(7) has all of them."))),
        Section("Examples", tuple(map(Code, shown))),
        Section("See also", (Text(", ".join(see)),)),
    )
    return Page(f"mmem-{name}", 1, _summary(COMMANDS[name].help), sections)


def _usage(context: click.Context) -> Text:
    words = " ".join(context.command.collect_usage_pieces(context))
    return Text(f"`{context.command_path}` {words}")


def _parts(command: click.Command) -> tuple[tuple[Block, ...], tuple[tuple[str, ...], ...]]:
    """Return what a docstring says as blocks, and its examples, as many lines to each block."""
    prose: list[Block] = []
    shown: list[tuple[str, ...]] = []
    for paragraph in cleandoc(command.help or "").split("\n\n"):
        lines = paragraph.strip("\n").split("\n")
        if lines[0].strip() == "\b":
            shown.append(tuple(line.rstrip() for line in lines[1:]))
        else:
            prose.append(Text(_FLAG.sub(r"`\g<0>`", " ".join(map(str.strip, lines)))))
    return tuple(prose), tuple(shown)


def _options(context: click.Context, *, shared: bool) -> Items:
    """Return the options that every command takes, or the others, as `--help` has them."""
    items = []
    for parameter in context.command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and record[1] and (parameter.name in SHARED) is shared:
            names, text = record
            items.append((_FLAG.sub(r"`\g<0>`", names), " ".join(text.split())))
    return Items(tuple(items))


def _summary(sentence: str) -> str:
    return f"{sentence[:1].lower()}{sentence[1:]}".rstrip(".")
