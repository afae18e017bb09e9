"""`mmem man`: the manual's pages, in `man` where there is one."""

import os
import shutil
import sys

import click

from mmem.app import App
from mmem.manual.topics import asked
from mmem.options import shared_options


@click.command("man")
@click.argument("words", metavar="[COMMAND|TOPIC]", nargs=-1)
@shared_options
def command(words: tuple[str, ...]) -> None:
    """Show the manual page of a command or a topic.

    Without a name it is the page of mmem itself. The pages are those that came with this mmem; where this machine
    has no man, they are shown as text. A topic that has the name of a command is asked for as batch.7.

    \b
    mmem man
    mmem man search-nodes
    mmem man batch.7
    """
    app = click.get_current_context().find_object(App) or App()
    wanted = asked(words or ["mmem"])
    from mmem.manual.shipped import shipped

    file, program = shipped(wanted), shutil.which("man", path=app.streams.environ.get("PATH"))
    if file is not None and program is not None:
        sys.stdout.flush()
        os.execve(program, [program, str(file)], dict(app.streams.environ))
    from mmem.manual.describing import page
    from mmem.manual.plain import plain
    from mmem.manual.widths import width

    colored = app.streams.colored(app.streams.shows_terminal)
    app.write(plain(page(wanted), width(app.streams), colored=colored).encode())
