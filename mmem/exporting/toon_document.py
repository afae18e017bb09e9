"""`toon`: what `mmem read-graph -f toon` prints."""

from mmem.exporting.selection import Selection
from mmem.exporting.writer import Writer as Base
from mmem.formats import formatted


class Writer(Base):
    """Writes a graph through the toon-format library, all at once."""

    def write(self, selection: Selection) -> None:
        """Write one graph."""
        self.sink.write(formatted(selection.graph(), "toon"))
