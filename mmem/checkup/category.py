"""One category: whether its file opens, is whole, fits its index and is closed to others. Nothing is written."""

import os
import shlex
import sqlite3
from contextlib import closing
from typing import NamedTuple

from mmem import semantic, vectors
from mmem.checkup import reading
from mmem.checkup.folder import size
from mmem.checkup.fulltext import is_sound, seems_sound
from mmem.checkup.permissions import private
from mmem.checkup.remarks import About, Findings, Found
from mmem.errors import Busy, MmemError, Storage
from mmem.faults import from_sqlite, how_to_see, primary_code
from mmem.files import connect
from mmem.layout import Layout, inspect
from mmem.schema import SCHEMA_VERSION, has_full_text
from mmem.soundness import BROKEN, Contents, contents, fault_of, hearing, left_behind
from mmem.store import Store
from mmem.visible import plural

LARGE_LOG = 64_000_000  # bytes: four times what SQLite lets a log grow to while nobody holds it back


class File(NamedTuple):
    """A category's file, and how closely to look at it."""

    base_dir: str
    category: str
    path: str
    thorough: bool

    @property
    def about(self) -> About:
        """Return what makes remarks about it."""
        return About(f"category '{self.category}'", self.path)


def category(file: File) -> Findings:
    """Look at one category; one remark says that all is well, or one each what isn't."""
    found = [*_content(file), *_log(file)]
    found += private(file.about, [file.path, f"{file.path}-wal", f"{file.path}-shm"], mode=0o600, folder=file.base_dir)
    yield from found


def _content(file: File) -> list[Found]:
    try:
        with reading.reading(file.path) as conn, hearing(conn, lambda done, total: None):
            layout = inspect(conn, file.path)
            fault = fault_of(conn, "integrity_check" if file.thorough else "quick_check")
            return [_damaged(file, fault)] if fault else list(_inside(file, conn, layout))
    except sqlite3.Error as error:
        if primary_code(error) in BROKEN:
            return [_damaged(file, str(error))]
        return [_unusable(file, from_sqlite(error, file.path, reading.PATIENCE))]
    except (Storage, Busy) as error:
        return [_unusable(file, error)]


def _damaged(file: File, fault: str) -> Found:
    remedy = (
        f"restore a backup with mmem restore, or save what can be read with mmem read-graph -c {file.category} -f jsonl"
    )
    return file.about.problem("integrity", f"{file.path} is damaged ({fault})", remedy)


def _unusable(file: File, error: MmemError) -> Found:
    if isinstance(error, Busy):
        message = "another program keeps its file to itself, so it wasn't looked at"
        return file.about.info("busy", message, how_to_see(file.path))
    return file.about.problem("category", error.message)


def _inside(file: File, conn: sqlite3.Connection, layout: Layout) -> Findings:
    about, held = file.about, contents(conn)
    wrong = [*_index(file, conn, layout), *_references(file, conn), *_vectors(file, conn)]
    if not layout.own and not layout.broken and has_full_text(conn):
        message = f"multi-memory-mcp or an older mmem made it; the first write gives it schema {SCHEMA_VERSION}"
        yield about.info("converted", f"{message} and mmem's search index")
    yield from wrong
    if not any(one.remark.level in {"problem", "warning"} for one in wrong):
        yield about.ok("category", f"{_held(held)}; sound, in {size(os.path.getsize(file.path))}")


def _held(held: Contents) -> str:
    return (
        f"{plural(held.entities, 'entity', 'entities')}, {plural(held.observations, 'observation')}, "
        f"{plural(held.relations, 'relation')}"
    )


def _index(file: File, conn: sqlite3.Connection, layout: Layout) -> Findings:
    if layout.own and not layout.full_text:
        return
    if layout.own:
        try:
            sound = seems_sound(conn) and (not file.thorough or is_sound(conn))
        except Storage as error:
            yield file.about.info("index", f"its search index wasn't compared with its rows: {error.message}")
            return
    else:
        sound = not layout.broken  # another program's is that program's affair
    if not sound:
        remedy = f"mmem doctor --fix, or mmem reindex -c {file.category}"
        message = "its search index doesn't fit its rows, so that searches may miss some; nothing is lost"
        yield file.about.problem("index", message, remedy, lambda: _reindexed(file))


def _reindexed(file: File) -> str:
    with Store(file.base_dir, timeout=reading.PATIENCE) as store:
        store.heal_index(file.category)
    return "its search index was made anew from its rows"


def _references(file: File, conn: sqlite3.Connection) -> Findings:
    if count := left_behind(conn):
        message = f"{plural(count, 'row')} of entities that another program deleted lie in it, which no tool shows"
        yield file.about.warn("references", message, f"mmem purge -c {file.category} deletes them")


def _vectors(file: File, conn: sqlite3.Connection) -> Findings:
    if not vectors.are_kept(conn):
        return
    names = {name for (name,) in conn.execute("SELECT name FROM mmem_models")}
    model = semantic.model()
    if model is None and names:
        yield file.about.info("vectors", "it has vectors, but the extra mmem[semantic] isn't installed or is off")
    elif model is not None and names and model.name not in names:
        remedy = f"mmem reindex -c {file.category} makes those of this one"
        yield file.about.info("vectors", "its vectors are of another model, and aren't used", remedy)


def _log(file: File) -> Findings:
    try:
        length = os.path.getsize(f"{file.path}-wal")
    except OSError:
        return
    if length > LARGE_LOG:
        message = f"its log has grown to {size(length)}: a program that reads for long keeps SQLite from emptying it"
        remedy = f"mmem doctor --fix empties it once that program is gone (`lsof {shlex.quote(file.path)}` shows it)"
        yield file.about.warn("log", message, remedy, lambda: _emptied(file, length))


def _emptied(file: File, length: int) -> str:
    try:
        with closing(connect(file.path, "rw", reading.PATIENCE)) as conn:
            held_back = conn.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
    except sqlite3.Error as error:
        raise from_sqlite(error, file.path, reading.PATIENCE) from error
    if held_back:
        raise Busy("another program is still reading or writing", {"path": file.path})
    return f"its log of {size(length)} was moved into its file"
