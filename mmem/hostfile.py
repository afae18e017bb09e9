"""A host's configuration file, and what putting an entry into it changes; in words for a person to agree to."""

import os
from typing import NamedTuple

from mmem import jsonedit, rewriting
from mmem.errors import Storage
from mmem.hosts import Entry, Host, command_line, is_memory_server
from mmem.jsonplaces import decoded


class Change(NamedTuple):
    """One entry that goes into a host's file."""

    host: Host
    name: str
    entry: Entry
    original: rewriting.Original
    entries: Entry  # what the file holds now

    @property
    def is_none(self) -> bool:
        """Whether the entry stands there already."""
        return self.name in self.entries and self.entries[self.name] == self.entry

    @property
    def rivals(self) -> list[str]:
        """The other entries that run a memory server."""
        return [name for name, entry in self.entries.items() if name != self.name and is_memory_server(entry)]

    def question(self) -> str:
        """Return what to ask before the change is made."""
        path = self.original.path
        if self.original.content is None:
            return f"Create {path} with '{self.name}'{self._folder()}?"
        backup = next(rewriting.backup_names(path))
        if self.name not in self.entries:
            return f"Add '{self.name}' to {path} (backup: {backup})?"
        old, new = command_line(self.entries[self.name]), command_line(self.entry)
        runs = "runs the same with other settings" if old == new else f"runs {old}"
        return f"Replace '{self.name}' in {path}, which now {runs} (backup: {backup})?"

    def make(self) -> str:
        """Make the change and return what was done. Raises `Conflict` and `Storage`, with nothing changed."""
        path, content, section = self.original.path, self.original.content, self.host.section
        folder = self._folder()
        try:
            text = jsonedit.with_entry(decoded(content or b""), section, self.name, self.entry)
        except Storage as error:
            raise _about(path, error) from None
        backup = rewriting.rewrite(self.original, text.encode())
        if content is None:
            return f"Created {path} with '{self.name}'{folder}"
        done = "Replaced '{}' in" if self.name in self.entries else "Added '{}' to"
        return f"{done.format(self.name)} {path} (backup: {backup})"

    def _folder(self) -> str:
        if os.path.isdir(os.path.dirname(self.original.target)):
            return ""
        in_project = self.host.project and self.original.path == os.path.abspath(self.host.project)
        return " (and its folder)" if in_project else f" (and its folder: {self.host.title} may not have run yet)"


def change(path: str, host: Host, name: str, entry: Entry) -> Change:
    """Return what putting an entry into the file at a path would change.

    Raises `Storage` where the file can't be used, or isn't strict JSON with entries where they belong.
    """
    original = rewriting.read(path)
    try:
        entries = jsonedit.entries(decoded(original.content or b""), host.section)
    except Storage as error:
        raise _about(path, error) from None
    return Change(host, name, entry, original, entries)


def _about(path: str, error: Storage) -> Storage:
    return Storage(f"{path}: {error.message}", {"path": path, **error.details})
