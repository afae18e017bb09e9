"""`mmem config`: the entry that has a host run `mmem serve`, printed or written into the host's file."""

import json
import os
import re
import shlex
import sys

import click

from mmem import hosts
from mmem.app import App
from mmem.errors import Conflict, Storage, Usage
from mmem.hostfile import change
from mmem.hosts import HOSTS, Entry
from mmem.names import require_category
from mmem.options import shared_options
from mmem.settings import BASE_DIR_VARIABLE, CATEGORY_VARIABLE, FORMAT_VARIABLE, output_format
from mmem.visible import visible

_DIALECTS = ("multi-memory", "server-memory")  # the first is what serve does anyway


@click.command("config")
@click.argument("host", metavar="HOST", type=click.Choice(list(HOSTS)), required=False)
@click.option("--name", default="mmem", show_default=True, metavar="NAME", help="What to call the entry.")
@click.option("--project", is_flag=True, help="Use the file of the project in this folder.")
@click.option("--dialect", type=click.Choice(_DIALECTS), default=_DIALECTS[0], show_default=True, help="Whose tools.")
@click.option("--pin", metavar="CATEGORY", help="Serve this category alone.")
@click.option("--read-only", is_flag=True, help="Serve only the tools that read.")
@click.option("--write", is_flag=True, help="Write the entry into the host's file, after asking.")
@click.option("-y", "--yes", "assume_yes", is_flag=True, help="Don't ask.")
@shared_options
def command(
    host: str | None,
    name: str,
    project: bool,
    dialect: str,
    pin: str | None,
    read_only: bool,
    write: bool,
    assume_yes: bool,
) -> None:
    """Configure a host to use mmem.

    HOST is claude-desktop, claude-code, cursor or vscode. What it needs is printed as JSON; --write puts it into
    the host's file, leaves every other byte as it is and keeps a backup. The options --base-dir, --category and
    --format are those of the server.

    \b
    mmem config claude-desktop --base-dir ~/memory
    mmem config cursor --base-dir ~/memory --write
    """
    app = click.get_current_context().find_object(App) or App()
    if host is None:
        raise click.UsageError(f"say which host: {', '.join(HOSTS)}")
    if assume_yes and not write:
        raise click.UsageError("--yes goes with --write")
    _check(app, name, pin)
    path = _file(app, host, project)
    entry = _entry(app, host, _arguments(dialect, pin, read_only), pinned=pin is not None)
    if write:
        _write(app, host, path, name, entry, assume_yes)
    else:
        _print(app, host, path, name, entry, project)


def _check(app: App, name: str, pin: str | None) -> None:
    """Raise `Usage` for what the host or the server would refuse."""
    if not re.fullmatch(r"[A-Za-z0-9_-]+", name):  # Claude Code's rule
        raise Usage(f"--name '{name}': it can hold A-Z, a-z, 0-9, - and _")
    if pin is not None and app.category not in {None, pin}:
        raise Usage(f"--category is '{app.category}', but --pin is '{pin}'; give one of them")


def _file(app: App, host: str, project: bool) -> str:
    if not project:
        return hosts.user_file(HOSTS[host], app.streams.environ, hosts.this_system())
    if (file := HOSTS[host].project) is None:
        raise Usage(f"{HOSTS[host].title} has no file for a project: leave out --project")
    return os.path.abspath(file)


def _arguments(dialect: str, pin: str | None, read_only: bool) -> list[str]:
    words = ["serve"]
    if dialect != _DIALECTS[0]:
        words += ["--dialect", dialect]
    if pin is not None:
        words += ["--pin", require_category(pin, "--pin")]
    return [*words, "--read-only"] if read_only else words


def _entry(app: App, host: str, arguments: list[str], *, pinned: bool) -> Entry:
    """Return the host's entry for this mmem with the settings of this run."""
    environ = app.streams.environ
    variables = {BASE_DIR_VARIABLE: app.base_directory()}
    if not pinned and (app.category or environ.get(CATEGORY_VARIABLE)):
        variables[CATEGORY_VARIABLE] = app.default_category()
    if app.format == "table":
        raise Usage("a server has no --format table; it has json, jsonl, toon and yaml")
    chosen = output_format(app.format, False, environ)
    if chosen in {app.format, environ.get(FORMAT_VARIABLE, "").strip().lower()} - {"table"}:
        variables[FORMAT_VARIABLE] = chosen
    if not app.base_dir and not environ.get(BASE_DIR_VARIABLE):
        chosen = f"--base-dir or {BASE_DIR_VARIABLE} chooses another"
        _note(app, f"the memory is the one of this folder, {app.base_directory()}; {chosen}")
    return hosts.entry(HOSTS[host], [*hosts.launcher(sys.argv[0]), *arguments], variables)


def _print(app: App, host: str, path: str, name: str, entry: Entry, project: bool) -> None:
    """Print the configuration; say where it belongs and what to do next."""
    configuration = json.dumps({HOSTS[host].section: {name: entry}}, indent=2, ensure_ascii=False)
    app.streams.write(f"{configuration}\n".encode())
    title, system = HOSTS[host].title, hosts.this_system()
    if project:
        _note(app, f"{title}'s file for this project: {path} (not to share: the entry holds paths of this machine)")
    else:
        for other in HOSTS[host].files:
            place = f", this machine: {path}" if other == system else f": {hosts.shown_file(HOSTS[host], other)}"
            _note(app, f"{title}'s file on {other}{place}")
    _note(app, f"put the entry in there, or have --write do it; then {HOSTS[host].restart}")
    if host == "claude-code" and system != "Windows":  # whose shells quote in other ways
        add = f"claude mcp add-json --scope {'project' if project else 'user'} {name}"
        _note(app, f"or run: {add} {shlex.quote(json.dumps(entry, ensure_ascii=False))}")


def _write(app: App, host: str, path: str, name: str, entry: Entry, assume_yes: bool) -> None:
    """Put the entry into the host's file and say what was done."""
    try:
        planned = change(path, HOSTS[host], name, entry)
        for rival in planned.rivals:
            _note(app, f"'{rival}' in {path} runs a memory too, and the model is offered both: remove one by hand")
        if planned.is_none:
            done = f"Nothing to do: '{name}' stands in {path} already"
        else:
            if not assume_yes:
                app.confirm(planned.question, effect=f"this changes {path}")
                asked, planned = planned, change(path, HOSTS[host], name, entry)  # hosts write while a person reads
                if asked.entries.get(name) != planned.entries.get(name):
                    raise Conflict(f"'{name}' in {path} was changed meanwhile; nothing was written: try again")
            done = f"{planned.make()}; {HOSTS[host].restart}"
    except Storage as error:
        error.message += f"; nothing was written: mend that, or put in by hand what 'mmem config {host}' prints"
        raise
    app.streams.write(f"{visible(done)}\n".encode(errors="backslashreplace"))


def _note(app: App, message: str) -> None:
    app.streams.note(json.dumps({"code": "config", "message": message}) if app.errors == "json" else f"mmem: {message}")
