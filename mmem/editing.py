"""An entity as a YAML text that a person changes, and the difference written back.

The text is what `mmem export` writes and `mmem seed` reads. An observation is known again by its type and source.
"""

from typing import NamedTuple

import msgspec

from mmem import semantic
from mmem.errors import Conflict, InvalidArguments
from mmem.exporting.sink import Sink
from mmem.exporting.yaml_document import Writer
from mmem.lookup import Found
from mmem.outcomes import Outcome
from mmem.reading import Reader
from mmem.records import Entity
from mmem.renaming import rename
from mmem.seeding.changes import ChangedEntity
from mmem.seeding.comparing import compare
from mmem.seeding.documents import read
from mmem.seeding.graphs import Document, Node
from mmem.seeding.joining import join
from mmem.seeding.storing import write
from mmem.store import Store
from mmem.visible import visible
from mmem.yamltext import fault, place

_HEAD = """\
# '{name}' of category '{category}'
# Save and close to store what you changed; without a change nothing is stored.
# An observation that you take out is deleted; a new one is a line: - Some text
# A timestamp stays as it stands here; without one, a new or changed text gets
# the time of saving.
"""


class Edited(NamedTuple):
    """An edited text as it was read, and the entity in it."""

    document: Document
    node: Node


def text_of(entity: Entity, category: str) -> str:
    """Return the text to edit."""
    writer = Writer(lambda name: Sink(lambda block: None))
    return f"{_HEAD.format(name=visible(entity.name), category=category)}entities:\n{writer.entity(entity)}"


def read_back(text: bytes, name: str, category: str) -> Edited:
    """Return what an edited text says. Raises `InvalidArguments` with the line and the column of what is wrong."""
    documents = read(text, name)
    entities = [entity for document in documents for entity in document.entities]
    if not entities:
        raise InvalidArguments(f"{name}: no entity is left in it; mmem delete-entities deletes one", {"place": name})
    if len(entities) > 1:
        raise fault(entities[1].mark, "a second entity; here it is one that is edited")
    [node] = entities
    document = next(one for one in documents if one.entities)
    for one in documents:
        if one.category not in {None, category}:
            raise fault(one.mark, "'category' can't be changed here; mmem move takes an entity to another one")
        if one.relations:
            raise fault(one.relations[0].mark, "relations aren't edited here; see mmem create-relations")
    return Edited(document, node)


def is_same(first: Edited, second: Edited) -> bool:
    """Tell whether two texts say the same, whatever their comments and their order of keys."""
    return _said(first.node) == _said(second.node)


def _said(node: Node) -> bytes:
    observations = [noted.given for noted in node.observations]
    return msgspec.json.encode([*node.key, node.properties or {}, observations], order="sorted")


def store_edited(store: Store, category: str, before: Entity, edited: Edited) -> Outcome[Entity]:
    """Store the difference in one transaction and return the entity as it is then.

    Raises `Conflict` where the entity isn't any more what was edited, and `InvalidArguments` where another entity has
    its new name and type.
    """
    semantic.model()  # so that no lock is held while it is loaded
    node = edited.node
    with store.writing(category) as transaction:
        reader = Reader(transaction)
        if reader.entities([int(before.id)]) != [before]:
            raise Conflict(
                f"'{before.name}' (id {before.id}) was changed in category '{category}' while you edited it, and "
                "nothing was stored; edit it again",
                {"id": before.id},
            )
        found = Found(int(before.id), before.name, before.entity_type)
        if node.key != (before.name, before.entity_type):
            rename(transaction, found, node.name, node.entity_type, place(node.mark))
        changes = compare(transaction, join([edited.document], category)[0], override=True)
        for changed in changes.changed:
            _keep_ids(changed)
        notices = [*changes.notices, *write(store, transaction, changes)]
        [entity] = reader.entities([found.id])
    return Outcome(entity, [*transaction.notices, *notices])


def _keep_ids(changed: ChangedEntity) -> None:
    """Let an observation whose text changed stay the same one, where a new one would get its type and source."""
    removed = {(one.observation_type, one.source): one for one in changed.removed}
    for given in list(changed.added):
        before = removed.get(given.key)
        if before is not None:
            changed.added.remove(given)
            changed.removed.remove(before)
            changed.replaced.append((before, given))
