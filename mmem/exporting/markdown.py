"""`markdown`: notes to read, a section for each entity, its relations as links to other sections."""

import re

import msgspec

from mmem.exporting.selection import Selection
from mmem.exporting.writer import Shown
from mmem.exporting.writer import Writer as Base
from mmem.records import Entity, Observation, Properties, Relation
from mmem.visible import plural

_SPECIAL = re.compile(r"[\\`*\[\]<~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)")
_AT_START = re.compile(r"[#>+=:|-]|\d{1,9}(?=[.)](?:\s|$))")
_LINE_END = re.compile(r"\r\n?|\n")


class Writer(Base):
    """Writes one document, whose sections can be linked to by their entities' ids: `#entity-7`."""

    def write(self, selection: Selection) -> None:
        """Write one document."""
        self._shown = Shown()
        graph = selection.graph()
        outgoing: dict[str, list[Relation]] = {}
        incoming: dict[str, list[Relation]] = {}
        for relation in graph.relations:
            outgoing.setdefault(relation.from_id, []).append(relation)
            incoming.setdefault(relation.to_id, []).append(relation)
        counted = (
            f"{plural(len(graph.entities), 'entity', 'entities')}, {plural(selection.observations, 'observation')}, "
            f"{plural(len(graph.relations), 'relation')}"
        )
        self.sink.text(f"# {self._line(selection.category)}\n\n{counted}\n")
        for entity in graph.entities:
            lines = [f"- {self._property(key, value)}" for key, value in (entity.properties or {}).items()]
            lines += [f"- {self._observation(one)}" for one in entity.observations]
            lines += [f"- {self._outgoing(one)}" for one in outgoing.get(entity.id, ())]
            lines += [f"- {self._incoming(one)}" for one in incoming.get(entity.id, ())]
            self.sink.text("\n".join([self._heading(entity), *lines]) + "\n")
        self._shown.say(selection)

    def _heading(self, entity: Entity) -> str:
        kind = f" ({self._line(entity.entity_type)})" if entity.entity_type else ""
        anchor = f'<a id="entity-{entity.id}"></a>'
        return f"\n## {anchor}{self._line(entity.name)}{kind}\n"

    def _property(self, key: str, value: object) -> str:
        return f"{self._line(key)}: {_code(self._shown(_text(value)))}"

    def _observation(self, given: Observation) -> str:
        kind = f"**{self._line(given.observation_type)}:** " if given.observation_type else ""
        about = [self._line(one) for one in (given.source, given.timestamp) if one]
        about += [self._property(key, value) for key, value in (given.properties or {}).items()]
        return f"{kind}{self._lines(given.text)}" + (f" ({', '.join(about)})" if about else "")

    def _outgoing(self, relation: Relation) -> str:
        end = self._link(relation.to_name, relation.to_type, relation.to_id)
        return f"→ {self._line(relation.relation_type)} {end}{self._about(relation.properties)}"

    def _incoming(self, relation: Relation) -> str:
        end = self._link(relation.from_name, relation.from_type, relation.from_id)
        return f"← {end} {self._line(relation.relation_type)}{self._about(relation.properties)}"

    def _about(self, properties: Properties | None) -> str:
        listed = ", ".join(self._property(key, value) for key, value in (properties or {}).items())
        return f" ({listed})" if listed else ""

    def _link(self, name: str, entity_type: str, id: str) -> str:
        kind = f" ({self._line(entity_type)})" if entity_type else ""
        return f"[{self._line(name)}](#entity-{id}){kind}"

    def _line(self, text: str) -> str:
        """Return a text on one line, of which Markdown interprets nothing."""
        return _escaped(self._shown(text))

    def _lines(self, text: str) -> str:
        """Return a text in a list's item: its line ends stay, and so does the room before its lines."""
        lines = [_escaped(self._shown(line, "\t").rstrip(" \t")) for line in _LINE_END.split(text.strip("\r\n"))]
        following = [*lines[1:], ""]
        broken = [f"{line}\\" if line and after else line for line, after in zip(lines, following, strict=True)]
        return "\n".join(f"  {line}" if number and line else line for number, line in enumerate(broken))


def _escaped(text: str) -> str:
    """Return one line with backslashes before what Markdown would interpret."""
    body = text.lstrip(" \t")
    room = text[: len(text) - len(body)].replace("\t", "    ").replace(" ", "\u00a0")  # or it would make it code
    shown = _SPECIAL.sub(lambda match: "\\" + match[0], body)
    start = _AT_START.match(shown)
    if start is None:
        return room + shown
    if start[0].isdigit():
        return f"{room}{start[0]}\\{shown[start.end() :]}"
    return f"{room}\\{shown}"


def _text(value: object) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _code(text: str) -> str:
    """Return a text as code, in more backticks than it has in a row itself."""
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * (longest + 1)
    padded = f" {text} " if not text.strip() or text[0] in " `" or text[-1] in " `" else text
    return f"{fence}{padded}{fence}"
