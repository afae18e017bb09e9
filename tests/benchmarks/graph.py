"""A made-up graph of any size, the same at every run: words of syllables, few of them very common."""

import random
from itertools import accumulate

_SYLLABLES = [consonant + vowel for consonant in "bdfgklmnprstvz" for vowel in "aeiou"]
_TYPES = ["person", "project", "service", "library", "decision", "bug", "place", "event"]
_RELATIONS = ["uses", "knows", "depends_on", "part_of", "blocks"]


class Words:
    """A vocabulary in which the nth word is about n times as rare as the first."""

    def __init__(self, size: int = 20_000, seed: int = 7) -> None:
        """Make the words."""
        self.random = random.Random(seed)
        words: dict[str, None] = {}
        while len(words) < size:
            words["".join(self.random.choices(_SYLLABLES, k=self.random.randint(2, 4)))] = None
        self.all = list(words)
        self._weights = list(accumulate(1 / rank**0.9 for rank in range(1, size + 1)))

    def some(self, count: int) -> list[str]:
        """Return words as they occur in texts."""
        return self.random.choices(self.all, cum_weights=self._weights, k=count)


def entities(words: Words, count: int) -> list[dict[str, object]]:
    """Return entities with three observations each; a quarter has properties."""
    made: list[dict[str, object]] = []
    for number in range(count):
        first, second = words.some(2)
        entity: dict[str, object] = {
            "name": f"{first}-{second}-{number}",
            "entityType": _TYPES[number % len(_TYPES)],
            "observations": [
                {
                    "observationType": kind,
                    "text": " ".join(words.some(words.random.randint(8, 18))),
                    "source": f"chat-{number % 97}",
                }
                for kind in ("fact", "note", "status")
            ],
        }
        if number % 4 == 0:
            entity["properties"] = {"priority": number % 5, "owner": words.some(1)[0]}
        made.append(entity)
    return made


def relations(words: Words, nodes: list[dict[str, object]]) -> list[dict[str, object]]:
    """Return three relations from each entity to others."""
    made = []
    for number, node in enumerate(nodes):
        for step in range(3):
            target = nodes[words.random.randrange(len(nodes))]
            made.append(
                {
                    "from": {"name": node["name"], "type": node["entityType"]},
                    "to": {"name": target["name"], "type": target["entityType"]},
                    "relationType": _RELATIONS[(number + step) % len(_RELATIONS)],
                }
            )
    return made
