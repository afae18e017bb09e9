"""What TAB asks for, answered before click is imported: `mmem __complete KIND PREFIX [WORD...]`.

Only the standard library, and of that as little as can be; the scripts in `completions/` are its only callers. It
reads, creates nothing, and where anything is amiss it says nothing: a person is in the middle of a line.
"""

import os
import sys
from collections.abc import Iterable, Iterator
from sqlite3 import Connection, Error, OperationalError, connect

MOST = 200  # candidates; nobody reads more of them
_SHOWN = 60  # characters of what is said beside a candidate
_RECENT = 5_000  # observations whose types and sources are looked at where no index knows them
_LAST = "\U0010ffff"  # sorts behind every other character
_FLAGS = "qv0"  # may stand before a short option in the same word: -qc work
_CATEGORY = frozenset("abcdefghijklmnopqrstuvwxyz0123456789_-")

Candidate = tuple[str, str]  # what is inserted, and what is said beside it


def answer(words: list[str]) -> None:
    """Print the candidates of a kind that begin with a prefix, each with what is said beside it after a tab.

    `words` are the kind, the prefix and the command line before the cursor, without its quotes.
    """
    try:
        kind, prefix, *line = words
        found = dict(_candidates(kind, prefix, line))
        lines = [f"{text}\t{_beside(note)}\n" for text, note in found.items() if not _has_control(text)]
        sys.stdout.buffer.write("".join(lines).encode())
        sys.stdout.flush()
    except (ValueError, OSError, Error, AttributeError):  # also a closed stdout, and a prefix that isn't UTF-8
        from mmem.app import mute_stdout

        mute_stdout()


def _candidates(kind: str, prefix: str, line: list[str]) -> Iterable[Candidate]:
    folder = os.path.expanduser(_chosen(line, "--base-dir") or os.environ.get("MEMORY_BASE_DIR") or ".aim")
    folder = os.path.abspath(os.path.expandvars(folder))
    if kind == "category":
        return [(name, "") for name in _categories(folder) if name.startswith(prefix)][:MOST]
    category = _chosen(line, "--category", "-c") or os.environ.get("DEFAULT_CATEGORY") or "default"
    path = os.path.join(folder, f"{category}.db")
    if not _CATEGORY.issuperset(category) or not os.path.isfile(path):
        return []
    conn = _open(path)
    try:
        if kind == "entity":
            return list(_entities(conn, prefix, after_dashes="--" in line))
        return list(_KINDS[kind](conn, prefix)) if kind in _KINDS else []
    finally:
        conn.close()


def _chosen(line: list[str], option: str, short: str = "") -> str | None:
    """Return the value of an option in the words of a command line, the last one's."""
    value = None
    for index, word in enumerate(line):
        if word == "--":
            break
        if word == option:
            value = line[index + 1] if index + 1 < len(line) else value
        elif word.startswith(f"{option}="):
            value = word[len(option) + 1 :]
        elif short and word[:1] == "-" and word[1:].lstrip(_FLAGS)[:1] == short[1]:
            rest = word[1:].lstrip(_FLAGS)[1:]
            value = rest or (line[index + 1] if index + 1 < len(line) else value)
    return value


def _open(path: str) -> Connection:
    """Return a connection that leaves no file behind, not even for a moment, and waits for nobody for long.

    Without a log the file is read as it is; should it change meanwhile, a candidate is missing. So is what is only in
    a log without its index (one that was copied here, say), which SQLite would have to make beside the file.
    """
    log, index = f"{path}-wal", f"{path}-shm"
    used = os.path.exists(index) and os.path.exists(log) and os.stat(log).st_size > 0
    mode = "mode=ro" if used else "mode=ro&immutable=1"
    escaped = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    uri = "/" + escaped.replace("\\", "/") if os.name == "nt" else escaped
    return connect(f"file:{uri}?{mode}", uri=True, timeout=0.2, isolation_level=None)


def _categories(folder: str) -> Iterator[str]:
    stems = sorted(name[:-3] for name in os.listdir(folder) if name.endswith(".db"))
    for stem in stems:
        if stem and _CATEGORY.issuperset(stem) and _holds_memory(os.path.join(folder, f"{stem}.db")):
            yield stem


def _holds_memory(path: str) -> bool:
    try:
        conn = _open(path)
        try:
            conn.execute("SELECT name, entity_type FROM entities LIMIT 0")
            return True
        finally:
            conn.close()
    except OperationalError as error:  # one that another program holds is a category all the same
        return "no such" not in str(error) and "unable to open" not in str(error)
    except (Error, OSError):
        return False


def _entities(conn: Connection, prefix: str, *, after_dashes: bool) -> Iterator[Candidate]:
    """Yield names as the command line takes them, the newest first where nothing is typed yet, and `id:` references."""
    if prefix.startswith("id:"):
        for id, note in _ids(conn, prefix[3:], "SELECT id, name FROM entities"):
            yield f"id:{id}", note
        return
    types: dict[str, list[str]] = {}
    literal = prefix.startswith("name:")
    wanted = prefix[5:] if literal else prefix
    rows = conn.execute(_NAMES, (wanted, wanted + _LAST, MOST)) if wanted else conn.execute(_NEWEST, (MOST,))
    for name, entity_type in [*rows] or _in_any_case(conn, wanted):
        types.setdefault(name, []).append(entity_type)
    for name, of_name in types.items():
        spelt = f"name:{name}" if literal else _spelt(name, after_dashes)
        if spelt[: len(prefix)].casefold() == prefix.casefold():
            yield spelt, ", ".join(filter(None, of_name))


def _in_any_case(conn: Connection, prefix: str) -> list[tuple[str, str]]:
    """Return names and types that begin with the prefix but for the case; none in a file that mmem hasn't written."""
    from mmem.twins import twin_key

    key = twin_key(prefix)
    try:
        rows = conn.execute(_TWINS, (key, key + _LAST, MOST)).fetchall() if key else []
    except OperationalError:
        return []
    return [(name, kind) for name, kind in rows if name[: len(prefix)].casefold() == prefix.casefold()]


_NEWEST = "SELECT name, entity_type FROM entities ORDER BY id DESC LIMIT ?"
_NAMES = "SELECT name, entity_type FROM entities WHERE name >= ? AND name < ? ORDER BY name LIMIT ?"
_TWINS = (
    "SELECT name, entity_type FROM mmem_names JOIN entities ON id = entity_id "
    "WHERE twin_key >= ? AND twin_key < ? ORDER BY twin_key LIMIT ?"
)


def _spelt(name: str, after_dashes: bool) -> str:
    """Return a name as a reference that can't be taken for an id or for an option."""
    is_id = name.startswith("id:") and name[3:].isdecimal()
    is_option = name.startswith("-") and not after_dashes
    return f"name:{name}" if is_id or is_option or name.startswith("name:") else name


def _ids(conn: Connection, digits: str, select: str) -> Iterator[Candidate]:
    """Yield ids that begin with some digits, the newest first: of each length, a range of the table."""
    if not digits:
        yield from ((str(id), note) for id, note in conn.execute(f"{select} ORDER BY id DESC LIMIT ?", (MOST,)))
        return
    if not (digits.isascii() and digits.isdecimal()) or len(digits) > 18:
        return
    for zeros in range(19 - len(digits)):
        first, size = int(digits) * 10**zeros, 10**zeros
        ranged = f"{select} WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT ?"
        yield from ((str(id), note) for id, note in conn.execute(ranged, (first, first + size, MOST)))


def _observation_ids(conn: Connection, prefix: str) -> Iterator[Candidate]:
    return _ids(conn, prefix, f"SELECT id, substr(content, 1, {_SHOWN}) FROM observations")


def _relation_ids(conn: Connection, prefix: str) -> Iterator[Candidate]:
    ends = "(SELECT name FROM entities WHERE id = {}_entity_id)".format
    note = f"{ends('from')} || ' ' || relation_type || ' ' || {ends('to')}"
    return _ids(conn, prefix, f"SELECT id, {note} FROM relations")


def _types(conn: Connection, prefix: str, table: str, column: str) -> Iterator[Candidate]:
    """Yield the different values of an indexed column: one look-up in the index for each, however many rows it has."""
    begin = (prefix, prefix + _LAST)
    value = conn.execute(f"SELECT min({column}) FROM {table} WHERE {column} >= ? AND {column} < ?", begin).fetchone()
    for _ in range(MOST):
        if value[0] is None:
            return
        yield value[0], ""
        after = (value[0], prefix + _LAST)
        value = conn.execute(f"SELECT min({column}) FROM {table} WHERE {column} > ? AND {column} < ?", after).fetchone()


def _of_observations(conn: Connection, prefix: str, column: str) -> Iterator[Candidate]:
    """Yield the different types or sources of recent observations, the most frequent first."""
    recent = f"SELECT {column} AS value FROM observations ORDER BY id DESC LIMIT {_RECENT}"
    chosen = "WHERE value >= ? AND value < ? GROUP BY value ORDER BY count(*) DESC LIMIT ?"
    for (value,) in conn.execute(f"SELECT value FROM ({recent}) {chosen}", (prefix, prefix + _LAST, MOST)):
        yield value, ""


_KINDS = {
    "entity-type": lambda conn, prefix: _types(conn, prefix, "entities", "entity_type"),
    "relation-type": lambda conn, prefix: _types(conn, prefix, "relations", "relation_type"),
    "observation-type": lambda conn, prefix: _of_observations(conn, prefix, "observation_type"),
    "source": lambda conn, prefix: _of_observations(conn, prefix, "source"),
    "observation-id": _observation_ids,
    "relation-id": _relation_ids,
}
DYNAMIC = frozenset(["category", "entity", *_KINDS])


def _has_control(text: str) -> bool:
    """Tell whether a text can't be a line of its own, or is nothing at all."""
    return not text or (not text.isprintable() and any(c < " " or "\x7f" <= c < "\xa0" for c in text))


def _beside(note: str) -> str:
    if not note.isprintable():
        from mmem.visible import visible

        note = visible(note)
    return note if len(note) <= _SHOWN else f"{note[: _SHOWN - 3]}..."
