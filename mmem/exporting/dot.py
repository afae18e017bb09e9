"""`dot`: a picture for Graphviz, with names, types and relations; texts show where a viewer has tooltips."""

from mmem.exporting.selection import Selection
from mmem.exporting.writer import Losses, Shown
from mmem.exporting.writer import Writer as Base


class Writer(Base):
    """Writes a directed graph whose nodes are called by their ids: n7."""

    def write(self, selection: Selection) -> None:
        """Write the nodes, then the edges."""
        self._shown = Shown()
        losses = Losses("dot")
        self.sink.text(
            f"digraph {self._quoted(selection.category)} {{\n"
            '  graph [rankdir=LR, charset="UTF-8"];\n'
            '  node [shape=box, style=rounded, fontname="Helvetica"];\n'
            '  edge [fontname="Helvetica", fontsize=10];\n'
        )
        for entity in selection.entities():
            losses.observations(entity.observations)
            losses.add("entity's properties", entity.properties is not None)
            label = f"{entity.name}\n({entity.entity_type})" if entity.entity_type else entity.name
            texts = "\n".join(one.text for one in entity.observations)
            tooltip = f", tooltip={self._quoted(texts)}" if texts else ""
            self.sink.text(f"  n{entity.id} [label={self._quoted(label)}{tooltip}];\n")
        for relation in selection.relations():
            losses.add("relation's properties", relation.properties is not None)
            label = self._quoted(relation.relation_type)
            self.sink.text(f"  n{relation.from_id} -> n{relation.to_id} [label={label}];\n")
        self.sink.text("}\n")
        losses.say(selection)
        self._shown.say(selection)

    def _quoted(self, text: str) -> str:
        """Return a text as Graphviz shows it: it knows backslashes and the entities of HTML."""
        shown = self._shown(text.replace("\r\n", "\n"), "\n\t").replace("\\", "\\\\").replace('"', '\\"')
        return '"' + shown.replace("&", "&amp;").replace("\n", "\\n") + '"'
