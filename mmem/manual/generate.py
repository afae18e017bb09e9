"""Writes the manual's pages and the README's tables anew: `python -m mmem.manual.generate`, in a checkout."""

import re
import sys
from pathlib import Path

from mmem.manual.declared import commands_table, settings_table, statuses_table
from mmem.manual.describing import pages
from mmem.manual.roff import roff


def page_files() -> dict[str, str]:
    """Return the text of every page by the name of its file."""
    return {page.file: roff(page) for page in pages()}


def with_tables(readme: str) -> str:
    """Return the README with its tables as they are declared; each is known by its first line. Raises `ValueError`."""
    for table in (commands_table(), settings_table(), statuses_table()):
        head = table.partition("\n")[0]
        old = re.search(rf"^{re.escape(head)}\n(?:\|.*\n)*", readme, re.MULTILINE)
        if old is None:
            raise ValueError(f"the README has no table {head}")
        readme = readme[: old.start()] + table + readme[old.end() :]
    return readme


def main(checkout: Path) -> None:
    """Write what differs, and take away pages of what is no more."""
    folder, readme = checkout / "man", checkout / "README.md"
    files, text = page_files(), with_tables(readme.read_text("utf-8"))  # before anything is written
    readme.write_text(text, "utf-8")
    folder.mkdir(exist_ok=True)
    for stale in {path.name for path in folder.glob("*.[17]")} - files.keys():
        (folder / stale).unlink()
    for name, roffed in files.items():
        (folder / name).write_text(roffed, "utf-8")
    sys.stdout.write(f"{len(files)} pages in {folder}; the tables of {readme}\n")


if __name__ == "__main__":
    main(Path.cwd())
