"""`mmem help`: what there is, a command's help, or a topic explained."""

import click

from mmem.app import App
from mmem.cli import cli
from mmem.manual.topics import TOPICS, asked, shown
from mmem.options import shared_options


@click.command("help")
@click.argument("words", metavar="[COMMAND|TOPIC]", nargs=-1)
@shared_options
def command(words: tuple[str, ...]) -> None:
    """Explain a command or a topic.

    Without a name it lists both. Of a command it shows what --help shows; a topic that has the name of a command
    is asked for as batch.7.

    \b
    mmem help
    mmem help search-nodes
    mmem help query
    """
    context = click.get_current_context()
    app = context.find_object(App) or App()
    if not words:
        app.streams.write(_everything(context).encode())
        return
    from mmem.manual.describing import context_of, page
    from mmem.manual.plain import plain
    from mmem.manual.widths import width

    wanted = asked(words)
    if wanted.number == 1:
        own = context_of(wanted.name)
        text = f"{own.command.get_help(own)}\n"
    else:
        columns = width(app.streams)
        text = plain(page(wanted), columns, colored=app.streams.colored(app.streams.shows_terminal))
    app.write(text.encode())


def _everything(context: click.Context) -> str:
    """Return the commands and topics, with what each is."""
    formatter = context.make_formatter()
    formatter.write_usage("mmem", "help [COMMAND|TOPIC]")
    cli.format_commands(context, formatter)
    with formatter.section("Topics"):
        formatter.write_dl([(shown(topic), f"{about[0].upper()}{about[1:]}.") for topic, about in TOPICS.items()])
    return formatter.getvalue()
