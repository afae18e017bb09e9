"""The tables and the index of a category's file: their shape, and that the index always agrees with the rows."""

import os
import sqlite3
import stat
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmem.errors import Conflict
from mmem.registry import call
from mmem.store import Store

Ask = Callable[..., Any]
Statement = tuple[str, tuple[Any, ...]]

_WORLD = [
    {"name": "Lamp", "entityType": "thing", "properties": {"wire": "copper"}, "observations": ["amber light"]},
    {"name": "Quay", "entityType": "place", "observations": [{"text": "granite steps", "source": "walk"}, "salt"]},
    {"name": "Moth", "observations": ["amber wings"]},
]


@contextmanager
def opened(path: Path | str, *, recursive: bool = False) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute("PRAGMA foreign_keys = ON")
        conn.execute(f"PRAGMA recursive_triggers = {recursive:d}")
        yield conn


def require_sound(conn: sqlite3.Connection) -> None:
    """Check the index against the rows, in FTS5's own way and by their number."""
    conn.execute("INSERT INTO fts_content(fts_content, rank) VALUES ('integrity-check', 1)")
    rows = (
        "SELECT (SELECT count(*) FROM entities) "
        "+ (SELECT count(*) FROM observations WHERE entity_id IN (SELECT id FROM entities))"
    )
    assert conn.execute("SELECT count(*) FROM fts_content_docsize").fetchone() == conn.execute(rows).fetchone()


def vocabulary(conn: sqlite3.Connection) -> set[str]:
    conn.execute("CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, fts_content, 'row')")
    words = {row[0] for row in conn.execute("SELECT term FROM temp.words")}
    conn.execute("DROP TABLE temp.words")
    return words


def names(outcome: Any) -> list[str]:
    return [entity.name for entity in outcome.result.entities]


def codes(outcome: Any) -> list[str]:
    return [notice.code for notice in outcome.notices]


@pytest.fixture
def path(base: Path, ask: Ask) -> Path:
    """The file of a small world."""
    ask("create_entities", entities=_WORLD)
    return base / "default.db"


# The documented columns: name, type, NOT NULL, default, primary key.
_COLUMNS = {
    "entities": [
        ("id", "INTEGER", 0, None, 1),
        ("name", "TEXT", 1, None, 0),
        ("entity_type", "TEXT", 1, None, 0),
        ("properties", "TEXT", 0, None, 0),
        ("created_at", "INTEGER", 0, "unixepoch()", 0),
        ("updated_at", "INTEGER", 0, "unixepoch()", 0),
    ],
    "observations": [
        ("id", "INTEGER", 0, None, 1),
        ("entity_id", "INTEGER", 1, None, 0),
        ("observation_type", "TEXT", 1, "''", 0),
        ("content", "TEXT", 1, None, 0),
        ("timestamp", "TEXT", 0, None, 0),
        ("source", "TEXT", 1, "''", 0),
        ("properties", "TEXT", 0, None, 0),
        ("created_at", "INTEGER", 0, "unixepoch()", 0),
    ],
    "relations": [
        ("id", "INTEGER", 0, None, 1),
        ("from_entity_id", "INTEGER", 1, None, 0),
        ("to_entity_id", "INTEGER", 1, None, 0),
        ("relation_type", "TEXT", 1, None, 0),
        ("properties", "TEXT", 0, None, 0),
        ("created_at", "INTEGER", 0, "unixepoch()", 0),
    ],
}
_UNIQUE = {
    "entities": ["name", "entity_type"],
    "observations": ["entity_id", "observation_type", "source"],
    "relations": ["from_entity_id", "to_entity_id", "relation_type"],
}
_INDEXES = {
    "idx_entities_name": ["name"],
    "idx_entities_type": ["entity_type"],
    "idx_entities_name_type": ["name", "entity_type"],
    "idx_observations_entity": ["entity_id"],
    "idx_relations_from": ["from_entity_id"],
    "idx_relations_to": ["to_entity_id"],
    "idx_relations_type": ["relation_type"],
}
_PARENTS = {"entities": [], "observations": ["entity_id"], "relations": ["from_entity_id", "to_entity_id"]}


@pytest.mark.parametrize("table", _COLUMNS)
def test_tables_have_the_documented_columns_and_keys(path: Path, table: str) -> None:
    with opened(path) as conn:
        assert [row[1:] for row in conn.execute(f"PRAGMA table_info({table})")] == _COLUMNS[table]
        (unique,) = [row[1] for row in conn.execute(f"PRAGMA index_list({table})") if row[3] == "u"]
        assert [row[2] for row in conn.execute(f"PRAGMA index_info({unique})")] == _UNIQUE[table]
        parents = [(row[3], row[2], row[4], row[6]) for row in conn.execute(f"PRAGMA foreign_key_list({table})")]
        assert sorted(parents) == [(column, "entities", "id", "CASCADE") for column in _PARENTS[table]]


def test_the_seven_documented_indexes_are_there(path: Path) -> None:
    with opened(path) as conn:
        for name, columns in _INDEXES.items():
            assert [row[2] for row in conn.execute(f"PRAGMA index_info({name})")] == columns, name


def test_ids_are_never_given_twice(path: Path, ask: Ask) -> None:
    ask("delete_entities", entities=["Moth"])
    assert ask("create_entities", entities=[{"name": "Moth"}]).result[0].id == "4"


def test_a_new_file_has_version_3_and_a_write_ahead_log(path: Path) -> None:
    with opened(path) as conn:
        assert conn.execute("SELECT version FROM schema_version").fetchall() == [(3,)]
        assert conn.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_files_are_for_their_owner_alone_whatever_the_umask(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        with Store(tmp_path / "new" / "deeper") as store:
            call(store, "create_entities", {"entities": _WORLD})
            files = list((tmp_path / "new" / "deeper").iterdir())
            assert {file.name for file in files} == {"default.db", "default.db-wal", "default.db-shm"}
            assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    finally:
        os.umask(old)
    assert {stat.S_IMODE((tmp_path / made).stat().st_mode) for made in ("new", "new/deeper")} == {0o700}


def test_the_gate_is_seen_by_no_other_connection(path: Path, store: Store, ask: Ask) -> None:
    with opened(path) as other:
        versions = "SELECT version FROM schema_version"
        with store.writing(None) as transaction:
            transaction.defer_index()
            assert transaction.conn.execute(versions).fetchall() == [(-1,), (3,)]
            assert other.execute(versions).fetchall() == [(3,)]
        assert other.execute(versions).fetchall() == [(3,)]
        with suppress(Conflict), store.writing(None) as transaction:
            transaction.defer_index()
            raise Conflict("no")
        assert other.execute(versions).fetchall() == [(3,)]


def test_a_part_that_fails_leaves_the_rest_indexed(path: Path, store: Store, ask: Ask) -> None:
    with store.writing(None) as transaction:
        transaction.defer_index()
        transaction.insert("entities", "id, name, entity_type", [(transaction.next_id("entities"), "Reed", "")])
        with suppress(Conflict), transaction.nested() as part:
            part.insert("entities", "id, name, entity_type", [(part.next_id("entities"), "Gone", "")])
            part.flush_index()
            raise Conflict("no")
        transaction.insert("entities", "id, name, entity_type", [(transaction.next_id("entities"), "Rush", "")])
    assert [names(ask("search_nodes", query=word)) for word in ("Reed", "Gone", "Rush")] == [["Reed"], [], ["Rush"]]
    with opened(path) as conn:
        require_sound(conn)
        assert "gone" not in vocabulary(conn)


def test_one_row_is_indexed_for_each_entity_and_observation(path: Path) -> None:
    with opened(path) as conn:
        mapped = conn.execute("SELECT entity_id, observation_id FROM fts_map ORDER BY 1, 2").fetchall()
    assert mapped == [(1, None), (1, 1), (2, None), (2, 2), (2, 3), (3, None), (3, 4)]


@pytest.mark.parametrize(
    ("tool", "arguments", "gone"),
    [
        ("delete_entities", {"entities": [{"id": 1}]}, {"lamp", "thing", "copper", "wire", "light"}),
        ("delete_observations", {"deletions": [{"id": 2}]}, {"granite", "steps"}),
        (
            "create_entities",
            {"entities": [{"name": "Quay", "entityType": "place"}], "override": True},
            {"granite", "steps", "salt"},
        ),
        (
            "add_observations",
            {"observations": [{"entityId": 3, "contents": ["dusk"]}], "override": True},
            {"wings"},
        ),
    ],
)
def test_no_word_of_what_was_deleted_or_replaced_stays(
    path: Path, ask: Ask, tool: str, arguments: Any, gone: set[str]
) -> None:
    with opened(path) as conn:
        before = vocabulary(conn)
        ask(tool, **arguments)
        assert before - vocabulary(conn) == gone
        require_sound(conn)


def test_insert_or_replace_in_the_store_keeps_the_index_sound(path: Path, store: Store, ask: Ask) -> None:
    with store.writing(None) as transaction:
        replace = "INSERT OR REPLACE INTO observations(entity_id, content) VALUES (1, 'dim')"
        transaction.conn.execute(replace)
        transaction.conn.execute("INSERT OR REPLACE INTO entities(name, entity_type) VALUES ('Quay', 'place')")
    with opened(path) as conn:
        require_sound(conn)
        assert not {"light", "granite"} & vocabulary(conn)
    assert names(ask("search_nodes", query="dim")) == ["Lamp"]


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT OR IGNORE INTO entities(name, entity_type) VALUES ('Lamp', 'thing')",
        "UPDATE OR IGNORE entities SET name = 'Lamp', entity_type = 'thing' WHERE name = 'Moth'",
        "UPDATE OR REPLACE entities SET name = 'Lamp', entity_type = 'thing' WHERE name = 'Moth'",
        "UPDATE OR IGNORE observations SET source = 'walk', observation_type = '' WHERE content = 'salt'",
        "UPDATE OR REPLACE observations SET entity_id = 3, observation_type = '' WHERE content = 'salt'",
        "UPDATE observations SET id = 77 WHERE id = 1",
        "UPDATE entities SET id = 77 WHERE name = 'Bare'",
        "UPDATE entities SET name = name || 's', properties = NULL",
        "UPDATE observations SET content = 'nul' || char(0) || 'byte'",
    ],
)
def test_statements_of_other_programs_keep_the_index_sound(path: Path, ask: Ask, statement: str) -> None:
    ask("create_entities", entities=[{"name": "Bare"}])
    with opened(path, recursive=True) as conn:
        conn.execute(statement)
        require_sound(conn)


def test_rows_left_by_a_program_without_foreign_keys_do_no_harm(path: Path, ask: Ask) -> None:
    with opened(path) as conn:
        conn.execute("PRAGMA foreign_keys = OFF")
        conn.execute("DELETE FROM entities WHERE name = 'Quay'")
        require_sound(conn)
        outcome = ask("read_graph")
        assert (names(outcome), codes(outcome)) == (["Lamp", "Moth"], ["repaired"])
        assert names(ask("search_nodes", query="granite")) == []
        conn.execute("DELETE FROM observations")
        require_sound(conn)


_WORDS = st.lists(st.sampled_from(["amber", "Bête", "cork", "東京", "foo-bar", "c++", "x_y"]), max_size=3).map(" ".join)
_IDS = st.integers(1, 6)
_PROPERTIES = st.none() | _WORDS.map('{{"k": "{}"}}'.format)
_KINDS = st.sampled_from(["", "a", "b"])


def _statement(sql: str, *values: st.SearchStrategy[Any]) -> st.SearchStrategy[Statement]:
    return st.tuples(st.just(sql), st.tuples(*values))


_NEW = "INTO observations(entity_id, observation_type, content, properties) VALUES (?, ?, ?, ?)"
_STATEMENTS = st.one_of(
    _statement("INSERT INTO entities(name, entity_type, properties) VALUES (?, ?, ?)", _WORDS, _KINDS, _PROPERTIES),
    _statement("INSERT OR IGNORE INTO entities(name, entity_type) VALUES (?, ?)", _WORDS, _KINDS),
    _statement("INSERT OR REPLACE INTO entities(name, entity_type) VALUES (?, ?)", _WORDS, _KINDS),
    _statement("UPDATE entities SET name = ?, entity_type = ? WHERE id = ?", _WORDS, _KINDS, _IDS),
    _statement("UPDATE OR IGNORE entities SET name = ?, entity_type = ? WHERE id > ?", _WORDS, _KINDS, _IDS),
    _statement("UPDATE OR REPLACE entities SET name = ?, entity_type = ? WHERE id > ?", _WORDS, _KINDS, _IDS),
    _statement("UPDATE entities SET properties = ?, updated_at = unixepoch() WHERE id = ?", _PROPERTIES, _IDS),
    _statement("UPDATE entities SET name = name || ? WHERE id > ?", _WORDS, _IDS),
    _statement("DELETE FROM entities WHERE id = ?", _IDS),
    _statement("DELETE FROM entities WHERE id >= ?", _IDS),
    _statement(f"INSERT {_NEW}", _IDS, _KINDS, _WORDS, _PROPERTIES),
    _statement(f"INSERT OR IGNORE {_NEW}", _IDS, _KINDS, _WORDS, _PROPERTIES),
    _statement(f"INSERT OR REPLACE {_NEW}", _IDS, _KINDS, _WORDS, _PROPERTIES),
    _statement(
        f"INSERT {_NEW} ON CONFLICT DO UPDATE SET content = excluded.content", _IDS, _KINDS, _WORDS, _PROPERTIES
    ),
    _statement("UPDATE observations SET content = ?, properties = ? WHERE id = ?", _WORDS, _PROPERTIES, _IDS),
    _statement("UPDATE observations SET entity_id = ? WHERE id = ?", _IDS, _IDS),
    _statement("UPDATE OR REPLACE observations SET entity_id = ? WHERE id >= ?", _IDS, _IDS),
    _statement("DELETE FROM observations WHERE id = ?", _IDS),
    _statement("DELETE FROM observations WHERE entity_id = ?", _IDS),
    st.sampled_from(["SAVEPOINT s", "ROLLBACK TO s", "RELEASE s"]).map(lambda sql: (sql, ())),
)


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The statements that make an empty file of ours."""
    base = tmp_path_factory.mktemp("schema")
    with Store(base) as store:
        call(store, "create_entities", {"entities": [{"name": "A"}]})
    with opened(base / "default.db") as conn:
        own = "sql IS NOT NULL AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'fts_content_%'"
        return [row[0] for row in conn.execute(f"SELECT sql FROM sqlite_master WHERE {own} ORDER BY rowid")]


@settings(max_examples=300, deadline=None)
@given(statements=st.lists(_STATEMENTS, min_size=1, max_size=25))
def test_whatever_is_written_the_index_agrees_with_the_rows(schema: list[str], statements: list[Statement]) -> None:
    with opened(":memory:", recursive=True) as conn:
        conn.executescript(";".join(schema))
        for sql, values in statements:
            with suppress(sqlite3.IntegrityError, sqlite3.OperationalError):  # a key is taken, no savepoint is open
                conn.execute(sql, values)
        require_sound(conn)
        conn.execute("DELETE FROM entities")
        assert vocabulary(conn) == set()


# Small requests through the tools; an index that misses a row, or has one too many, fails the check.
_NAMES = st.sampled_from(["Lamp", "Quay", "Moth"])
_TEXTS = st.lists(_WORDS.filter(bool), max_size=3)
_OVERRIDE = st.booleans()
_REQUESTS = st.one_of(
    st.tuples(st.just("create_entities"), _NAMES, _TEXTS, _OVERRIDE),
    st.tuples(st.just("add_observations"), _NAMES, _TEXTS, _OVERRIDE),
    st.tuples(st.just("delete_entities"), _NAMES, _TEXTS, _OVERRIDE),
    st.tuples(st.just("delete_observations"), _NAMES, _TEXTS, _OVERRIDE),
)


def _arguments(tool: str, name: str, given: list[str], override: bool) -> dict[str, Any]:
    return {
        "create_entities": {"entities": [{"name": name, "observations": given}, {"name": name * 2}]},
        "add_observations": {"observations": [{"entityName": name, "contents": given}]},
        "delete_entities": {"entities": [name]},
        "delete_observations": {"deletions": [{"entityName": name}, {"id": len(given) + 1}]},
    }[tool] | ({"override": override} if not tool.startswith("delete") else {})


@settings(max_examples=40, deadline=None)
@given(st.lists(_REQUESTS, min_size=1, max_size=8))
def test_whatever_is_asked_the_index_agrees_with_the_rows(
    tmp_path_factory: pytest.TempPathFactory, requests: list[tuple[str, str, list[str], bool]]
) -> None:
    base = tmp_path_factory.mktemp("asked")
    with Store(base) as store:
        call(store, "create_entities", {"entities": [{"name": "First"}, *({"name": n} for n in ("Lamp", "Moth"))]})
        for request in requests:
            with suppress(Exception):
                call(store, request[0], _arguments(*request))
    with opened(base / "default.db") as conn:
        require_sound(conn)
        assert conn.execute("SELECT version FROM schema_version").fetchall() == [(3,)]


_DAMAGE = [
    "DELETE FROM fts_content_docsize",
    "DELETE FROM fts_content_data WHERE id > 10",  # its segments
    "DELETE FROM fts_content_data WHERE id = 1",  # its averages
    "DELETE FROM fts_content_data",
    "DELETE FROM fts_content_config",
    "UPDATE fts_content_data SET block = x'ffffffff' WHERE id > 10",
]


@pytest.mark.parametrize("damage", _DAMAGE)
def test_a_search_heals_a_damaged_index(path: Path, store: Store, ask: Ask, damage: str) -> None:
    store.close()
    with opened(path) as conn:
        conn.execute(damage)
    outcome = ask("search_nodes", query="amber")
    assert (sorted(names(outcome)), codes(outcome)) == (["Lamp", "Moth"], ["index_healed"])
    assert codes(ask("search_nodes", query="amber")) == []
    with opened(path) as conn:
        require_sound(conn)


@pytest.mark.parametrize("damage", [*_DAMAGE, "INSERT INTO fts_content(fts_content) VALUES ('delete-all')"])
@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("delete_entities", {"entities": [{"id": 1}]}),
        ("add_observations", {"observations": [{"entityId": 3, "contents": ["dusk", "dawn"]}]}),
    ],
)
def test_a_damaged_index_keeps_nobody_from_writing(
    path: Path, store: Store, ask: Ask, damage: str, tool: str, arguments: Any
) -> None:
    store.close()
    with opened(path) as conn:
        conn.execute(damage)
    ask(tool, **arguments)
    ask("search_nodes", query="amber")
    with opened(path) as conn:
        assert conn.execute("SELECT count(*) FROM entities e JOIN observations o ON o.entity_id = e.id").fetchone() == (
            (3,) if tool == "delete_entities" else (6,)
        )


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc to see which files are open")
def test_at_most_fifty_categories_are_open(base: Path, store: Store, ask: Ask) -> None:
    for number in range(60):
        ask("create_entities", category=f"c{number}", entities=[{"name": f"n{number}"}])
    descriptors = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
    files = {os.readlink(one) for one in descriptors if os.path.lexists(one)}
    assert len({file for file in files if file.startswith(str(base)) and file.endswith(".db")}) == 50
    for number in (0, 59, 1):
        assert names(ask("read_graph", category=f"c{number}")) == [f"n{number}"]
    assert len(ask("list_categories").result) == 60
