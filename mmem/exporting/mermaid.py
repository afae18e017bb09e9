"""`mermaid`: a flowchart that Markdown viewers draw, with names, types and relations."""

import re

from mmem.exporting.selection import Selection
from mmem.exporting.writer import Losses, Shown
from mmem.exporting.writer import Writer as Base

_SPECIAL = re.compile(r"""["#%&*<>\[\\\]`{|}~$;:]|(?<![^\W_])_|_(?![^\W_])|^(?:[-+=]|\d+[.)])""")


class Writer(Base):
    """Writes a flowchart whose nodes are called by their ids: n7."""

    def write(self, selection: Selection) -> None:
        """Write the nodes, then the edges."""
        self._shown = Shown()
        losses = Losses("mermaid")
        self.sink.text("flowchart LR\n")
        for entity in selection.entities():
            losses.add("observation", len(entity.observations))
            losses.add("entity's properties", entity.properties is not None)
            kind = f"<br>({self._escaped(entity.entity_type)})" if entity.entity_type else ""
            name = self._escaped(entity.name) or " "
            self.sink.text(f'  n{entity.id}["{name}{kind}"]\n')
        for relation in selection.relations():
            losses.add("relation's properties", relation.properties is not None)
            label = self._escaped(relation.relation_type) or " "
            self.sink.text(f'  n{relation.from_id} -->|"{label}"| n{relation.to_id}\n')
        losses.say(selection)
        self._shown.say(selection)

    def _escaped(self, text: str) -> str:
        """Return a text of which Mermaid interprets nothing: its own escapes are `#` and a character's number."""
        shown = self._shown(text.replace("\r\n", "\n"), "\n")
        special = _SPECIAL.sub(lambda match: "".join(f"#{ord(one)};" for one in match[0]), shown)
        return special.replace("\n", "<br>")
