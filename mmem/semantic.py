"""The model of the extra `mmem[semantic]`: small and static, it comes whole in wordllama's wheel.

A text's vector is the mean of its tokens' vectors. The wheel's two files, weights and tokenizer, are read from here,
and nothing of wordllama's own code runs: its loader looks for the tokenizer in a folder that the wheel doesn't have
and then fetches it from the network. Nothing is imported before a model is asked for.
"""

import os
from collections.abc import Iterable, Sequence
from functools import cache
from importlib import import_module
from typing import Any

SWITCH = "MMEM_SEMANTIC"  # the variable; `off` does without the extra where it is installed
_OFF = {"off", "0", "no", "false"}
DIMENSIONS = 256
SCALE = 320.0  # a component is stored as a whole number from -127 to 127: so many for 1.0, and none is above 0.4

_RECIPE = 1  # of how a vector is made of a text
_MOST = 2_000  # characters of a text; what is longer has no one meaning to be near to
_NAME = "l2_supercat_256"
_WEIGHTS = f"weights/{_NAME}.safetensors"
_TOKENIZER = "tokenizers/l2_supercat_tokenizer_config.json"
_MANY = 500  # texts at once that are worth unpacking all the weights, which takes 32 MB and 15 ms
_SAMPLES = 64  # rows of the weights that tell a model from another


def is_on() -> bool:
    """Tell whether the extra is installed and not switched off. This imports nothing of it."""
    return os.environ.get(SWITCH, "").strip().lower() not in _OFF and _files() is not None


@cache
def _files() -> tuple[str, str] | None:
    """Return the paths of the weights and the tokenizer."""
    from importlib.util import find_spec

    spec = find_spec("wordllama")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        weights, tokenizer = os.path.join(folder, _WEIGHTS), os.path.join(folder, _TOKENIZER)
        if os.path.isfile(weights) and os.path.isfile(tokenizer):
            return weights, tokenizer
    return None


def model() -> "Model | None":
    """Return the model, loaded once in a process; None where it is off, not installed, or can't be loaded."""
    return _load() if is_on() else None


@cache
def _load() -> "Model | None":
    files = _files()
    try:
        return None if files is None else Model(*files)
    except Exception:  # whatever is wrong with an extra, the search goes on without
        return None


class Model:
    """Turns texts into vectors of length 1; that of a text without tokens is zero."""

    def __init__(self, weights: str, tokenizer: str) -> None:
        """Map the weights into memory and read the tokenizer."""
        self._np = np = import_module("numpy")
        self._tokenizer = import_module("tokenizers").Tokenizer.from_file(tokenizer)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        shape, offset = _matrix(weights)
        self._weights = np.asarray(np.memmap(weights, dtype=np.float16, mode="r", offset=offset, shape=shape))
        self.name = f"wordllama {_NAME} {self._fingerprint()} {_RECIPE}"

    def _fingerprint(self) -> str:
        """Return what differs between versions of the weights."""
        from zlib import crc32

        sample = self._weights[:: max(1, len(self._weights) // _SAMPLES)]
        return f"{crc32(sample.tobytes()):08x}"

    def embed(self, texts: Sequence[str]) -> list[bytes]:
        """Return the vectors of texts, a signed byte for each component: `SCALE` times its value."""
        np = self._np
        if len(texts) >= _MANY and self._weights.dtype != np.float32:
            self._weights = self._weights.astype(np.float32)
        rows = np.stack([self._sum(ids) for ids in self._tokens(texts)])
        rows *= SCALE / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
        packed = np.clip(np.rint(rows), -127, 127).astype(np.int8).tobytes()
        return [packed[start : start + DIMENSIONS] for start in range(0, len(packed), DIMENSIONS)]

    def embed_words(self, words: Iterable[tuple[str, float]]) -> bytes:
        """Return the vector of weighted words, as 32-bit floats."""
        np = self._np
        texts, weights = zip(*words, strict=True)
        total = sum(weight * self._sum(ids) for weight, ids in zip(weights, self._tokens(texts), strict=True))
        vector: bytes = (total / max(float(np.linalg.norm(total)), 1e-9)).astype(np.float32).tobytes()
        return vector

    def _tokens(self, texts: Sequence[str]) -> list[list[int]]:
        shortened = [text[:_MOST].lower() for text in texts]
        return [one.ids for one in self._tokenizer.encode_batch(shortened, add_special_tokens=False)]

    def _sum(self, ids: list[int]) -> Any:
        return self._weights[ids].sum(axis=0, dtype=self._np.float32)


def _matrix(path: str) -> tuple[tuple[int, int], int]:
    """Return the shape of the one matrix in a safetensors file, and where in the file it begins.

    The format: the length of a JSON header in eight bytes, the header, the numbers. Raises `ValueError` for others.
    """
    import json

    with open(path, "rb") as file:
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
    tensors = [one for name, one in header.items() if name != "__metadata__"]
    if len(tensors) != 1 or tensors[0]["dtype"] != "F16" or tensors[0]["shape"][1:] != [DIMENSIONS]:
        raise ValueError(f"{path} isn't a matrix of {DIMENSIONS} columns of 16-bit floats")
    rows, columns = tensors[0]["shape"]
    return (rows, columns), 8 + length + tensors[0]["data_offsets"][0]
