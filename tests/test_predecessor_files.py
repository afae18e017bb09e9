"""Files that multi-memory-mcp made: read as they are, converted by the first write, shared with that program."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from shutil import copyfile
from threading import Timer
from typing import Any

import pytest

from mmem.errors import MmemError
from mmem.registry import call
from mmem.store import Store

Ask = Callable[..., Any]

_FILES = Path(__file__).with_name("predecessor")
_KINDS = ["version 1", "version 2", "version 3", "with a log"]
_TEXTS = {("Alpha", "module"): ["one", "two"], ("Alpha", "person"): ["three"], ("Beta", ""): ["four"]}


@contextmanager
def guest(path: Path) -> Iterator[sqlite3.Connection]:
    """Connect as the predecessor does: foreign keys on, nothing else."""
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute("PRAGMA foreign_keys = ON")
        yield conn


def placed(base: Path, kind: str, category: str = "default") -> Path:
    """Put a predecessor's file where a category's file lies."""
    base.mkdir(mode=0o700, exist_ok=True)
    path = base / f"{category}.db"
    if kind == "with a log":
        copyfile(_FILES / "with-wal.db", path)
        copyfile(_FILES / "with-wal.db-wal", path.with_name(path.name + "-wal"))
        return path
    copyfile(_FILES / "checkpointed.db", path)
    with guest(path) as conn:
        for script in {"version 2": [2], "version 1": [2, 1]}.get(kind, []):
            conn.executescript((_FILES / f"version-{script}.sql").read_text())
    return path


def texts(graph: Any) -> dict[tuple[str, str], list[str]]:
    return {(entity.name, entity.entity_type): [o.text for o in entity.observations] for entity in graph.entities}


def codes(outcome: Any) -> list[str]:
    return [notice.code for notice in outcome.notices]


def found(outcome: Any) -> list[tuple[str, str]]:
    return [(entity.name, entity.entity_type) for entity in outcome.result.entities]


def joined(conn: sqlite3.Connection, expression: str) -> set[int]:
    """Return the ids that the predecessor's search finds: the index, joined to its map."""
    statement = (
        "SELECT m.entity_id FROM fts_content, fts_map m, entities e "
        "WHERE fts_content MATCH ? AND fts_content.rowid = m.fts_rowid AND m.entity_id = e.id"
    )
    return {row[0] for row in conn.execute(statement, (expression,))}


def vocabulary(path: Path) -> set[str]:
    with guest(path) as conn:
        conn.execute("CREATE VIRTUAL TABLE temp.words USING fts5vocab(main, fts_content, 'row')")
        return {row[0] for row in conn.execute("SELECT term FROM temp.words")}


def require_sound(path: Path) -> None:
    """Check that rows and index are whole and agree."""
    with guest(path) as conn:
        conn.execute("INSERT INTO fts_content(fts_content, rank) VALUES ('integrity-check', 1)")
        assert conn.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert conn.execute("PRAGMA foreign_key_check").fetchall() == []


def everything(path: Path) -> list[Any]:
    """Return the schema and the rows of a file."""
    with guest(path) as conn:
        schema = conn.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name, type").fetchall()
        plain = [name for kind, name, sql in schema if kind == "table" and "VIRTUAL" not in sql.upper()]
        return [schema, *(conn.execute(f"SELECT * FROM {name}").fetchall() for name in plain)]


def read_all_ways(base: Path) -> None:
    with Store(base) as store:
        call(store, "read_graph")
        call(store, "search_nodes", {"query": "alpha three"})
        call(store, "open_nodes", {"entities": ["Beta", {"id": 1}]})
        call(store, "list_categories")


@pytest.mark.parametrize("kind", _KINDS)
def test_a_file_of_any_version_is_read(base: Path, ask: Ask, kind: str) -> None:
    placed(base, kind)
    outcome = ask("read_graph")
    assert texts(outcome.result) == _TEXTS
    assert [(r.from_name, r.relation_type, r.to_name) for r in outcome.result.relations] == [("Alpha", "uses", "Beta")]
    assert codes(outcome) == []
    assert ask("list_categories").result == ["default"]


@pytest.mark.parametrize("kind", ["version 3", "with a log"])
def test_properties_are_read(base: Path, ask: Ask, kind: str) -> None:
    placed(base, kind)
    assert ask("open_nodes", entities=[{"id": "1"}]).result.entities[0].properties == {"k": 1}


@pytest.mark.parametrize("kind", ["version 1", "version 2", "version 3"])
def test_reading_changes_no_byte(base: Path, kind: str) -> None:
    path = placed(base, kind)
    before = path.read_bytes()
    read_all_ways(base)
    assert path.read_bytes() == before
    assert [file.name for file in base.iterdir()] == ["default.db"]


def test_reading_a_file_with_a_log_changes_no_row(base: Path) -> None:
    path = placed(base, "with a log")
    before = everything(placed(base, "with a log", "copy"))
    read_all_ways(base)
    assert everything(path) == before


@pytest.mark.parametrize("kind", ["version 2", "version 3", "with a log"])
def test_search_goes_through_the_files_own_index(base: Path, ask: Ask, kind: str) -> None:
    placed(base, kind)
    outcome = ask("search_nodes", query="thr ALPHA")  # a name and a text, in one row of the index only
    assert found(outcome)[0] == ("Alpha", "person")
    assert codes(outcome) == []


@pytest.mark.parametrize("query", ["one", "module one", '"one"', "one OR two"])
def test_index_rows_of_deleted_entities_are_ignored(base: Path, ask: Ask, query: str) -> None:
    with guest(placed(base, "version 3")) as conn:
        conn.execute("DELETE FROM entities WHERE id = 1")
        left = "SELECT count(*) FROM fts_content WHERE fts_content MATCH 'one'"
        assert conn.execute(left).fetchone() == (1,)  # the predecessor's triggers come too late for its map
    assert found(ask("search_nodes", query=query)) == []


@pytest.mark.parametrize("empty", ["the row", "the table"])
def test_without_an_index_substrings_are_found_and_a_notice_says_so(base: Path, ask: Ask, empty: str) -> None:
    with guest(placed(base, "version 1")) as conn:
        conn.execute("DELETE FROM schema_version" if empty == "the row" else "DROP TABLE schema_version")
    outcome = ask("search_nodes", query="hre")
    assert found(outcome) == [("Alpha", "person")]
    assert codes(outcome) == ["no_full_text"]


def test_an_index_that_its_program_failed_to_fill_is_not_trusted(base: Path, ask: Ask) -> None:
    # What multi-memory-mcp leaves behind where it can't upgrade version 1: it looks for properties too early.
    with guest(placed(base, "version 1")) as conn:
        conn.execute("UPDATE observations SET content = 'three little words' WHERE content = 'three'")
        conn.execute("CREATE VIRTUAL TABLE fts_content USING fts5(entity_name, entity_type, observation_content)")
        conn.execute("CREATE TABLE fts_map (fts_rowid INTEGER PRIMARY KEY, entity_id INTEGER, observation_id INTEGER)")
    outcome = ask("search_nodes", query="words three")
    assert (found(outcome), codes(outcome)) == ([("Alpha", "person")], ["no_full_text"])


@pytest.mark.parametrize("kind", _KINDS)
def test_the_first_write_converts_and_says_so(base: Path, ask: Ask, kind: str) -> None:
    path = placed(base, kind)
    before = ask("read_graph").result
    added = {"entityName": "Beta", "contents": ["five"]}
    assert codes(ask("add_observations", observations=[added])) == ["repaired"]
    assert codes(ask("create_entities", entities=[{"name": "Delta"}])) == []
    after = ask("read_graph").result
    assert after.relations == before.relations
    assert after.entities[:2] == before.entities[:2]
    assert texts(after) == {**_TEXTS, ("Beta", ""): ["four", "five"], ("Delta", ""): []}
    require_sound(path)


@pytest.mark.parametrize("kind", _KINDS)
def test_a_converted_file_is_of_version_3(base: Path, ask: Ask, kind: str) -> None:
    path = placed(base, kind)
    ask("create_entities", entities=[{"name": "Delta", "properties": {"k": "walnut"}}])
    with guest(path) as conn:
        assert conn.execute("SELECT max(version), min(version) > 0 FROM schema_version").fetchone() == (3, 1)
        assert len(joined(conn, "walnut")) == 1
        assert conn.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_write_that_fails_leaves_the_file_unconverted(base: Path, ask: Ask) -> None:
    path = placed(base, "version 3")
    before = everything(placed(base, "version 3", "copy"))
    with pytest.raises(MmemError):
        ask("add_observations", observations=[{"entityName": "nobody", "contents": ["x"]}])
    assert everything(path) == before


def test_the_predecessors_search_finds_the_same_after_conversion(base: Path, ask: Ask) -> None:
    path = placed(base, "version 3")
    words = ["alpha", "mod", "one", "thre", "k", "pers", "alph AND one", "beta AND four", "alpha AND four", '"two"']
    expressions = [word if '"' in word else " AND ".join(f'"{w}"*' for w in word.split(" AND ")) for word in words]
    with guest(path) as conn:
        before = [joined(conn, expression) for expression in expressions]
        ask("create_entities", entities=[{"name": "zz"}])
        assert [joined(conn, expression) for expression in expressions] == before


@pytest.mark.parametrize("kind", [*_KINDS, "ours"])
def test_what_the_predecessor_writes_is_found_and_what_it_deletes_is_gone(base: Path, ask: Ask, kind: str) -> None:
    path = base / "default.db" if kind == "ours" else placed(base, kind)
    ask("create_entities", entities=[{"name": "zz"}])
    with guest(path) as conn:
        entity = "INSERT OR IGNORE INTO entities(name, entity_type, properties) VALUES ('guest', 'ops', ?)"
        id = conn.execute(entity, ('{"tag": "quokka"}',)).lastrowid
        assert conn.execute(entity, ('{"tag": "ignored"}',)).rowcount == 0
        observation = "INSERT INTO observations(entity_id, observation_type, content, source) VALUES (?, ?, ?, ?)"
        for text in ("zebra", "narwhal", "walrus"):
            conn.execute(observation, (id, text, text, "p"))
        conn.execute("UPDATE observations SET content = 'pelican', properties = '{}' WHERE content = 'zebra'")
        conn.execute("DELETE FROM observations WHERE content = 'narwhal'")
        for word, expected in {"quokka": 1, "pelican": 1, "walrus": 1, "zebra": 0, "narwhal": 0, "ignored": 0}.items():
            assert len(joined(conn, word)) == len(found(ask("search_nodes", query=word))) == expected, word
        conn.execute("DELETE FROM entities WHERE name = 'guest' AND entity_type = 'ops'")
    assert found(ask("search_nodes", query="pelican")) == []
    assert not vocabulary(path) & {"guest", "quokka", "zebra", "narwhal", "walrus", "pelican", "ignored"}
    require_sound(path)


def test_conversion_leaves_no_word_of_deleted_entities(base: Path, ask: Ask) -> None:
    path = placed(base, "version 3")
    with guest(path) as conn:
        conn.execute("DELETE FROM entities WHERE id = 1")
    assert "one" in vocabulary(path)
    ask("create_entities", entities=[{"name": "zz"}])
    assert vocabulary(path) == {"alpha", "person", "three", "beta", "four", "zz"}


def test_a_file_that_another_process_converts_is_looked_at_again(base: Path, store: Store, ask: Ask) -> None:
    placed(base, "version 1")
    assert codes(ask("search_nodes", query="hre")) == ["no_full_text"]
    with Store(base) as other:
        assert codes(call(other, "create_entities", {"entities": [{"name": "zz"}]})) == ["repaired"]
    outcome = ask("search_nodes", query="alpha three")
    assert (found(outcome)[0], codes(outcome)) == (("Alpha", "person"), [])
    assert codes(ask("create_entities", entities=[{"name": "yy"}])) == []


def test_a_file_that_its_program_upgrades_meanwhile_is_looked_at_again(base: Path, ask: Ask) -> None:
    path = placed(base, "version 2")
    assert ask("open_nodes", entities=["Beta"]).result.entities[0].properties is None
    with guest(path) as conn:
        for table in ("entities", "observations", "relations"):
            conn.execute(f"ALTER TABLE {table} ADD COLUMN properties TEXT")
        conn.execute("""UPDATE entities SET properties = '{"late": true}' WHERE name = 'Beta'""")
        conn.execute("INSERT INTO schema_version VALUES (3)")
    assert ask("open_nodes", entities=["Beta"]).result.entities[0].properties == {"late": True}


def test_a_file_whose_triggers_another_program_replaced_is_converted_again(base: Path, ask: Ask) -> None:
    ask("create_entities", entities=[{"name": "A", "observations": ["walnut"]}])
    path = base / "default.db"
    with guest(path) as conn:
        conn.execute("DROP TRIGGER fts_observation_insert")
        conn.execute("INSERT INTO observations(entity_id, content, source) VALUES (1, 'lantern', 's')")
    assert codes(ask("create_entities", entities=[{"name": "B"}])) == ["repaired"]
    assert found(ask("search_nodes", query="lantern a")) == [("A", "")]
    require_sound(path)


@pytest.mark.parametrize("logged", [False, True])
def test_a_file_of_a_newer_schema_keeps_every_byte(base: Path, logged: bool) -> None:
    path = placed(base, "version 3", "made")
    newer, log = base / "default.db", base / "default.db-wal"
    with guest(path) as conn:
        conn.execute("INSERT INTO schema_version VALUES (4)")
        if logged:  # as it lies while its program runs
            copyfile(path.with_name("made.db-wal"), log)
            copyfile(path, newer)
    if not logged:
        copyfile(path, newer)
    before = newer.read_bytes(), log.exists() and log.read_bytes()
    with Store(base) as store:
        for tool, arguments in {
            "read_graph": {},
            "search_nodes": {"query": "one"},
            "create_entities": {"entities": [{"name": "A"}]},
            "delete_entities": {"entities": ["Beta"]},
            "delete_category": {"category": "default"},
        }.items():
            with pytest.raises(MmemError, match="newer program") as caught:
                call(store, tool, arguments)
            assert caught.value.code == "storage"
        call(store, "list_categories")
    assert (newer.read_bytes(), log.exists() and log.read_bytes()) == before


def test_an_empty_file_counts_as_no_category(base: Path, ask: Ask) -> None:
    base.mkdir()
    (base / "default.db").touch()
    assert codes(ask("read_graph")) == ["no_such_category"]
    assert codes(ask("create_entities", entities=[{"name": "A"}])) == []
    with Store(base) as other:
        assert texts(call(other, "read_graph").result) == {("A", ""): []}


def made_by_its_program() -> list[str]:
    """Return the statements that make a predecessor's file, tables first."""
    uri = f"{(_FILES / 'checkpointed.db').as_uri()}?immutable=1"
    with closing(sqlite3.connect(uri, uri=True)) as conn:
        own = "sql IS NOT NULL AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'fts_content_%'"
        return [row[0] for row in conn.execute(f"SELECT sql FROM sqlite_master WHERE {own} ORDER BY type DESC, rowid")]


def begin_file(path: Path, statements: list[str]) -> sqlite3.Connection:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    conn = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    conn.execute("PRAGMA journal_mode = WAL")
    for statement in statements:
        conn.execute(statement)
    return conn


@pytest.mark.parametrize("finished", [0, 1, 2])
def test_a_file_whose_creation_was_broken_off_can_be_written_to(base: Path, ask: Ask, finished: int) -> None:
    tables = [sql for sql in made_by_its_program() if sql.startswith("CREATE TABLE")]
    begin_file(base / "default.db", tables[:finished]).close()
    ask("create_entities", entities=[{"name": "A", "observations": ["amber"]}])
    assert found(ask("search_nodes", query="amber")) == [("A", "")]
    require_sound(base / "default.db")


@pytest.mark.parametrize("finished", [0, 1])
def test_a_file_that_its_program_is_just_creating_is_waited_for(base: Path, ask: Ask, finished: int) -> None:
    statements = [sql for sql in made_by_its_program() if not sql.startswith("CREATE TRIGGER")]
    statements.append("INSERT INTO schema_version VALUES (3)")
    with closing(begin_file(base / "default.db", statements[:finished])) as conn:
        rest = "; ".join(["BEGIN IMMEDIATE", *statements[finished:], "COMMIT"])
        maker = Timer(0.3, conn.executescript, [rest])
        maker.start()
        try:
            ask("create_entities", entities=[{"name": "A", "observations": ["amber"]}])
        finally:
            maker.join()
    assert found(ask("search_nodes", query="amber")) == [("A", "")]
    require_sound(base / "default.db")
