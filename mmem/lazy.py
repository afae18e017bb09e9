"""A click group that knows its commands from a table and imports each one when it is used."""

import importlib
from typing import Any

import click

from mmem.names import did_you_mean, nearest
from mmem.registry import COMMANDS, module_of


class LazyGroup(click.Group):
    """The commands of the registry; names work with hyphens and with underscores."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return every command's name, in the order of the registry."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import and return a command, or None."""
        name = cmd_name.replace("_", "-")
        if name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(module_of(name)).command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; a mistyped one gets the nearest name."""
        if args and not args[0].startswith("-") and args[0].replace("_", "-") not in COMMANDS:
            alike = [name for name in COMMANDS if args[0].lower() in name.split("-")]
            near = did_you_mean(alike or nearest(args[0], list(COMMANDS)))
            raise click.UsageError(f"there is no command '{args[0]}'{near}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing one."""
        for title, tools in (("Tools", True), ("Commands", False)):
            rows = [(name, entry.help) for name, entry in COMMANDS.items() if entry.tool is tools]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[Any]:
        """Complete command names without importing one."""
        from click.shell_completion import CompletionItem

        items = [CompletionItem(n, help=e.help) for n, e in COMMANDS.items() if n.startswith(incomplete)]
        return items + click.Command.shell_complete(self, ctx, incomplete)
