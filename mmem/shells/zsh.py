"""The script for zsh: what `_arguments` needs to know of each command."""

from collections.abc import Iterable
from pathlib import Path

from mmem.registry import COMMANDS
from mmem.shells.grammar import Argument, Command, Grammar, Option, Value
from mmem.shells.names import DYNAMIC

_ACTIONS = {"file": "_files", "folder": "_files -/", "json": "_mmem_json"}


def script(grammar: Grammar) -> str:
    """Return the text of `_mmem`."""
    parts = {
        "@TOOLS@": _described(grammar, tools=True),
        "@COMMANDS@": _described(grammar, tools=False),
        "@SHARED@": "\n".join(f"        {_option(option)}" for option in grammar.shared),
        "@ROOT@": "\n".join(f"        {_option(option)} \\" for option in grammar.root),
        "@CASES@": "\n".join(_case(command) for command in grammar.commands),
    }
    text = Path(__file__).with_name("template.zsh").read_text(encoding="utf-8")
    for mark, part in parts.items():
        text = text.replace(mark, part)
    return text


def _described(grammar: Grammar, *, tools: bool) -> str:
    chosen = (command for command in grammar.commands if COMMANDS[command.name].tool is tools)
    return "\n".join(f"        {_quoted(f'{command.name}:{command.help}')}" for command in chosen)


def _case(command: Command) -> str:
    specs = [*map(_option, command.options), *map(_argument, command.arguments)]
    lines = "".join(f" \\\n                {spec}" for spec in specs)
    return f"        {command.name})\n            _arguments -s -S $shared{lines} && ret=0\n            ;;"


def _option(option: Option) -> str:
    """Return an option's spec; `+` and `=` let a value stand in the same word as well as in the next."""
    before = "" if len(option.names) == 1 else f"({' '.join(option.names)})"
    before = "*" if option.repeatable else before
    names = [name + _joint(name, option) for name in option.names]
    called = names[0] if len(names) == 1 else f"{{{','.join(names)}}}"
    about = _quoted(f"[{_escaped(option.help, '[]:')}]{''.join(map(_value, option.values))}")
    return f"{_quoted(before) if before else ''}{called}{about}"


def _joint(name: str, option: Option) -> str:
    if not option.values:
        return ""
    return "=" if name.startswith("--") else "+"


def _argument(argument: Argument) -> str:
    return _quoted(("*" if argument.many else "") + _value(argument.value))


def _value(value: Value) -> str:
    return f":{_escaped(value.label, ':')}:{_escaped(_action(value), ':')}"


def _action(value: Value) -> str:
    if value.kind in DYNAMIC:
        return f" _mmem_names {value.kind}"  # the space: as it is written, without further arguments
    if value.kind == "free":
        return f" _mmem_text {_quoted(value.label)}"
    if value.kind == "graph":
        return f" _mmem_graph {' '.join(value.words)}"
    return f"({' '.join(value.words)})" if value.kind == "choice" else _ACTIONS[value.kind]


def _escaped(text: str, special: Iterable[str]) -> str:
    return "".join(f"\\{c}" if c in special else c for c in text)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
