"""What a search text means: FTS5's syntax where it was clearly meant, plain words and characters otherwise.

No text makes a query fail: words are quoted for FTS5, and what its tokenizer would drop (the `++` of `C++`) is
looked for literally by the search.
"""

import re
import sqlite3
import unicodedata
from collections.abc import Sequence
from functools import cache, cached_property, lru_cache
from itertools import pairwise
from typing import NamedTuple

from mmem.tokens import (
    TOKENIZER,
    folded,
    forms,
    has_token,
    is_token_character,
    is_unspaced,
    pieces,
    says_little,
    spaced,
    tokens,
)

_MAX_TERMS = 64
_MAX_EXPLICIT = 1_000  # characters; FTS5's parser overflows on deep nesting
_MAX_LITERAL = 500  # characters looked for literally: LIKE takes up to text times pattern, and 50,000 bytes at most
_SHORT = 3  # characters that are one word in a script without spaces
_COLUMNS = "entity_name, entity_type, observation_content"
_SYNONYMS = {"name": "entity_name", "type": "entity_type", "text": "observation_content"}

# Syntax counts as meant only in these shapes; `a-b`, `f(x)` and `what?` are just text.
_COLUMN = r"(?:entity_name|entity_type|observation_content|name|type|text)"
_MEANT = re.compile(
    r"(?:^|[\s()])(?:AND|OR|NOT)(?:[\s()]|$)"
    r"|\bNEAR\s*\("
    r'|^\s*"[^"]+"\s*\*?\s*$'
    r'|(?:^|[\s(])"[^"]+"\*?(?=[\s)]|$)'
    r"|(?:^|[\s(])\w+\*(?=[\s)]|$)"
    rf"|(?:^|[\s(])-?\{{?\s*{_COLUMN}\b[^:\s]*\s*:\s*\S"
)
_QUOTED = re.compile(r'"(?P<phrase>[^"]+)"')
_FILTER = re.compile(r'"[^"]*"|(?<![\w"])(?P<column>name|type|text)(?=\s*:|[^:"()]*\}\s*:)')
# A word with signs in it, such as `node.js`, which FTS5's syntax wants in quotes.
_SIGNS = re.compile(
    r'"[^"]*"|(?P<before>\b(?:name|type|text)\s*:\s*)?(?P<word>[^\s"(){}*:,]*\w[^\s"(){}*:,]*)(?=$|[\s)])'
)
_BARE = re.compile(
    r'"[^"]*"\s*\*?|\{[^}]*\}|,\s*\d+\s*\)|\b(?:AND|OR)\b|\bNOT\s+\w+|\w+(?=\s*[*:(])|(?P<bare>\w+)(?!\w)'
)  # what isn't a bare word comes first
_ASCII_SIGN = re.compile(r"[^A-Za-z0-9\s]")
_CAMEL = re.compile(r"[a-z0-9][A-Z]")
_HUMP = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_A-Za-z]+")


@cache
def _judge() -> sqlite3.Connection:
    """Return an empty index that SQLite's own parser judges expressions on."""
    conn = sqlite3.connect(":memory:", check_same_thread=False)
    conn.execute(f"CREATE VIRTUAL TABLE judge USING fts5({_COLUMNS}, tokenize='{TOKENIZER}')")
    return conn


def is_valid(expression: str) -> bool:
    """Tell whether FTS5 accepts an expression for the index's columns."""
    try:
        _judge().execute("SELECT 1 FROM judge WHERE judge MATCH ?", (expression,)).fetchone()
    except sqlite3.Error:
        return False
    return True


def quoted(text: str) -> str:
    """Return a text as an FTS5 string: a word, or a phrase."""
    return '"' + text.replace('"', '""') + '"'


def _quoted_signs(match: re.Match[str]) -> str:
    word = match["word"]
    if word is None or not _ASCII_SIGN.search(word) or word.startswith("-") or word.replace("_", "a").isalnum():
        return match[0]
    return (match["before"] or "") + quoted(word)


class Term(NamedTuple):
    """One thing that was typed: FTS5 expressions, any of which counts, and the one for the beginning of a word.

    `inside` is what it is in a text without spaces, where the index has no words; a piece of one is nothing else.
    """

    any_of: tuple[str, ...]
    beginning: str | None
    inside: str | None = None

    @property
    def expression(self) -> str:
        """The term as whole words, with their other forms; empty for a piece."""
        return _any(self.any_of)

    @property
    def widest(self) -> str:
        """The same, and as the beginning of a word."""
        return _widest(self)


def _any(expressions: Sequence[str]) -> str:
    return "".join(expressions) if len(expressions) < 2 else f"({' OR '.join(expressions)})"


@lru_cache(maxsize=1_000)
def _widest(term: Term) -> str:
    """Return what a term may be; the forms that begin as it does needn't be said again."""
    if term.beginning is None:
        return term.expression
    first, *others = term.any_of
    return _any([first, *(one for one in others if not one.startswith(term.beginning[:-2])), term.beginning])


class Query:
    """A search text, and what it means to the index."""

    def __init__(self, text: str) -> None:
        """Read a text; `""` and blanks have no words."""
        self.text = text.strip()
        self._chunks = list(dict.fromkeys(chunk for chunk in self.text.split() if has_token(chunk)))[:_MAX_TERMS]

    @cached_property
    def explicit(self) -> str | None:
        """The text as FTS5 syntax, where that was clearly meant; `name:`, `type:` and `text:` name the columns."""
        text = self.text
        if len(text) > _MAX_EXPLICIT or text.startswith("*") or not _MEANT.search(text):  # `*` is a command to FTS5
            return None
        for meant in (text, _SIGNS.sub(_quoted_signs, text)):
            expression = _FILTER.sub(lambda match: _SYNONYMS.get(match["column"] or "", match[0]), meant)
            if is_valid(expression):
                return expression
        return None

    @property
    def only_joins(self) -> bool:
        """Whether its syntax is no more than AND and OR between words: plain words say nearly the same."""
        return not re.search(r'\bNOT\b|\bNEAR\b|["*:{}]', self.text)

    @property
    def without_syntax(self) -> "Query":
        """The words inside FTS5's syntax, as plain words."""
        plain = re.sub(r'\bNOT\s+("[^"]*"|\S+)|\b(?:AND|OR|NEAR)\b|\bNEAR\s*(?=\()|,\s*\d+\s*\)', " ", self.text)
        plain = _FILTER.sub(lambda match: match[0] if match["column"] is None else "", plain)
        return Query(re.sub(r'["(){}*:^]|\s:\s', " ", plain))

    @property
    def explicit_beginnings(self) -> str | None:
        """The same with bare words as the beginnings of words: `name:auth*` for `name:auth`; None if it has none."""
        if self.explicit is None:
            return None
        wider = _BARE.sub(lambda match: match[0] + ("*" if match["bare"] else ""), self.explicit)
        return wider if wider != self.explicit and is_valid(wider) else None

    @property
    def phrase(self) -> str:
        """Its words as they follow each other, the last one perhaps cut off."""
        return quoted(" ".join(tokens(self.text)[:_MAX_TERMS])) + "*"

    @property
    def unquoted(self) -> "Query":
        """The query inside the quotes, where the text is one quoted phrase; else itself."""
        quoted = _QUOTED.fullmatch(self.text)
        return Query(quoted["phrase"]) if quoted and quoted["phrase"].strip() else self

    @property
    def words(self) -> list[str]:
        """The chunks between spaces that hold a token."""
        return self._chunks

    @cached_property
    def telling(self) -> list[str]:
        """Every word that says something, or every word where none does."""
        return [chunk for chunk in self._chunks if not all(map(says_little, tokens(chunk)))] or self._chunks

    @cached_property
    def terms(self) -> list[Term]:
        """What to look for: the telling words, two of them that stand together also as one, as in `UserService`."""
        terms = [_term(chunk) for chunk in self.telling]
        joined: list[list[str]] = [[] for _ in terms]
        for place, (one, other) in enumerate(pairwise(self.telling)):
            if len(tokens(one)) == len(tokens(other)) == 1:
                both = quoted(tokens(one)[0] + tokens(other)[0])
                joined[place].append(both)
                joined[place + 1].append(both)
        return [
            term._replace(any_of=(*term.any_of, *more)) if more else term
            for term, more in zip(terms, joined, strict=True)
        ]

    @cached_property
    def parts(self) -> list[Term]:
        """What to look for in place of the terms where a script has no spaces: pieces, and the words between them."""
        wide = unicodedata.normalize("NFKC", self.text[:_MAX_EXPLICIT])
        words = [chunk for chunk in spaced(wide).split() if not all(map(says_little, tokens(chunk)))]
        runs = [Term((), None, piece) for piece in pieces(wide.lower())]
        return [*(_term(word)._replace(inside=word.lower()) for word in dict.fromkeys(words)), *runs][:_MAX_TERMS]

    @property
    def whole(self) -> Term:
        """The text as it was typed, as what to look for in texts without spaces."""
        return Term((), None, unicodedata.normalize("NFKC", self.text).lower())

    @property
    def marked_terms(self) -> list[Term]:
        """What to highlight: the terms, or the words inside FTS5's syntax but those that must not be there."""
        if self.explicit is None:
            return self.terms
        return self.without_syntax.terms

    @cached_property
    def joined(self) -> str | None:
        """Two or three words as one, as `user service` stands in `UserService`; None for others."""
        words = [tokens(chunk) for chunk in self._chunks]
        if not 2 <= len(words) <= 3 or any(len(one) != 1 for one in words):
            return None
        return quoted("".join(one[0] for one in words)) + "*"

    @property
    def has_long_word(self) -> bool:
        """Whether a run of two token characters stands in it."""
        return any(is_token_character(a) and is_token_character(b) for a, b in pairwise(self.text))

    @property
    def is_one_word(self) -> bool:
        """Whether it is a single chunk without spaces, such as `C++` or `user-service`."""
        return len(self.text.split()) == 1

    @property
    def may_be_part_of_word(self) -> bool:
        """Whether it is rather a part of words than one: a single letter, or the end of a camelCase name."""
        return len(self.text) == 1 or (self.is_one_word and _CAMEL.search(self.text) is not None)

    @cached_property
    def loses_characters(self) -> bool:
        """Whether the tokenizer would drop something that was typed."""
        if self.text.isascii():
            return _ASCII_SIGN.search(self.text) is not None
        composed = unicodedata.normalize("NFC", self.text)  # or a decomposed accent would count as lost
        return any(not (is_token_character(c) or c.isspace()) for c in composed)

    @cached_property
    def is_unspaced(self) -> bool:
        """Whether it holds a script without spaces between words."""
        return not self.text.isascii() and is_unspaced(unicodedata.normalize("NFKC", self.text))

    @property
    def is_one_unspaced_word(self) -> bool:
        """Whether it is one chunk in such a script, and too short for several words."""
        return self.is_one_word and self.is_unspaced and len(unicodedata.normalize("NFC", self.text)) <= _SHORT

    @property
    def spellings(self) -> list[str]:
        """The text in the forms that LIKE, which folds only ASCII's case, can't see as equal."""
        text = self.text[:_MAX_LITERAL]
        if text.isascii():
            return [text]
        spelled = (
            text,
            unicodedata.normalize("NFC", text),
            unicodedata.normalize("NFD", text),
            text.lower(),
            text.upper(),
            text.capitalize(),
        )
        return list(dict.fromkeys(spelled))


@lru_cache(maxsize=1_000)
def _term(chunk: str) -> Term:
    """Return what one chunk between spaces means: a word with its forms, or a phrase and its parts."""
    found = tokens(chunk)[:_MAX_TERMS]
    wide = unicodedata.normalize("NFKC", chunk)
    if len(found) > 1:
        parts = [
            part for token in dict.fromkeys(found) if len(token) > 1 and not says_little(token) for part in forms(token)
        ]
        return Term((quoted(" ".join(found)), *map(quoted, parts)), quoted(" ".join(found)) + "*")
    word = found[0]
    any_of = [quoted(form) for form in forms(word)]
    humps = _HUMP.findall(word)
    if len(humps) > 1:
        any_of.append(quoted(" ".join(humps)))
    if wide != chunk and has_token(wide):
        any_of.append(quoted(" ".join(tokens(wide))))
    whole = wide if has_token(wide) and len(tokens(wide)) == 1 else word
    return Term(tuple(any_of), quoted(whole) + "*" if len(folded(whole)) > 1 else None)


def like_pattern(text: str) -> str:
    r"""Return the LIKE pattern (with `ESCAPE '\'`) for what contains a text."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
