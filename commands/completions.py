"""`mmem completions`: the script that has a shell complete mmem's words, printed or put where the shell looks."""

import json
import os

import click

from mmem.app import App
from mmem.errors import Usage
from mmem.options import shared_options
from mmem.shells.places import FILES, install, place, shipped
from mmem.visible import visible


@click.command("completions")
@click.argument("shell", metavar="SHELL", type=click.Choice(list(FILES)), required=False)
@click.option("--install", "installs", is_flag=True, help="Put the script where the shell looks for it.")
@shared_options
def command(shell: str | None, installs: bool) -> None:
    """Have TAB complete commands, options and names in your shell.

    SHELL is bash, zsh or fish. Its script is printed, or put into your home with --install, which says what is left
    to do; it changes none of your shell's own files. TAB then offers the categories, entities and types that are
    stored.

    \b
    mmem completions fish --install
    eval "$(mmem completions bash)"
    """
    app = click.get_current_context().find_object(App) or App()
    if shell is None:
        raise click.UsageError(f"say which shell: {', '.join(FILES)}")
    if not installs:
        app.streams.write(shipped(shell))
        return
    try:
        path = place(shell, app.streams.environ)
        done = install(shell, path)
    except ValueError:  # a NUL or the like in a variable
        raise Usage("a variable of the environment that names a folder can't be a folder's name") from None
    app.streams.write(f"{visible(done)}\n".encode(errors="backslashreplace"))
    for line in _next(shell, path):
        _note(app, line)


def _next(shell: str, path: str) -> list[str]:
    """Return what is left to do for the person."""
    if shell == "fish":
        return ["new shells of fish complete mmem"]
    if shell == "bash":
        return [
            "new shells complete mmem where bash-completion is installed and loaded",
            f"without it, add this line to ~/.bashrc: source {_shown(path)}",
        ]
    return [
        "zsh has to know the folder: have this line in ~/.zshrc, above the one that runs compinit:",
        f"  fpath=({_shown(os.path.dirname(path))} $fpath)",
        "where no line runs it, add below that: autoload -Uz compinit && compinit",
    ]


def _shown(path: str) -> str:
    from shlex import quote

    return quote(path)


def _note(app: App, message: str) -> None:
    shown = json.dumps({"code": "completions", "message": message.strip()}, ensure_ascii=False)
    app.streams.note(shown if app.errors == "json" else f"mmem: {message}")
