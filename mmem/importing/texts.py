"""Observations in the forms that forks give them."""

from typing import Any

from mmem import jsontext
from mmem.importing.fields import a, id_of, properties_of, require_length, stored
from mmem.importing.given import Aside, Text
from mmem.timestamps import is_timestamp
from mmem.values import MAX_TEXT

_TEXTS = ("text", "content", "observation")
OUR_FIELDS = {"id", "observationType", "text", "timestamp", "source", "properties"}


def texts_of(given: list[Any], repairs: list[str]) -> list[Text]:
    """Return a list's observations: texts, objects with a text, and what may be read as one. Raises `Aside`."""
    texts = []
    for one in given:
        if type(one) is str:
            if len(one) * 4 > MAX_TEXT:
                require_length(one)
            texts.append(Text(one))
        elif isinstance(one, dict):
            texts.append(text_of(one, repairs))
        elif one is None:
            repairs.append("an observation that is null was passed over")
        elif isinstance(one, int | float) and not isinstance(one, bool):
            repairs.append("an observation that is a number was read as a text")
            texts.append(Text(jsontext.encode(one)))
        else:
            raise Aside(f"an observation is {a(one)}, not a text")
    return texts


def text_of(given: dict[str, Any], repairs: list[str]) -> Text:
    """Return the observation that an object is. Raises `Aside`."""
    for key in _TEXTS:
        if isinstance(given.get(key), str):
            break
    else:
        raise Aside(f"an observation without a text (its keys: {', '.join(list(given)[:8])[:100]})")
    text: str = given[key]
    require_length(text)
    used = {key, "observationType", "source", "timestamp"}
    timestamp = given.get("timestamp")
    if timestamp is not None and not (isinstance(timestamp, str) and is_timestamp(timestamp)):
        used.discard("timestamp")
        repairs.append("a timestamp that isn't ISO 8601 became a property")
        timestamp = None
    for label in ("observationType", "source"):
        if given.get(label) is not None and not isinstance(given[label], str):
            used.discard(label)
            repairs.append(f'"{label}" that is no text became a property')
    id = id_of(given.get("id")) if given.keys() <= OUR_FIELDS else None
    if id is not None:
        used.add("id")
    properties = properties_of(given, used)
    return Text(
        text,
        stored(_text_at(given, "observationType"), "observationType", empty=True),
        stored(_text_at(given, "source"), "source", empty=True, own_form=False),
        timestamp,
        jsontext.encode(properties) if properties else None,
        id,
    )


def _text_at(given: dict[str, Any], key: str) -> str:
    value = given.get(key)
    return value if isinstance(value, str) else ""
