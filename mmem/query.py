"""What a search text means: FTS5's syntax where it was clearly meant, plain words and characters otherwise.

No text makes a query fail: words are quoted for FTS5, and what its tokenizer would drop (the `++` of `C++`) is
looked for literally by the search.
"""

import re
import sqlite3
import unicodedata
from functools import cache
from itertools import pairwise

_MAX_TERMS = 64
_MAX_EXPLICIT = 1_000  # characters; FTS5's parser overflows on deep nesting
_MAX_LITERAL = 500  # characters looked for literally: LIKE takes up to text times pattern, and 50,000 bytes at most
_COLUMNS = "entity_name, entity_type, observation_content"
_TOKENIZER = "unicode61 remove_diacritics 2"

# Syntax counts as meant only in these shapes; `a-b`, `f(x)` and `what?` are just text.
_MEANT = re.compile(
    r"(?:^|[\s()])(?:AND|OR|NOT)(?:[\s()]|$)"
    r"|\bNEAR\s*\("
    r'|^\s*"[^"]+"\s*\*?\s*$'
    r'|(?:^|[\s(])"[^"]+"\*?(?=[\s)]|$)'
    r"|(?:^|[\s(])\w+\*(?=[\s)]|$)"
    r"|(?:^|[\s(])\{?\s*(?:entity_name|entity_type|observation_content)\b[^:]*:"
)

_QUOTED = re.compile(r'"(?P<phrase>[^"]+)"')

# Scripts that are written without spaces: a word inside a run is no token of its own.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003134f]"
)


def _is_token_character(character: str) -> bool:
    """Tell what unicode61 keeps: letters, numbers and private use (see FTS5's section 4.3.1)."""
    category = unicodedata.category(character)
    return category[0] in "LN" or category == "Co"


def has_token(text: str) -> bool:
    """Tell whether the tokenizer finds a word in a text."""
    return any(map(_is_token_character, text))


@cache
def _judge() -> sqlite3.Connection:
    """Return an empty index that SQLite's own parser judges expressions on."""
    conn = sqlite3.connect(":memory:", check_same_thread=False)
    conn.execute(f"CREATE VIRTUAL TABLE judge USING fts5({_COLUMNS}, tokenize='{_TOKENIZER}')")
    return conn


def is_valid(expression: str) -> bool:
    """Tell whether FTS5 accepts an expression for the index's columns."""
    try:
        _judge().execute("SELECT 1 FROM judge WHERE judge MATCH ?", (expression,)).fetchone()
    except sqlite3.Error:
        return False
    return True


def _quoted(text: str) -> str:
    return '"' + text.replace('"', '""') + '"'


class Query:
    """A search text and the FTS5 expressions that it stands for, from the strictest to the loosest."""

    def __init__(self, text: str) -> None:
        """Read a text; `""` and blanks have no words."""
        self.text = text.strip()
        self._words = [word for word in dict.fromkeys(self.text.split()) if has_token(word)][:_MAX_TERMS]

    @property
    def explicit(self) -> str | None:
        """The text itself, where it is FTS5 syntax that was clearly meant."""
        short = len(self.text) <= _MAX_EXPLICIT
        return self.text if short and _MEANT.search(self.text) and is_valid(self.text) else None

    @property
    def unquoted(self) -> "Query":
        """The query inside the quotes, where the text is one quoted phrase; else itself."""
        quoted = _QUOTED.fullmatch(self.text)
        return Query(quoted["phrase"]) if quoted and quoted["phrase"].strip() else self

    @property
    def words(self) -> list[str]:
        """The words in it, each with at least one token."""
        return self._words

    @property
    def all_words(self) -> str | None:
        """Every word, each as the beginning of a word; None where there are none."""
        return " AND ".join(f"{_quoted(word)}*" for word in self._words) or None

    @property
    def any_word(self) -> str | None:
        """At least one of the words; None where there are none."""
        return " OR ".join(f"{_quoted(word)}*" for word in self._words) or None

    @property
    def has_long_word(self) -> bool:
        """Whether a run of two token characters stands in it."""
        return any(_is_token_character(a) and _is_token_character(b) for a, b in pairwise(self.text))

    @property
    def is_one_word(self) -> bool:
        """Whether it is a single chunk without spaces, such as `C++` or `user-service`."""
        return len(self.text.split()) == 1

    @property
    def loses_characters(self) -> bool:
        """Whether the tokenizer would drop something that was typed."""
        composed = unicodedata.normalize("NFC", self.text)  # or a decomposed accent would count as lost
        return any(not (_is_token_character(c) or c.isspace()) for c in composed)

    @property
    def is_unspaced(self) -> bool:
        """Whether it holds a script without spaces between words."""
        return _UNSPACED.search(self.text) is not None

    @property
    def spellings(self) -> list[str]:
        """The text in the forms that LIKE, which folds only ASCII's case, can't see as equal."""
        text = self.text[:_MAX_LITERAL]
        if text.isascii():
            return [text]
        forms = (
            text,
            unicodedata.normalize("NFC", text),
            unicodedata.normalize("NFD", text),
            text.lower(),
            text.upper(),
            text.capitalize(),
        )
        return list(dict.fromkeys(forms))


def like_pattern(text: str) -> str:
    r"""Return the LIKE pattern (with `ESCAPE '\'`) for what contains a text."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
