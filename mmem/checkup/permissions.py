"""Who may read a file or a folder, and whose it is."""

import os
import shlex
import stat
from collections.abc import Iterable, Sequence
from contextlib import suppress

from mmem.checkup.remarks import About, Findings, Mend

_OTHERS = 0o077


def private(
    about: About, paths: Sequence[str], *, mode: int, folder: str | None = None, may_mend: bool = True
) -> Findings:
    """Look whether only its owner may use a file or folder, and what belongs to it, and whose they are.

    They are to be of the owner of `folder`, or of whoever runs this. Windows has other rules, by which what lies in
    a person's folder is that person's.
    """
    if os.name != "posix":
        return
    found = {}
    for path in paths:
        with suppress(OSError):
            found[path] = os.stat(path)
    owner = os.geteuid() if folder is None else os.stat(folder).st_uid
    for path, status in found.items():
        if status.st_uid != owner:
            whose = "another user" if folder is None else "another user than its folder"
            message = f"{path} belongs to {whose} (uid {status.st_uid}): what one writes, the other may not read"
            yield about.warn("owner", message, f"run mmem as that user, or sudo chown {owner} {quoted([path])}")
    loose = [path for path, status in found.items() if stat.S_IMODE(status.st_mode) & _OTHERS]
    if loose:
        mine = may_mend and all(found[path].st_uid == os.geteuid() for path in loose)
        modes = ", ".join(f"{path} has the mode {stat.S_IMODE(found[path].st_mode):04o}" for path in loose)
        by_hand = f"chmod {mode:04o} {quoted(loose)}"
        remedy = f"mmem doctor --fix, or {by_hand}" if mine else by_hand
        message = f"other users can use it: {modes}"
        yield about.warn("permissions", message, remedy, _closing(loose, mode) if mine else None)


def quoted(paths: Iterable[str]) -> str:
    """Return paths as a shell takes them."""
    return " ".join(map(shlex.quote, paths))


def _closing(paths: Sequence[str], mode: int) -> Mend:
    def close() -> str:
        for path in paths:
            with suppress(FileNotFoundError):  # a log may go at any time
                os.chmod(path, mode)
        return f"{', '.join(paths)}: other users can't use it any more (mode {mode:04o})"

    return close
