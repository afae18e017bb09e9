"""Write the completion scripts into `completions/`: `python -m mmem.shells.generate`, after a command has changed."""

import sys
from importlib import resources
from pathlib import Path

from mmem.shells import bash, fish, zsh
from mmem.shells.grammar import grammar
from mmem.shells.places import FILES


def scripts() -> dict[str, str]:
    """Return the text of each shell's script."""
    known = grammar()
    return {"bash": bash.script(known), "zsh": zsh.script(known), "fish": fish.script(known)}


def main() -> None:
    """Write the scripts, and print the files' names."""
    folder = Path(str(resources.files("mmem.completions")))
    for shell, text in scripts().items():
        (folder / FILES[shell]).write_text(text, encoding="utf-8")
        sys.stdout.write(f"{folder / FILES[shell]}\n")


if __name__ == "__main__":
    main()
