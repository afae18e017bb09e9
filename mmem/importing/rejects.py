"""The records that an import kept aside, byte for byte in a file beside the one that they are from."""

import os
import tempfile
from collections.abc import Iterator
from typing import IO

from mmem.errors import Storage
from mmem.importing.pieces import Piece


class Rejects:
    """Collects records by the file that they are from; nothing stands anywhere before `write`."""

    def __init__(self) -> None:
        """Begin with none."""
        self._files: dict[str, IO[bytes]] = {}

    def add(self, name: str, piece: Piece) -> None:
        """Keep a record's bytes."""
        if name not in self._files:
            self._files[name] = tempfile.TemporaryFile()  # noqa: SIM115  # closed by `close`
        self._files[name].write(piece.raw.rstrip(b"\r\n") + b"\n")

    def close(self) -> None:
        """Let go of everything."""
        for file in self._files.values():
            file.close()

    def write(self) -> list[str]:
        """Write the files and return their paths; one that is there already is left as it is. Raises `Storage`."""
        made: list[str] = []
        try:
            return [_written(name, file, made) for name, file in self._files.items()]
        except BaseException:
            for path in made:
                os.unlink(path)
            raise


def _written(name: str, file: IO[bytes], made: list[str]) -> str:
    wanted = "stdin" if name == "standard input" else name
    for path in _paths(wanted):
        try:
            if os.path.lexists(path):
                if _holds(path, file):
                    return path
                continue
            file.seek(0)
            with open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as kept:
                made.append(path)
                while some := file.read(1 << 20):
                    kept.write(some)
                kept.flush()
                os.fsync(kept.fileno())
            return path
        except OSError as error:
            raise Storage(
                f"{path} can't be written ({(error.strerror or str(error)).lower()}), so nothing was imported: "
                "the records that are kept aside belong there",
                {"path": path},
            ) from None
    raise AssertionError


def _paths(name: str) -> Iterator[str]:
    yield f"{name}.rejects.jsonl"
    number = 2
    while True:
        yield f"{name}.rejects-{number}.jsonl"
        number += 1


def _holds(path: str, file: IO[bytes]) -> bool:
    """Tell whether a file holds just these bytes: the same import was done before."""
    if not os.path.isfile(path):
        return False
    file.seek(0)
    with open(path, "rb") as there:
        while some := file.read(1 << 20):
            if there.read(len(some)) != some:
                return False
        return not there.read(1)
