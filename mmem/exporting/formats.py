"""The table of formats: where each one's writer lives, and what the rest of an export has to know of it."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from mmem.exporting.writer import Writer


class Format(NamedTuple):
    """A format that a graph can be written in."""

    module: str  # below mmem.exporting; it has a class `Writer`
    ending: str  # of files whose names mmem chooses
    several: bool = False  # one text can hold several categories, each named in it
    json: bool = False  # control characters can be written as escapes without changing what is read
    tables: bool = False  # several files, in a folder

    def writer(self) -> "type[Writer]":
        """Import and return the class that writes the format."""
        from importlib import import_module

        found: type[Writer] = import_module(f"mmem.exporting.{self.module}").Writer
        return found


FORMATS = {
    "jsonl": Format("json_lines", ".jsonl", several=True, json=True),
    "memory-jsonl": Format("memory_lines", ".jsonl", json=True),
    "json": Format("json_document", ".json", several=True, json=True),
    "yaml": Format("yaml_document", ".yaml", several=True),
    "toon": Format("toon_document", ".toon"),
    "markdown": Format("markdown", ".md"),
    "csv": Format("tables", ".csv", tables=True),
    "dot": Format("dot", ".dot"),
    "mermaid": Format("mermaid", ".mmd"),
    "graphml": Format("graphml", ".graphml"),
    "html": Format("html_page", ".html"),
}
