"""Observations of a seed file matched with those of the entity that is stored.

One with a type or a source is matched by these. A plain text is matched by its text, wherever the entity holds it
and no other observation of the file claims it. What is lacking gets a place as everywhere in mmem: the first plain text
the type `""`, further ones `note-2`, `note-3`, ...; places that the file names are left free for them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from mmem.arguments import ObservationInput
from mmem.observations import Key
from mmem.records import Observation
from mmem.seeding.graphs import Noted
from mmem.seeding.joining import same_value

_PLAIN: Key = ("", "")
_NOTE = re.compile(r"note-[0-9]+", re.ASCII)


@dataclass(slots=True)
class Match:
    """What an entity lacks of a file, each with its place; what it has otherwise; what the file doesn't have."""

    added: list[ObservationInput] = field(default_factory=list)
    differing: list[tuple[Observation, Noted]] = field(default_factory=list)
    removed: list[Observation] = field(default_factory=list)


def matched(given: Sequence[Noted], stored: Sequence[Observation], *, override: bool) -> Match:
    """Match an entity's observations. Only with `override` is anything removed, and do types of plain texts count."""
    match = Match()
    if len(given) == 1 and not stored:
        match.added.append(given[0].given)
        return match
    claimed = _match_typed(match, given, {_key(one): one for one in stored}, override)
    held = _match_plain(match, given, stored, claimed, override)
    if override:
        match.removed = [one for one in stored if one.id not in claimed]
    there = {_key(one) for one in stored if one.id in claimed or not override}
    taken = there | {item.key for item, _ in given if not item.is_plain}
    match.added = list(_placed(given, there, held, taken))
    return match


def _match_typed(match: Match, given: Iterable[Noted], by_key: dict[Key, Observation], override: bool) -> set[str]:
    """Match what has a type or a source; return the ids of the observations that are claimed."""
    claimed = set()
    for noted in given:
        before = None if noted.given.is_plain else by_key.get(noted.given.key)
        if before is not None:
            claimed.add(before.id)
            if not _holds(before, noted.given, override):
                match.differing.append((before, noted))
    return claimed


def _match_plain(
    match: Match, given: Iterable[Noted], stored: Iterable[Observation], claimed: set[str], override: bool
) -> set[str]:
    """Match plain texts, and claim the observations that hold them; return the texts that are held."""
    by_text: dict[str, Observation] = {}
    for one in stored:
        if one.id not in claimed and (not override or _is_plain(one)):
            by_text.setdefault(one.text, one)
    held = set()
    for noted in given:
        before = by_text.get(noted.given.text) if noted.given.is_plain else None
        if before is not None:
            held.add(before.text)
            claimed.add(before.id)
            if not _holds(before, noted.given, override):
                match.differing.append((before, noted))
    return held


def _placed(given: Iterable[Noted], there: set[Key], held: set[str], taken: set[Key]) -> Iterator[ObservationInput]:
    """Yield what is lacking, in the file's order and each with a place of its own."""
    number = 2
    for item, _ in given:
        if not item.is_plain:
            if item.key not in there:
                yield item
        elif item.text not in held:
            if _PLAIN not in taken:
                taken.add(_PLAIN)
                yield item
                continue
            while (f"note-{number}", "") in taken:
                number += 1
            taken.add((f"note-{number}", ""))
            yield replace(item, observation_type=f"note-{number}")


def _key(one: Observation) -> Key:
    return one.observation_type, one.source


def _is_plain(one: Observation) -> bool:
    return not one.source and (not one.observation_type or _NOTE.fullmatch(one.observation_type) is not None)


def _holds(stored: Observation, given: ObservationInput, override: bool) -> bool:
    """Tell whether a stored observation says what is given; what isn't given counts only with `override`."""
    if stored.text != given.text or given.timestamp not in {None, stored.timestamp}:
        return False
    return (not given.properties and not override) or same_value(stored.properties or {}, given.properties or {})
