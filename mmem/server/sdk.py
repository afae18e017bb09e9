"""Importing the SDK, which takes most of a server's start."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def quickly_imported() -> Iterator[None]:
    """Import what uses pydantic within: its hundreds of models are built when they are first used, not now.

    `defer_build` is pydantic's own setting; one thread uses the models, as a deferred build needs.
    """
    from pydantic import BaseModel, ConfigDict

    before = BaseModel.model_config
    BaseModel.model_config = ConfigDict(defer_build=True)
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        BaseModel.model_config = before
        if collecting:
            gc.enable()
