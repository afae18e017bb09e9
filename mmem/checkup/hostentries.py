"""What the hosts' configuration files say about memories. They are read, never written."""

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mmem import jsonedit, rewriting
from mmem.checkup.remarks import About, Findings
from mmem.errors import MmemError
from mmem.hosts import HOSTS, Host, command_line, is_memory_server, runs_mmem, this_system, user_file, words_of
from mmem.jsonplaces import decoded
from mmem.settings import BASE_DIR_VARIABLE, DEFAULT_BASE_DIR


class Here(NamedTuple):
    """This mmem: the words that run it, its base directory and its environment."""

    words: Sequence[str]
    base_dir: str
    environ: Mapping[str, str]


class _Server(NamedTuple):
    """An entry that runs mmem."""

    name: str
    words: list[str]
    variables: Mapping[str, object]

    @property
    def base_dir(self) -> str:
        """The base directory that it names, or the default one, relative to wherever the host runs."""
        for place, word in enumerate(self.words):
            if word == "--base-dir" and place + 1 < len(self.words):
                return self.words[place + 1]
            if word.startswith("--base-dir="):
                return word.removeprefix("--base-dir=")
        given = self.variables.get(BASE_DIR_VARIABLE)
        return given if isinstance(given, str) and given else DEFAULT_BASE_DIR


def host_entries(here: Here) -> Findings:
    """Look at every host's file, the user's own and that of the project in this folder."""
    configured = False
    for key, host in HOSTS.items():
        files = [user_file(host, here.environ, this_system())]
        if host.project:
            files.append(os.path.abspath(host.project))
        for path in dict.fromkeys(files):
            for one in _file(key, host, path, here):
                configured = True
                yield one
    if not configured:
        yield About("hosts").info("host", "none is configured to use a memory", "mmem config HOST shows how")


def _file(key: str, host: Host, path: str, here: Here) -> Findings:
    about = About(host.title, path)
    try:
        content = rewriting.read(path).content
        if not content:
            return
        entries = jsonedit.entries(decoded(content), host.section)
    except MmemError as error:
        message = error.message.removeprefix(f"{path}: ")
        yield about.info("host", f"{path} couldn't be looked at: {message}")
        return
    memories = {name: entry for name, entry in entries.items() if is_memory_server(entry)}
    servers = [
        _Server(name, words_of(entry), _variables(entry)) for name, entry in memories.items() if runs_mmem(entry)
    ]
    wrong = [
        *_rivals(about, memories, servers),
        *(one for server in servers for one in _server(key, about, server, here)),
    ]
    yield from wrong
    if servers and not wrong:
        named = ", ".join(f"'{server.name}'" for server in servers)
        yield about.ok("host", f"{named} in {path} runs this mmem on this base directory")


def _variables(entry: object) -> Mapping[str, object]:
    variables = entry.get("env") if isinstance(entry, dict) else None
    return variables if isinstance(variables, dict) else {}


def _rivals(about: About, memories: Mapping[str, object], servers: Sequence[_Server]) -> Findings:
    ours = {server.name for server in servers}
    others = [name for name in memories if name not in ours]
    if others and ours:
        for name in others:
            message = f"'{name}' in {about.path} runs a memory too ({command_line(memories[name])})"
            yield about.warn("rivals", f"{message}, and the model is offered both", "remove one by hand")
    elif others:
        message = f"'{others[0]}' in {about.path} runs another memory ({command_line(memories[others[0]])})"
        yield about.info("host", message, "mmem config writes an entry for mmem")
    seen: dict[tuple[tuple[str, ...], str], str] = {}
    for server in servers:
        alike = (tuple(server.words[1:]), server.base_dir)
        if (first := seen.setdefault(alike, server.name)) != server.name:
            message = f"'{first}' and '{server.name}' in {about.path} serve the same, and the model is offered both"
            yield about.warn("duplicate", message, "remove one by hand")


def _server(key: str, about: About, server: _Server, here: Here) -> Findings:
    where = f"'{server.name}' in {about.path}"
    anew = f"mmem config {key} --name {server.name} --write"
    program = server.words[0]
    found = _program(program)
    if found is None:
        yield about.problem("command", f"{where} runs {program}, which isn't there", f"{anew} mends it")
    elif _is_own(found) and not _is_this(found, here.words[0]):
        message = f"{where} runs another mmem, {found}; this one is {here.words[0]}"
        yield about.warn("command", message, f"{anew} has it run this one")
    yield from _base_dir(about, where, anew, server.base_dir, here)


def _base_dir(about: About, where: str, anew: str, given: str, here: Here) -> Findings:
    base_dir = os.path.expanduser(given)
    if not os.path.isabs(base_dir):
        message = f"{where} serves the base directory {given}, which is relative to wherever the host runs"
        yield about.warn("host_base_directory", message, f"{anew} --base-dir DIR names one for good")
    elif os.path.realpath(base_dir) != os.path.realpath(here.base_dir):
        what = "" if os.path.isdir(base_dir) else ", which isn't there yet"
        message = f"{where} serves {base_dir}{what}; this is a look at {here.base_dir}"
        yield about.info("host_base_directory", message, f"mmem doctor --base-dir {base_dir} looks at that one")


def _program(word: str) -> str | None:
    """Return the file that a host runs for a command; None where there is none."""
    if re.search(r"[/\\]", word):
        path = os.path.expanduser(word)
        return path if os.path.isfile(path) and os.access(path, os.X_OK) else None
    return shutil.which(word)


def _is_own(path: str) -> bool:
    """Tell whether a file is mmem's own, not Python's or an installer's that would run mmem."""
    return os.path.basename(path).removesuffix(".exe") == "mmem"


def _is_this(found: str, running: str) -> bool:
    """Tell whether a program is the one that runs, or stands beside the Python that runs it."""
    real = os.path.realpath(found)
    return real == os.path.realpath(running) or os.path.dirname(real) == os.path.dirname(os.path.abspath(running))
