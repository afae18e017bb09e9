"""What the command line takes, as the completion scripts need it: read from the click commands, word for word."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import click

from mmem.cli import cli
from mmem.registry import COMMANDS
from mmem.shells.kinds import FREE, kinds_of, words_of


@dataclass(frozen=True)
class Value:
    """One word that an option or an argument takes: its kind, the words it can be, and what to call it."""

    kind: str
    words: tuple[str, ...]
    label: str


@dataclass(frozen=True)
class Option:
    """An option; without values it is a flag."""

    names: tuple[str, ...]
    help: str
    values: tuple[Value, ...] = ()
    repeatable: bool = False

    @property
    def short(self) -> tuple[str, ...]:
        """The names of one letter, without the dash."""
        return tuple(name[1:] for name in self.names if not name.startswith("--"))

    @property
    def long(self) -> tuple[str, ...]:
        """The long names, without the dashes."""
        return tuple(name[2:] for name in self.names if name.startswith("--"))


@dataclass(frozen=True)
class Argument:
    """A word in its place, or, with `many`, all that follow."""

    value: Value
    many: bool = False


@dataclass(frozen=True)
class Command:
    """A command, with the options of its own and its arguments."""

    name: str
    help: str
    options: tuple[Option, ...]
    arguments: tuple[Argument, ...]


@dataclass(frozen=True)
class Grammar:
    """The whole command line: the options that stand anywhere, those before a command alone, and the commands."""

    shared: tuple[Option, ...]
    root: tuple[Option, ...]
    commands: tuple[Command, ...]


def grammar() -> Grammar:
    """Return the command line's grammar. Imports every command."""
    root = click.Context(cli, info_name="mmem", **cli.context_settings)
    of_root = _options(cli, root, "")
    commands = []
    for name, entry in COMMANDS.items():
        command = cli.get_command(root, name)
        assert command is not None
        context = click.Context(command, info_name=name, parent=root)
        own = tuple(option for option in _options(command, context, name) if option not in of_root)
        commands.append(Command(name, entry.help, own, tuple(_arguments(command, context, name))))
    everywhere = [option for option in of_root if "--version" not in option.names]
    return Grammar(tuple(everywhere), tuple(one for one in of_root if one not in everywhere), tuple(commands))


def _options(command: click.Command, context: click.Context, name: str) -> tuple[Option, ...]:
    found = []
    for parameter in command.get_params(context):
        if isinstance(parameter, click.Option) and not parameter.hidden:
            flag = parameter.is_flag or parameter.count
            values = () if flag else tuple(_values(parameter, context, name))
            names = (*parameter.opts, *parameter.secondary_opts)
            found.append(Option(names, _first_clause(parameter.help or ""), values, parameter.multiple))
    return tuple(found)


def _arguments(command: click.Command, context: click.Context, name: str) -> Iterator[Argument]:
    for parameter in command.get_params(context):
        if isinstance(parameter, click.Argument):
            yield Argument(next(_values(parameter, context, name)), parameter.nargs == -1)


def _values(parameter: click.Parameter, context: click.Context, command: str) -> Iterator[Value]:
    """Yield what each word of a parameter can be."""
    label = parameter.make_metavar(context) if parameter.metavar is None else parameter.metavar
    spoken = parameter.opts[-1] if isinstance(parameter, click.Option) else label
    if isinstance(parameter.type, click.Choice):
        yield Value("choice", tuple(str(choice) for choice in parameter.type.choices), spoken.strip("-[].").lower())
        return
    labels = label.split(" ") if parameter.nargs > 1 else [label]
    number = isinstance(parameter.type, click.types.IntParamType | click.types.FloatParamType)
    kinds = (FREE,) if number else kinds_of(command, spoken)
    for kind, called in zip(kinds, labels, strict=True):
        yield Value("choice" if kind == "page" else kind, words_of(kind), called.strip("[].").lower())


def _first_clause(text: str) -> str:
    """Return a help text's first sentence, short enough to stand beside an option."""
    text = text.partition("  [")[0].strip()
    return re.split(r"(?<=\w)[:;.] ", text)[0].rstrip(".")
