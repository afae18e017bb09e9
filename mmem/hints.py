"""What may be wrong with a search's filters where it found nothing: a value that nothing has, and the nearest ones."""

import json
from collections.abc import Iterator

from mmem.filters import Filters
from mmem.names import did_you_mean, nearest
from mmem.outcomes import Notice
from mmem.transaction import Transaction
from mmem.values import nfc

_VALUES = 5_000  # of a column or a property that are looked at
_FEW = 8  # of them that are all named where none is near

_PROPERTIES = (
    "(SELECT properties FROM entities WHERE json_valid(properties) "
    "UNION ALL SELECT properties FROM observations WHERE json_valid(properties)) r, json_each(r.properties) p"
)
_KINDS = {"integer": "number", "real": "number", "text": "text", "true": "boolean", "false": "boolean"}


def filter_hints(transaction: Transaction, filters: Filters) -> Iterator[Notice]:
    """Yield a notice for each filter whose value nothing in the category has; it is another's case, most of the time.

    Properties are told by kind, too: a text `1` isn't the number 1.
    """
    if not transaction.conn.execute("SELECT EXISTS (SELECT 1 FROM entities)").fetchone()[0]:
        return
    for given, key, table, column, noun in (
        (filters.entity_type, "entityType", "entities", "entity_type", "entity has the type"),
        (filters.observation_type, "observationType", "observations", "observation_type", "observation has the type"),
        (filters.source, "source", "observations", "source", "observation has the source"),
        (filters.relation_type, "relationType", "relations", "relation_type", "relation has the type"),
    ):
        if given:
            yield from _column(transaction, given, key, table, column, noun)
    if transaction.layout.properties:
        for name, value in (filters.properties or {}).items():
            yield from _property(transaction, name, value)


def _column(transaction: Transaction, given: str, key: str, table: str, column: str, noun: str) -> Iterator[Notice]:
    statement = f"SELECT DISTINCT {column} FROM {table} LIMIT {_VALUES}"
    there = [value for (value,) in transaction.conn.execute(statement) if value]
    if given in there or nfc(given) in there or len(there) == _VALUES:
        return
    near, listed = _listed(given, there)
    yield Notice("not_found", f"no {noun} '{given}'{listed}", **{key: given}, nearest=near)


def _property(transaction: Transaction, name: str, value: object) -> Iterator[Notice]:
    statement = f"SELECT DISTINCT p.type, p.value FROM {_PROPERTIES} WHERE p.key = ? LIMIT {_VALUES}"
    rows = transaction.conn.execute(statement, (name,)).fetchall()
    if not rows:
        keys = f"SELECT DISTINCT p.key FROM {_PROPERTIES} LIMIT {_VALUES}"
        near, listed = _listed(name, [key for (key,) in transaction.conn.execute(keys)])
        yield Notice("not_found", f"nothing has a property '{name}'{listed}", property=name, nearest=near)
        return
    there = {(_KINDS.get(kind, kind), _value(kind, stored)) for kind, stored in rows}
    if (_kind(value), value) in there or isinstance(value, list | dict) or len(rows) == _VALUES:
        return
    alike = [(kind, stored) for kind, stored in there if _text(stored) == _text(value)]
    message = f"no property '{name}' is the {_kind(value)} {_shown(value)}"
    if alike:
        kind, stored = alike[0]
        word = f"{name}={stored}" if kind == "text" else f"{name}:={_shown(stored)}"
        message += f"; there is the {kind} {_shown(stored)}, which is said -p {word} (in JSON {_json(name, stored)})"
        yield Notice("not_found", message, property=name, nearest=[stored])
        return
    near, listed = _listed(str(value), [str(stored) for kind, stored in there if kind == "text"])
    if not near and len(there) <= _FEW:
        listed = "; there is only " + ", ".join(sorted(_shown(stored) for _, stored in there))
    yield Notice("not_found", f"{message}{listed}", property=name, nearest=near)


def _listed(given: str, there: list[str]) -> tuple[list[str], str]:
    """Return the values nearest to a given one, and a part of a sentence that names them, or all where they are few."""
    near = nearest(given, there)
    if near:
        return near, did_you_mean(near)
    if 0 < len(there) <= _FEW:
        return near, "; there is only " + ", ".join(f"'{one}'" for one in sorted(there))
    return near, ""


def _value(kind: str, stored: object) -> object:
    """Return a value as Python has it; SQLite gives 1 and 0 for JSON's true and false."""
    return {"true": True, "false": False}.get(kind, stored)


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    return "number" if isinstance(value, int | float) else "text"


def _text(value: object) -> str:
    return value if isinstance(value, str) else _shown(value)


def _shown(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _json(name: str, value: object) -> str:
    return f"{{{_shown(name)}: {_shown(value)}}}"
