"""The script for fish: a `complete` for each command, option and argument."""

from pathlib import Path

from mmem.shells.grammar import Argument, Command, Grammar, Option, Value
from mmem.shells.names import DYNAMIC

_ACTIONS = {  # what completes a kind, after the options that say so
    "file": "-r -F",
    "folder": "-x -a '(__fish_complete_directories)'",
    "json": "-x -a '(__mmem_json)'",
    "free": "-x",
}


def script(grammar: Grammar) -> str:
    """Return the text of `mmem.fish`."""
    own = [(command, option) for command in grammar.commands for option in command.options]
    parts = {
        "@TAKES@": _takes(grammar),
        "@COMMANDS@": "\n".join(map(_command, reversed(grammar.commands))),  # fish shows the last one first
        "@SHARED@": "\n".join(
            [*(_option(option, "") for option in grammar.shared), *(_option(option, "''") for option in grammar.root)]
        ),
        "@OPTIONS@": "\n".join(_option(option, command.name) for command, option in own),
        "@ARGUMENTS@": "\n".join(
            _argument(command, place, argument)
            for command in grammar.commands
            for place, argument in enumerate(command.arguments)
            if argument.value.kind != "free"
        ),
    }
    text = Path(__file__).with_name("template.fish").read_text(encoding="utf-8")
    for mark, part in parts.items():
        text = text.replace(mark, part)
    return text


def _takes(grammar: Grammar) -> str:
    """Return a case for each option that takes words; a command's own come before those that stand anywhere."""
    owners = [*((command.name, command.options) for command in grammar.commands), ("*", grammar.shared)]
    return "\n".join(
        f"        case {' '.join(_quoted(f'{owner}:{name}') for name in option.names)}\n"
        f"            echo {len(option.values)}"
        for owner, options in owners
        for option in options
        if option.values
    )


def _command(command: Command) -> str:
    return f"complete -c mmem -n \"__mmem_at '' 0\" -k -a {command.name} -d {_quoted(command.help)}"


def _option(option: Option, command: str) -> str:
    condition = f' -n "__mmem_in {command}"' if command else ""
    names = "".join([*(f" -s {name}" for name in option.short), *(f" -l {name}" for name in option.long)])
    action = f" {_action(option.values[0])}" if option.values else ""
    return f"complete -c mmem{condition}{names}{action} -d {_quoted(option.help)}"


def _argument(command: Command, place: int, argument: Argument) -> str:
    where = f"__mmem_{'after' if argument.many else 'at'} {command.name} {place}"
    action = _action(argument.value).removeprefix("-r ").replace("-x -a", "-a")
    return f'complete -c mmem -n "{where}" {action}'


def _action(value: Value) -> str:
    if value.kind in DYNAMIC:
        return f"-x -k -a '(__mmem_names {value.kind})'"
    if value.kind == "graph":
        return f"-r -F -a {_quoted(' '.join(value.words))}"
    return f"-x -a {_quoted(' '.join(value.words))}" if value.kind == "choice" else _ACTIONS[value.kind]


def _quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"
