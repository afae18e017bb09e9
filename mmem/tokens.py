"""Words as the index sees them: FTS5's unicode61 tokens, the forms of English words, and words that say little.

Word forms are made when a query is read, not when a text is stored: an index of stems would break searches for the
beginning of a word, and the predecessor's searches on our files.
"""

import re
import sqlite3
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cache, lru_cache

TOKENIZER = "unicode61 remove_diacritics 2"

# Words that nearly every question has and that tell nothing about what is asked for.
STOP_WORDS = frozenset(
    "a about after again all also am an and any are as at be because been before being between both but by can could "
    "did do does doing done down during each ever few for from further get got had has have having he her here hers "
    "him his how i if in into is it its just let like ll many may me might more most much must my no nor not now of "
    "off on once only or other our ours out over own re s same shall she should since so some such t than that the "
    "their theirs them then there these they this those through to too under until up us ve very was we were what "
    "when where which while who whom whose why will with would you your yours d m".split()
)

# What English adds to a stem; SQLite's own stemmer says which of these are words of the same stem.
_ENDINGS = tuple("s es ed ing ings er ers ly ion ions ation ations ate ates ated ating ize izes ized izing".split())
_AFTER_E = tuple("e es ed er ers ely ement".split())
_FOR_I = tuple("y ies ied ier iest ily iness ying yings ys yed yer yers".split())
_FOR_E = tuple("ed er ers ing ings ion ions able ement".split())
_DOUBLED = tuple("ed ing ings er ers".split())
_DOUBLES = re.compile("[aeiou][bdfglmnprtz]$")  # what may double its last letter: `stopped`, `controlled`
_INFLECTIONS = ("s", "es", "ed", "ing", "ings")
_LEAST = 4  # letters of a word that others are derived from; a shorter one is only inflected

# Nouns and verbs of everyday whose forms no rule makes.
_IRREGULAR = {
    word: group
    for group in map(
        str.split,
        (
            "become became, begin began begun, bite bit bitten, blow blew blown, break broke broken, bring brought, "
            "build built, buy bought, catch caught, child children, choose chose chosen, come came, deal dealt, "
            "dig dug, draw drew drawn, dream dreamt, drink drank drunk, drive drove driven, eat ate eaten, "
            "fall fell fallen, feed fed, feel felt, fight fought, find found, fly flew flown, foot feet, "
            "forget forgot forgotten, forgive forgave forgiven, freeze froze frozen, give gave given, go went gone, "
            "grow grew grown, hang hung, hear heard, hide hid hidden, hold held, keep kept, knife knives, "
            "know knew known, lay laid, lead led, leaf leaves, leave left, lend lent, life lives, lose lost, man men, "
            "make made, mean meant, meet met, mouse mice, pay paid, person people, ride rode ridden, ring rang rung, "
            "rise rose risen, run ran, say said, see saw seen, seek sought, sell sold, send sent, shake shook shaken, "
            "shine shone, shoot shot, show shown, sing sang sung, sink sank sunk, sit sat, sleep slept, "
            "speak spoke spoken, spend spent, stand stood, steal stole stolen, stick stuck, swear swore sworn, "
            "sweep swept, swim swam swum, take took taken, teach taught, tear tore torn, tell told, think thought, "
            "throw threw thrown, tooth teeth, understand understood, wake woke woken, wear wore worn, wife wives, "
            "win won, woman women, write wrote written"
        ).split(","),
    )
    for word in group
}

# Scripts that are written without spaces, or with words glued to what belongs to them: no word is a token of its own.
_HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003134f"
_HIRAGANA = "\u3041-\u309f"
_SYLLABLES = f"{_HIRAGANA}\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uac00-\ud7af"  # with Katakana and Korean
_LETTERS = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
_RUN = re.compile(f"[{_HAN}{_SYLLABLES}{_LETTERS}]+")
_IS_HAN = re.compile(f"[{_HAN}]")
_IS_LETTER = re.compile(f"[{_LETTERS}]")
_IS_HIRAGANA = re.compile(f"[{_HIRAGANA}]+")

_ASCII_WORD = re.compile(r"[A-Za-z0-9]+")


def is_token_character(character: str) -> bool:
    """Tell what unicode61 keeps: letters, numbers and private use (see FTS5's section 4.3.1)."""
    category = unicodedata.category(character)
    return category[0] in "LN" or category == "Co"


def has_token(text: str) -> bool:
    """Tell whether the tokenizer finds a word in a text."""
    if text.isascii():
        return _ASCII_WORD.search(text) is not None
    return any(map(is_token_character, text))


def tokens(text: str) -> list[str]:
    """Return the words that unicode61 finds in a text; marks belong to the letter before them."""
    if text.isascii():
        return _ASCII_WORD.findall(text)
    return [token for _, _, token in tokens_at(text)]


def tokens_at(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield the words of a text with where each starts and ends."""
    start = None
    for index, character in enumerate(text):
        if is_token_character(character) or (start is not None and unicodedata.category(character)[0] == "M"):
            start = index if start is None else start
        elif start is not None:
            yield start, index, text[start:index]
            start = None
    if start is not None:
        yield start, len(text), text[start:]


def folded(token: str) -> str:
    """Return a word without case and accents, as the index has it."""
    if token.isascii():
        return token.lower()
    decomposed = unicodedata.normalize("NFD", token.lower())
    return "".join(character for character in decomposed if unicodedata.category(character) != "Mn")


def folded_text(text: str) -> str:
    """Return a text without case, accents, width and differences of normal form, for a last comparison."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKC", text).casefold())
    return "".join(character for character in decomposed if unicodedata.category(character) != "Mn")


def is_unspaced(text: str) -> bool:
    """Tell whether a text has a word in a script that is written without spaces."""
    return _RUN.search(text) is not None


def spaced(text: str) -> str:
    """Return a text without the runs in scripts that are written without spaces."""
    return _RUN.sub(" ", text)


def pieces(text: str) -> list[str]:
    """Return what of a text's runs without spaces to look for in others: each two letters that stand together.

    A Chinese character is a word of its own often enough to be looked for alone, too; of an alphabet it takes three
    letters to tell something. Pieces of Hiragana, which is mostly grammar, come last.
    """
    found: dict[str, None] = {}
    for run in _RUN.findall(text):
        length = 3 if _IS_LETTER.match(run) else 2
        together = [run[start : start + length] for start in range(len(run) - length + 1)]
        found |= dict.fromkeys([*(together or [run]), *_IS_HAN.findall(run)])
    return sorted(found, key=lambda piece: _IS_HIRAGANA.fullmatch(piece) is not None)


def says_little(token: str) -> bool:
    """Tell whether a word is one that every question has."""
    return folded(token) in STOP_WORDS


class _Stemmer:
    """SQLite's Porter stemmer, reached through an index in memory: no dependency, and the same everywhere."""

    def __init__(self) -> None:
        self._conn = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        self._conn.execute(f"CREATE VIRTUAL TABLE words USING fts5(word, tokenize='porter {TOKENIZER}')")
        self._conn.execute("CREATE VIRTUAL TABLE stems USING fts5vocab(words, 'instance')")

    def stems(self, words: Iterable[str]) -> dict[str, str]:
        """Return the stem of each word."""
        given = list(words)
        self._conn.execute("BEGIN")
        try:
            self._conn.executemany("INSERT INTO words(rowid, word) VALUES (?, ?)", enumerate(given))
            rows = dict(self._conn.execute("SELECT doc, term FROM stems"))
        finally:
            self._conn.execute("ROLLBACK")
        return {word: rows.get(index, word) for index, word in enumerate(given)}


@cache
def _stemmer() -> _Stemmer | None:
    """Return the stemmer; None where SQLite was built without FTS5, and there is no index to look into either."""
    try:
        return _Stemmer()
    except sqlite3.OperationalError:
        return None


@lru_cache(maxsize=10_000)
def forms(token: str) -> tuple[str, ...]:
    """Return a word with its other forms, itself first: `note` with `notes`, `noted`, `noting`."""
    word = folded(token)
    if not word.isascii():
        return (token,)  # the index folds it as it folded the stored one: not all marks are accents to it
    if not word.isalpha():
        return (word,)
    regular = [word] if word in _IRREGULAR else _regular(word)
    groups = [_IRREGULAR[form] for form in regular if form in _IRREGULAR]
    return tuple(
        dict.fromkeys([*regular, *(form for first, *others in groups for form in (*_regular(first), *others))])
    )


def _regular(word: str) -> list[str]:
    """Return a word with what the stemmer takes for the same; what says little is no form: `in` of `ines`."""
    stemmer = _stemmer()
    if stemmer is None or len(word) < _LEAST - 1:
        return [word]
    stem = stemmer.stems([word])[word]
    stems = stemmer.stems({*_inflected(word), *(_of_stem(stem, word) if len(word) >= _LEAST else ())})
    return [word, *sorted(one for one in stems if one != word and stems[one] == stem and one not in STOP_WORDS)]


def _of_stem(stem: str, word: str) -> Iterator[str]:
    """Yield what may be words of a word's stem, as English spells them."""
    if stem.endswith("i"):  # of `companies`: the word has a y
        yield from (stem[:-1] + ending for ending in _FOR_I)
    elif stem.endswith("e"):
        yield from (stem, stem + "s", *(stem[:-1] + ending for ending in _FOR_E))
    elif word == stem + "e":
        yield from (stem + ending for ending in (*_AFTER_E, "ing", "ings", "ion", "ions", "ation", "ations"))
        yield from (stem, stem + "s") if stem.endswith("th") else ()  # `breathe` and `breath`
    else:
        yield from (stem + ending for ending in ("", *_ENDINGS, *_AFTER_E))
        if _DOUBLES.search(stem):
            yield from (stem + stem[-1] + ending for ending in _DOUBLED)


def _inflected(word: str) -> Iterator[str]:
    """Yield what may be inflections of a word, of which the stemmer takes more away: `remembered` for `remembers`."""
    without = {word.removesuffix(ending) for ending in _INFLECTIONS} - {word, ""}
    for base in (word, *without, *(one + "e" for one in without if one[-1] not in "aeiouy")):
        yield base
        yield base + "s"
        yield from (base.removesuffix("e") + ending for ending in _INFLECTIONS if ending != "s")
        yield from (base + base[-1] + ending for ending in ("ed", "ing") if _DOUBLES.search(base))
