"""The script for bash: tables of options and arguments in shell code that reads the line itself."""

from collections.abc import Iterable
from pathlib import Path

from mmem.shells.grammar import Command, Grammar, Option, Value

_INDENT = " " * 8


def script(grammar: Grammar) -> str:
    """Return the text of `mmem.bash`."""
    parts = {
        "@TAKES@": _takes(grammar),
        "@ARGUMENTS@": _arguments(grammar.commands),
        "@OPTIONS@": _options(grammar),
        "@COMMANDS@": " ".join(command.name for command in grammar.commands),
    }
    text = Path(__file__).with_name("template.bash").read_text(encoding="utf-8")
    for mark, part in parts.items():
        text = text.replace(mark, part)
    return text


def _takes(grammar: Grammar) -> str:
    """Return a case for each option that takes words; a command's own come before those that stand anywhere."""
    owners = [*((command.name, command.options) for command in grammar.commands), ("*", grammar.shared)]
    return "\n".join(
        _case([f"{owner}:{name}" for name in option.names], option.values)
        for owner, options in owners
        for option in options
        if option.values
    )


def _arguments(commands: Iterable[Command]) -> str:
    return "\n".join(
        _case([f"{command.name}:{'*' if argument.many else place}"], [argument.value])
        for command in commands
        for place, argument in enumerate(command.arguments)
    )


def _options(grammar: Grammar) -> str:
    """Return a case for each command, long names first since they explain themselves."""
    cases = [("''", (*grammar.shared, *grammar.root))]
    cases += [(command.name, (*command.options, *grammar.shared)) for command in grammar.commands]
    return "\n".join(f'{_INDENT}{name}) options="{" ".join(_names(options))}" ;;' for name, options in cases)


def _names(options: Iterable[Option]) -> list[str]:
    return sorted((name for option in options for name in option.names), key=lambda name: not name.startswith("--"))


def _case(patterns: list[str], values: Iterable[Value]) -> str:
    kinds = "".join(f"{_kind(value)} " for value in values)
    return f"{_INDENT}{' | '.join(patterns)}) kinds='{kinds}' ;;"


def _kind(value: Value) -> str:
    return f"{value.kind}:{','.join(value.words)}" if value.words else value.kind
