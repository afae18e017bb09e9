"""`mmem edit`: an entity changed in an editor."""

import os
import shlex
import subprocess
import tempfile
from contextlib import suppress

import click

from mmem.app import App
from mmem.arguments import Reference
from mmem.editing import Edited, is_same, read_back, store_edited, text_of
from mmem.errors import InvalidArguments, MmemError, Usage
from mmem.named import all_named
from mmem.options import shared_options
from mmem.reading import Reader
from mmem.records import Entity
from mmem.requests import parse
from mmem.store import Store
from mmem.words import reference_word

_STDERR = 2


@click.command("edit")
@click.argument("name", metavar="NAME")
@click.option("-t", "--type", "entity_type", metavar="TYPE", help="Type of the entity.")
@shared_options
def command(name: str, entity_type: str | None) -> None:
    """Change an entity in your editor.

    Its name, type, properties and observations are opened as YAML in VISUAL, EDITOR or vi. What you change is stored
    when you save and close; without a change nothing is. Where it can't be stored, what you wrote is kept in a file.

    \b
    mmem edit UserService
    EDITOR="code --wait" mmem edit id:7 -c work
    """
    app = click.get_current_context().find_object(App) or App()
    try:
        reference = parse(Reference, reference_word(name, entity_type))
        with app.store() as store:
            before = _entity(store, reference)
            _edit(app, store, before)
    except MmemError as error:
        error.in_words = True
        raise


def _entity(store: Store, reference: Reference) -> Entity:
    with store.reading(None) as transaction:
        [found] = all_named(transaction, [("$.entity", reference)], reading=True)
        [entity] = Reader(transaction).entities([found.id])
        return entity


def _edit(app: App, store: Store, before: Entity) -> None:
    """Open the editor until what it leaves can be stored, or is given up."""
    category = store.default_category
    text = text_of(before, category).encode()
    path = _written(text)
    original = read_back(text, path, category)
    try:
        while True:
            _run_editor(app, path)
            edited = _edited(app, path, text, category)
            if edited is not None:
                break
        if is_same(original, edited):
            app.streams.note(f"mmem: nothing was changed in '{before.name}'")
        else:
            app.show(store_edited(store, category, before, edited))
    except BaseException as error:
        _keep(app, path, text, error)
        raise
    _remove(path)


def _written(text: bytes) -> str:
    descriptor, path = tempfile.mkstemp(prefix="mmem-", suffix=".yaml")  # it is 0600
    with open(descriptor, "wb") as file:
        file.write(text)
    return path


def _run_editor(app: App, path: str) -> None:
    environ = app.streams.environ
    given = environ.get("VISUAL") or environ.get("EDITOR") or None
    if given is None and not app.streams.can_prompt:
        raise Usage("there is no terminal for an editor; VISUAL or EDITOR can name one that needs none")
    editor = given or ("notepad" if os.name == "nt" else "vi")
    try:
        words = shlex.split(editor, posix=os.name == "posix")
        stdout = None if app.streams.shows_terminal else _STDERR  # what is printed there is data
        status = subprocess.run([*words, path], check=False, stdout=stdout).returncode
    except (OSError, ValueError) as error:
        reason = (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error).lower()
        raise Usage(f"the editor '{editor}' can't be run: {reason}; set VISUAL or EDITOR") from None
    if status:
        raise Usage(f"the editor '{editor}' ended with status {status}, so nothing was stored")


def _edited(app: App, path: str, text: bytes, category: str) -> Edited | None:
    """Return what was written, None where it has a fault and is to be edited again."""
    try:
        with open(path, "rb") as file:
            return read_back(file.read(), path, category)
    except OSError as error:
        raise Usage(f"{path}: {(error.strerror or str(error)).lower()}; nothing was stored") from None
    except InvalidArguments as error:
        if not app.streams.can_prompt:
            raise
        app.show_error(error)
        app.confirm(lambda: "Edit it again?")
        return None


def _keep(app: App, path: str, text: bytes, error: BaseException) -> None:
    """Say where what was written is kept, if anything was."""
    written = text
    with suppress(OSError), open(path, "rb") as file:
        written = file.read()
    if written == text:
        _remove(path)
    elif isinstance(error, MmemError):
        error.message += f"; what you wrote is kept in {path}"
        error.details["kept"] = path
    else:
        app.streams.note(f"mmem: what you wrote is kept in {path}")


def _remove(path: str) -> None:
    with suppress(OSError):
        os.unlink(path)
