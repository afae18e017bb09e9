"""The names that the files of an import gave, in their order: what a relation that gives no type means."""

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

import msgspec


class Seen(NamedTuple):
    """An entity that a file names."""

    id: int
    entity_type: str


class Names:
    """A database of its own, in a temporary file that SQLite makes where it outgrows its cache."""

    def __init__(self) -> None:
        """Begin with none."""
        self._conn = sqlite3.connect("", isolation_level=None)
        self._conn.execute("PRAGMA journal_mode = OFF")
        self._conn.execute("PRAGMA cache_size = -32768")
        self._conn.execute(
            "CREATE TABLE seen (name TEXT, category TEXT, type TEXT, id INTEGER, place INTEGER, "
            "PRIMARY KEY (name, category, type)) WITHOUT ROWID"
        )
        self._conn.execute("BEGIN")
        self._place = 0

    def close(self) -> None:
        """Let go of everything."""
        self._conn.close()

    def add(self, category: str, entities: Iterable[tuple[str, str, int]]) -> None:
        """Note the names, types and ids that a category's entities have; what is noted already stays."""
        rows = [(name, category, kind, id, self._place + step) for step, (name, kind, id) in enumerate(entities)]
        self._place += len(rows)
        self._conn.executemany("INSERT OR IGNORE INTO seen VALUES (?, ?, ?, ?, ?)", rows)

    def of(self, category: str, names: Iterable[str]) -> dict[str, list[Seen]]:
        """Return what the files called by these names in a category, in their order."""
        listed = msgspec.json.encode(list(names)).decode()
        rows = self._conn.execute(
            "SELECT s.name, s.id, s.type FROM json_each(?) j CROSS JOIN seen s ON s.name = j.value AND s.category = ? "
            "ORDER BY s.place",
            (listed, category),
        )
        found: dict[str, list[Seen]] = {}
        for name, id, kind in rows:
            found.setdefault(name, []).append(Seen(id, kind))
        return found

    def categories_of(self, *names: str) -> list[str]:
        """Return the categories in which every one of the names was seen, in the order of the files."""
        wanted = set(names)
        marks = ", ".join("?" * len(wanted))
        rows = self._conn.execute(
            f"SELECT category FROM seen WHERE name IN ({marks}) GROUP BY category "
            "HAVING count(DISTINCT name) = ? ORDER BY min(place)",
            (*wanted, len(wanted)),
        )
        return [category for (category,) in rows]
