"""The key that names share which a person could take for each other. Light, since TAB asks for it."""

import unicodedata


def twin_key(name: str) -> str:
    """Return what near twins share: NFKC, case folded, without spaces, `_` and `-`."""
    if name.isascii():
        name = name.lower()
    else:
        name = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold()).casefold()
    return name.replace(" ", "").replace("_", "").replace("-", "")
