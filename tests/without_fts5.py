"""Run mmem as a Python does whose SQLite was built without FTS5: `python without_fts5.py ARGUMENT...`.

SQLite can take its modules away from a connection again (`sqlite3_drop_modules`, since 3.30), so what happens is what
such a build does. CPython keeps the connection's handle right behind an object's head.
"""

import _sqlite3
import ctypes
import sqlite3
import sys
from typing import Any

_library = ctypes.CDLL(_sqlite3.__file__)
_KEPT = (ctypes.c_char_p * 4)(b"json_each", b"json_tree", b"pragma_module_list", None)


class Connection(sqlite3.Connection):
    """A connection without FTS5."""

    def __init__(self, *given: Any, **named: Any) -> None:
        super().__init__(*given, **named)
        handle = ctypes.c_void_p.from_address(id(self) + object.__basicsize__)
        drop = _library.sqlite3_drop_modules
        drop.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
        assert drop(handle.value, _KEPT) == 0
        try:
            self.execute("CREATE VIRTUAL TABLE temp.probe USING fts5(a)")
        except sqlite3.OperationalError:
            return
        raise SystemExit("this connection still has FTS5")


_connect = sqlite3.connect


def connect(*given: Any, **named: Any) -> sqlite3.Connection:
    """Open a connection without FTS5."""
    opened: sqlite3.Connection = _connect(*given, **{"factory": Connection, **named})
    return opened


if __name__ == "__main__":
    sqlite3.connect = connect  # type: ignore[assignment]  # a module's function
    from mmem.__main__ import main

    sys.argv[0] = "mmem"
    main()
