"""Where graphs to seed come from: files, standard input, and those that ship with mmem."""

from importlib import resources
from pathlib import Path

from mmem.errors import Usage
from mmem.names import did_you_mean, nearest


def fixtures() -> list[str]:
    """Return the names of the graphs that ship with mmem."""
    files = resources.files("mmem.fixtures").iterdir()
    return sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml"))


def source(name: str) -> tuple[bytes, str]:
    """Return the text of a graph that ships with mmem or of a file, and what to call it in messages."""
    shipped = fixtures()
    if name in shipped:
        return (resources.files("mmem.fixtures") / f"{name}.yaml").read_bytes(), f"{name}.yaml"
    try:
        return Path(name).read_bytes(), name
    except FileNotFoundError:
        listed = ", ".join(shipped)
        near = did_you_mean(nearest(name, shipped, 1))
        raise Usage(f"there is no file '{name}', and no graph of that name ships with mmem ({listed}){near}") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a file's name"
        raise Usage(f"{name}: {reason.lower()}") from None
