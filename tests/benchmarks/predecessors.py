"""How both predecessors search, for comparison: their rules on the same facts, whole entities as they return them."""

import sqlite3
from functools import lru_cache

from worlds import Fact, Loaded


def substring(loaded: Loaded, query: str) -> list[Fact]:
    """Return what server-memory finds: entities that contain the query in name, type or a text, in stored order."""
    wanted = query.lower()
    return [
        fact
        for facts in _entities(loaded).values()
        if any(wanted in text.lower() for one in facts for text in (one.name, one.kind, one.text))
        for fact in facts
    ]


def multi_memory(loaded: Loaded, query: str) -> list[Fact]:
    """Return what multi-memory-mcp finds: entities of rows that have each of the words as a beginning, by BM25."""
    every = " AND ".join(f'"{word}"*' for word in query.replace('"', '""').split())
    statement = "SELECT entity_name FROM rows WHERE rows MATCH ? ORDER BY rank"
    try:
        names = dict.fromkeys(name for (name,) in _index(loaded).execute(statement, (every,)))
    except sqlite3.OperationalError:  # it fails on such a query
        return []
    facts = _entities(loaded)
    return [fact for name in names for fact in facts[name]]


def _entities(loaded: Loaded) -> dict[str, list[Fact]]:
    found: dict[str, list[Fact]] = {}
    for fact in loaded.world.facts:
        found.setdefault(fact.name, []).append(fact)
    return found


def _index(loaded: Loaded) -> sqlite3.Connection:
    return _indexed(tuple(loaded.world.facts))


@lru_cache(maxsize=16)
def _indexed(facts: tuple[Fact, ...]) -> sqlite3.Connection:
    conn = sqlite3.connect(":memory:")
    conn.execute("CREATE VIRTUAL TABLE rows USING fts5(entity_name, entity_type, observation_content)")
    conn.executemany("INSERT INTO rows VALUES (?, ?, '')", dict.fromkeys((fact.name, fact.kind) for fact in facts))
    conn.executemany("INSERT INTO rows VALUES (?, ?, ?)", ((fact.name, fact.kind, fact.text) for fact in facts))
    return conn
