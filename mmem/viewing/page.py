"""One self-contained HTML page of a graph: style, scripts and data in it, and nothing from the network.

The files beside this module are its parts. What comes from the graph stands in the page as JSON alone, which
no text of it can break out of, and the page's scripts only ever make text of it.
"""

import html
import re
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from importlib import resources

import msgspec

from mmem.records import Entity, Graph, Observation, Properties, Relation

# The parts of the page's own scripts; the layout is apart, since it runs in a worker.
LAYOUT = ("repulsion", "layout")
SCRIPTS = ("text", "graph", "lines", "labels", "picture", "search", "panel", "legend", "main")

_PLACE = re.compile(r"\{\{(\w+)\}\}")
_ESCAPES = [
    (character.encode(), f"\\u{ord(character):04x}".encode()) for character in ("<", ">", "&", "\u2028", "\u2029")
]


def page(graph: Graph, title: str) -> bytes:
    """Return the page of a graph as UTF-8; equal graphs give equal pages.

    Relations whose two ends aren't both in the graph are left out.
    """
    style, library, layout = _text("page.css"), _text("library.js"), _scripts(LAYOUT)
    script = '"use strict";\n\n{\n' + _scripts(SCRIPTS) + "}\n"
    parts = {
        "title": html.escape(title).encode(),
        "policy": _policy(style, [library, layout, script]).encode(),
        "style": style.encode(),
        "graph": embedded(graph, title),
        "library": library.encode(),
        "layout": layout.encode(),
        "script": script.encode(),
    }
    template = _PLACE.split(_text("page.html"))  # in one pass: a text that looks like a place stays a text
    return b"".join(parts[piece] if index % 2 else piece.encode() for index, piece in enumerate(template))


def embedded(graph: Graph, title: str) -> bytes:
    """Return the graph as compact JSON that may stand in a script element.

    Its shape: `{title, types, relationTypes, entities: [[id, name, type, observations?, properties?]], relations:
    [[from, to, type, properties?]]}`, where types and ends are positions in their lists, an observation is `[text,
    type?, timestamp?, source?, properties?]`, and properties are pairs of texts.
    """
    types = _positions(entity.entity_type for entity in graph.entities)
    relation_types = _positions(relation.relation_type for relation in graph.relations)
    place = {entity.id: index for index, entity in enumerate(graph.entities)}
    shown = [one for one in graph.relations if one.from_id in place and one.to_id in place]
    encoded = msgspec.json.encode(
        {
            "title": title,
            "types": list(types),
            "relationTypes": list(relation_types),
            "entities": [_entity(entity, types) for entity in graph.entities],
            "relations": [_relation(relation, place, relation_types) for relation in shown],
        }
    )
    for raw, escape in _ESCAPES:
        encoded = encoded.replace(raw, escape)
    return encoded


def _entity(entity: Entity, types: dict[str, int]) -> list[object]:
    observations = [_observation(one) for one in entity.observations]
    return _trimmed([entity.id, entity.name, types[entity.entity_type], observations, _pairs(entity.properties)])


def _observation(one: Observation) -> list[object]:
    return _trimmed([one.text, one.observation_type, one.timestamp or "", one.source, _pairs(one.properties)])


def _relation(relation: Relation, place: dict[str, int], types: dict[str, int]) -> list[object]:
    ends = [place[relation.from_id], place[relation.to_id]]
    return [*ends, types[relation.relation_type], *_trimmed([_pairs(relation.properties)])]


def _pairs(properties: Properties | None) -> list[list[str]]:
    """Return properties as texts: JavaScript's numbers would change what they hold."""
    return [
        [key, value if isinstance(value, str) else msgspec.json.encode(value).decode()]
        for key, value in (properties or {}).items()
    ]


def _trimmed(items: list[object]) -> list[object]:
    """Return a list without the empty texts and lists at its end."""
    while items and items[-1] in ("", []):
        items.pop()
    return items


def _positions(names: Iterable[str]) -> dict[str, int]:
    return {name: index for index, name in enumerate(dict.fromkeys(names))}


def _policy(style: str, scripts: Iterable[str]) -> str:
    """Return the policy that lets these texts run, a worker made of them, and nothing else."""
    allowed = " ".join(map(_hash, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; worker-src blob:; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _scripts(names: Iterable[str]) -> str:
    return "\n".join(_text(f"{name}.js") for name in names)


def _text(name: str) -> str:
    return (resources.files("mmem.viewing") / name).read_text(encoding="utf-8")
