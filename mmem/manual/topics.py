"""The topics: what is explained beside the commands, and what a word asks for."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from mmem.errors import Usage
from mmem.manual.page import Page, Section, Text
from mmem.names import did_you_mean, nearest
from mmem.registry import COMMANDS

TOPICS = {
    "batch": "requests and responses of mmem batch",
    "environment": "the variables that mmem reads",
    "formats": "what mmem prints, reads and writes",
    "query": "the language of searches",
}
_ASKED = re.compile(r"(?:mmem-)?(?P<name>.+?)(?:\.(?P<number>[17])|\((?P<quoted>[17])\))?")


class Asked(NamedTuple):
    """A page that was asked for: a command's (1), `mmem`'s own (1) or a topic's (7)."""

    name: str
    number: int

    @property
    def file(self) -> str:
        """The name of the page's file."""
        return f"mmem.{self.number}" if self.name == "mmem" else f"mmem-{self.name}.{self.number}"


def asked(words: Sequence[str]) -> Asked:
    """Return the page for `batch`, `batch.7`, `7 batch`, `mmem-batch(7)` or `create_entities`.

    A name that is both means the command. Raises `Usage` for a name that is neither.
    """
    section, *rest = words if len(words) > 1 and words[0] in {"1", "7"} else ["", *words]
    given = " ".join(rest)
    match = _ASKED.fullmatch(given)
    name = match["name"].lower().replace("_", "-") if match else ""
    number = section or (match and (match["number"] or match["quoted"])) or ""
    if (name == "mmem" or name in COMMANDS) and number != "7":
        return Asked(name, 1)
    if name in TOPICS and number != "1":
        return Asked(name, 7)
    near = did_you_mean(nearest(given, ["mmem", *COMMANDS, *map(shown, TOPICS)]))
    raise Usage(f"there is no command or topic '{given}'{near} (mmem help lists them)")


def shown(topic: str) -> str:
    """Return what a topic is asked for by: `batch.7` where a command has the same name."""
    return f"{topic}.7" if topic in COMMANDS else topic


def topic_page(topic: str) -> Page:
    """Return a topic's page."""
    from pathlib import Path

    from mmem.manual.declared import statuses, variables
    from mmem.manual.markup import sections

    source = Path(__file__).with_name(f"{topic}.md").read_text("utf-8")
    written = sections(source, {"variables": variables(), "statuses": statuses()})
    others = [f"mmem-{other}(7)" for other in TOPICS if other != topic]
    own = [f"mmem-{topic}(1)"] if topic in COMMANDS else []
    see = Section("See also", (Text(", ".join(["mmem(1)", *own, *others])),))
    return Page(f"mmem-{topic}", 7, TOPICS[topic], (*written, see))
