"""The base directory: whether it is a good place for databases."""

import os
import shutil
from contextlib import suppress

from mmem.checkup.mounts import mount_of, synchronized_by
from mmem.checkup.permissions import private, quoted
from mmem.checkup.remarks import About, Findings

_LITTLE = 100_000_000  # bytes free
_ANOTHER = "choose another with --base-dir or MEMORY_BASE_DIR"


def folder(base_dir: str, *, is_ours: bool) -> Findings:
    """Look at the base directory; `is_ours` tells whether nothing else lies in it, so that it may be closed."""
    about = About("base directory", base_dir)
    if not os.path.lexists(base_dir):
        yield from _absent(about, base_dir)
        return
    if not os.path.isdir(base_dir):
        what = "is a link to what isn't there" if os.path.islink(base_dir) else "isn't a folder"
        yield about.problem("base_directory", f"{base_dir} {what}", _ANOTHER)
        return
    wrong = [*_access(about, base_dir), *private(about, [base_dir], mode=0o700, may_mend=is_ours)]
    wrong += _place(about, base_dir)
    if os.path.islink(base_dir):
        yield about.info("link", f"{base_dir} is a link to {os.path.realpath(base_dir)}")
    yield from wrong
    if not wrong:
        mount, free = mount_of(base_dir), shutil.disk_usage(base_dir).free
        kind = f" on {mount.kind}" if mount else ""
        yield about.ok("base_directory", f"{base_dir} is yours alone and writable; {size(free)} free{kind}")


def _absent(about: About, base_dir: str) -> Findings:
    parent = os.path.dirname(base_dir)
    while not os.path.lexists(parent):
        parent = os.path.dirname(parent)
    if os.path.isdir(parent) and os.access(parent, os.W_OK | os.X_OK):
        yield about.info("base_directory", f"{base_dir} isn't there yet", "the first write makes it")
    else:
        yield about.problem("base_directory", f"{base_dir} isn't there and can't be made in {parent}", _ANOTHER)


def _access(about: About, base_dir: str) -> Findings:
    if not os.access(base_dir, os.R_OK | os.X_OK):
        yield about.problem("base_directory", f"{base_dir} can't be read: permission denied", _ANOTHER)
    elif not os.access(base_dir, os.W_OK):
        message = f"{base_dir} can't be written to: categories can be read, not changed"
        yield about.warn("writable", message, f"chmod u+w {quoted([base_dir])}, or {_ANOTHER}")


def _place(about: About, base_dir: str) -> Findings:
    mount = mount_of(base_dir)
    if mount is not None and (distance := mount.distance):
        message = f"{base_dir} is on {mount.folder} ({mount.kind}), {distance}: SQLite's locks and log may fail there"
        yield about.warn("file_system", message, f"{_ANOTHER}, on a disk of this machine")
    if owner := synchronized_by(base_dir):
        message = f"{base_dir} lies in a folder that {owner} copies, also in the middle of a write: that breaks files"
        yield about.warn("synchronized", message, f"{_ANOTHER}, and let mmem backup write into this one")
    with suppress(OSError):
        free = shutil.disk_usage(base_dir).free
        if free < _LITTLE:
            yield about.warn("space", f"only {size(free)} are free for {base_dir}", "make room")


def size(count: int) -> str:
    """Return a number of bytes as a person reads it: `1.5 GB`."""
    number, units = float(count), ["bytes", "kB", "MB", "GB", "TB"]
    while number >= 999.5 and len(units) > 1:
        number, units = number / 1_000, units[1:]
    return f"{number:.1f} {units[0]}" if units[0] != "bytes" and number < 10 else f"{number:.0f} {units[0]}"
