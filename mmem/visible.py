"""Text that is shown to a person: control characters are never sent raw."""


def visible(text: str, keep: str = "") -> str:
    """Return the text with control characters as pictures or escapes, so that no terminal obeys them."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else _picture(c) for c in text)


def _picture(character: str) -> str:
    code = ord(character)
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "\u2421"
    if character in _HARMLESS:
        return character
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


# Not "printable" for Python, but only spaces or joiners to a terminal.
_HARMLESS = frozenset(
    "\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u200b\u200c\u200d\u202f\u205f\u3000\ufeff\u00ad"
)


def plural(number: int, one: str, many: str = "") -> str:
    """Return `1 relation` or `2 relations`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
