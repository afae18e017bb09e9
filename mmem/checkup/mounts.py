"""What kind of file system a folder is on, and who else may be copying what lies in it."""

import os
import re
from typing import NamedTuple

TABLE = "/proc/mounts"  # Linux; no other system has it

_NETWORK = frozenset(
    "9p afs beegfs ceph cifs coda davfs glusterfs gfs2 lustre ncpfs nfs nfs4 ocfs2 orangefs smb2 smb3 smbfs".split()
)
_SHARED = frozenset("prl_fs vboxsf virtiofs vmhgfs fuse.grpcfuse fuse.osxfs fuse.vmhgfs-fuse".split())
_LOCAL_FUSE = frozenset(
    "bindfs cryfs encfs ext2 fuse-overlayfs gocryptfs mergerfs ntfs ntfs-3g securefs veracrypt zfs-fuse".split()
)
_SYNCED = (  # a folder's name, and whose it is
    (re.compile(r"dropbox( .*)?", re.IGNORECASE), "Dropbox"),
    (re.compile(r"onedrive( ?-.*)?", re.IGNORECASE), "OneDrive"),
    (re.compile(r"google ?drive.*|my drive", re.IGNORECASE), "Google Drive"),
    (re.compile(r"icloud ?drive|mobile documents", re.IGNORECASE), "iCloud"),
    (re.compile(r"cloudstorage", re.IGNORECASE), "a cloud service"),
    (re.compile(r"nextcloud", re.IGNORECASE), "Nextcloud"),
    (re.compile(r"owncloud", re.IGNORECASE), "ownCloud"),
    (re.compile(r"pcloud ?drive", re.IGNORECASE), "pCloud"),
)
_MARKS = {".stfolder": "Syncthing", ".dropbox": "Dropbox", ".dropbox.cache": "Dropbox"}  # in a synchronized folder
_ESCAPE = re.compile(r"\\([0-7]{3})")


class Mount(NamedTuple):
    """Where a file system is mounted, and its kind as the system calls it."""

    folder: str
    kind: str

    @property
    def distance(self) -> str | None:
        """Why other machines may write to it without this one's SQLite knowing; None where they can't."""
        if self.kind in _NETWORK:
            return "a network file system"
        if self.kind in _SHARED:
            return "shared with another machine's system"
        if self.kind.startswith("fuse.") and self.kind.removeprefix("fuse.") not in _LOCAL_FUSE:
            return "served by a program, perhaps over a network"
        return None


def mount_of(path: str) -> Mount | None:
    """Return the mount that a path lies on; None where the system doesn't tell."""
    try:
        with open(TABLE, encoding="utf-8", errors="surrogateescape") as table:
            mounts = [line.split(" ") for line in table]
    except OSError:
        return None
    real, best = os.path.realpath(path), None
    for mount in mounts:
        if len(mount) < 3:
            continue
        folder = _ESCAPE.sub(lambda octal: chr(int(octal[1], 8)), mount[1])
        below = real == folder or real.startswith(folder.rstrip("/") + "/")
        if below and (best is None or len(folder) >= len(best.folder)):  # of two at one place the later one is on top
            best = Mount(folder, mount[2])
    return best


def synchronized_by(path: str) -> str | None:
    """Return whose program copies a folder to other machines, told by what is on its path; None for nobody's."""
    folder, home = os.path.realpath(path), os.path.realpath(os.path.expanduser("~"))
    while True:
        name = os.path.basename(folder)
        owners = [owner for pattern, owner in _SYNCED if pattern.fullmatch(name)]
        if folder != home:  # where programs keep their settings under the same names
            owners += [owner for mark, owner in _MARKS.items() if os.path.exists(os.path.join(folder, mark))]
        if owners:
            return owners[0]
        if os.path.dirname(folder) == folder:
            return None
        folder = os.path.dirname(folder)
