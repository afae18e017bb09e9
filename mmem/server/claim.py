"""Taking the wire: done before anything is imported that might print."""

import os
from typing import NamedTuple


class Wire(NamedTuple):
    """The descriptors that frames come in and go out by."""

    into: int
    out: int


def claim() -> Wire:
    """Move the wire off descriptors 0 and 1, for good, so that no stray print and no child process can touch it.

    Descriptor 0 becomes the null device and descriptor 1 what standard error is.
    """
    try:
        os.fstat(2)
    except OSError:  # who started us has closed it, and what is opened next would take its place: the wire
        os.open(os.devnull, os.O_WRONLY)
    wire = Wire(os.dup(0), os.dup(1))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return wire
