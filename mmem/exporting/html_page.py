"""`html`: the page that `mmem view` shows."""

from importlib import import_module

from mmem.exporting.selection import Selection
from mmem.exporting.writer import Writer as Base


class Writer(Base):
    """Writes one self-contained page, all at once."""

    def write(self, selection: Selection) -> None:
        """Write the page of one graph."""
        self.sink.write(import_module("mmem.viewing.page").page(selection.graph(), selection.category))
