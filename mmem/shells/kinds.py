"""What the words of each option and argument stand for, so that TAB can offer it.

Choices and flags are known from the commands; here is what their types can't tell. A parameter that stands nowhere
here has no completion that anybody decided on, and a test says so.
"""

from mmem.registry import COMMANDS
from mmem.seeding.sources import fixtures

FREE = "free"  # nobody can know what is meant: a text, a time, a number

_OPTIONS = {  # whatever the command
    "--around": ("entity",),
    "--base-dir": ("folder",),
    "--category": ("category",),
    "--encoding": (FREE,),
    "--from-type": ("entity-type",),
    "--json": ("json",),
    "--name": (FREE,),
    "--observation": (FREE,),
    "--observation-type": ("observation-type",),
    "--other-type": ("entity-type",),
    "--output": ("file",),
    "--pin": ("category",),
    "--property": (FREE,),
    "--relation": ("relation-type",),
    "--since": (FREE,),
    "--source": ("source",),
    "--timestamp": (FREE,),
    "--to-type": ("entity-type",),
    "--type": ("entity-type",),
    "--typed-observation": ("observation-type", FREE),
    "--until": (FREE,),
}
_ARGUMENTS = {
    "COMMAND|TOPIC": ("page",),
    "FILE": ("file",),
    "FILE|FOLDER": ("file",),
    "FILE|NAME|-": ("graph",),
    "FILE|-": ("file",),
    "FROM": ("entity",),
    "NAME": ("entity",),
    "NEW": (FREE,),
    "OTHER": ("entity",),
    "PATH": ("file",),
    "RELATION": ("relation-type",),
    "TEXT": (FREE,),
    "TO": ("entity",),
    "TYPE": ("entity-type",),
    "WORD": (FREE,),
}
_EXCEPTIONS = {  # where a command means something else by the same word
    ("create-entities", "NAME"): (FREE,),  # new ones
    ("delete-category", "NAME"): ("category",),
    ("delete-observations", "--id"): ("observation-id",),
    ("delete-relations", "--id"): ("relation-id",),
    ("move", "--to"): ("category",),
}


def kinds_of(command: str, parameter: str) -> tuple[str, ...]:
    """Return the kind of each word of an option (by its long name) or an argument (by its metavar).

    Raises `LookupError` where it isn't decided.
    """
    parameter = parameter.strip("[]").removesuffix("...").strip("[]")
    table = _OPTIONS if parameter.startswith("-") else _ARGUMENTS
    found = _EXCEPTIONS.get((command, parameter)) or table.get(parameter)
    if found is None:
        raise LookupError(f"what TAB offers for {parameter} of {command} isn't decided: see {__name__}")
    return found


def words_of(kind: str) -> tuple[str, ...]:
    """Return the words of a kind that are known beforehand: graphs that ship with mmem, what the manual explains."""
    if kind == "graph":
        return tuple(fixtures())
    return tuple(COMMANDS) if kind == "page" else ()
