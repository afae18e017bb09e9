"""Where the pages lie that came with mmem."""

from pathlib import Path

import mmem
from mmem.manual.topics import Asked

_NEAREST = 6  # folders above the package: `lib/python3.11/site-packages` is three below a prefix


def shipped(asked: Asked) -> Path | None:
    """Return the file of a page in a checkout's `man` or an installation's `share/man`, or None."""
    package = Path(mmem.__file__).resolve().parent
    places = [package.parent / "man"]
    places += [parent / "share" / "man" / f"man{asked.number}" for parent in list(package.parents)[:_NEAREST]]
    return next((file for place in places if (file := place / asked.file).is_file()), None)
