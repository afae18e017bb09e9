"""Names of categories: which are valid, and which are near."""

import re

from mmem.errors import InvalidArguments

MAX_CATEGORY = 200
_CATEGORY = re.compile(r"[a-z0-9_-]+")
# Windows opens a device for these, whatever the ending: "Naming Files, Paths, and Namespaces".
_DEVICES = frozenset(["con", "nul", "aux", "prn", *(f"{port}{n}" for port in ("com", "lpt") for n in "0123456789")])


def category_fault(name: str) -> str | None:
    """Say why a text can't be a category's name, or None."""
    if len(name) > MAX_CATEGORY:
        return f"it has {len(name)} characters; at most {MAX_CATEGORY} are allowed"
    if not _CATEGORY.fullmatch(name):
        return "only lowercase letters a-z, digits, - and _ are allowed"
    if name in _DEVICES:
        return "Windows reserves this name for a device"
    return None


def require_category(name: str, where: str = "") -> str:
    """Return the name if it is a valid category name; raise `InvalidArguments` otherwise.

    `where` says where the name comes from, such as `DEFAULT_CATEGORY`.
    """
    if fault := category_fault(name):
        shown = ascii(name if len(name) <= 60 else name[:57] + "...")
        origin = f" (from {where})" if where else ""
        plain = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")
        near = did_you_mean([plain] if len(name) <= 60 and category_fault(plain) is None else [])
        raise InvalidArguments(f"category {shown}{origin} isn't a valid name: {fault}{near}", {"category": name[:300]})
    return name


def nearest(word: str, possibilities: list[str], count: int = 3) -> list[str]:
    """Return the possibilities nearest to a word, the nearest first; case and separators count little."""
    from difflib import get_close_matches

    from mmem.values import twin_key

    by_key: dict[str, list[str]] = {}
    for possibility in possibilities:
        by_key.setdefault(twin_key(possibility), []).append(possibility)
    keys = get_close_matches(twin_key(word), list(by_key), n=count, cutoff=0.6)
    return [name for key in keys for name in by_key[key] if name != word][:count]


def did_you_mean(near: list[str]) -> str:
    """Return `; did you mean 'a' or 'b'?`, or nothing where nothing is near."""
    if not near:
        return ""
    return "; did you mean " + " or ".join(f"'{name}'" for name in near) + "?"
