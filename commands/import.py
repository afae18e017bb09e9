"""`mmem import`: graphs brought in from other programs' files, every record accounted for."""

import click

from mmem.app import App
from mmem.errors import Usage
from mmem.exits import ExitStatus
from mmem.importing.accounts import Fault
from mmem.importing.job import Rules
from mmem.importing.run import Imported, Refused, run
from mmem.importing.sources import sources
from mmem.options import shared_options
from mmem.outcomes import Notice, Outcome
from mmem.progress import progress
from mmem.visible import plural


@click.command("import")
@click.argument("paths", metavar="PATH...", nargs=-1)
@click.option("--keep-going", is_flag=True, help="Import what is sound, and put the rest into PATH.rejects.jsonl.")
@click.option("--strict", is_flag=True, help="Take what would be repaired for an error.")
@click.option(
    "--missing-end",
    type=click.Choice(["placeholder", "error"]),
    default="placeholder",
    show_default=True,
    help="What a relation to an entity that isn't there is: the entity is made, or it is an error.",
)
@click.option("--encoding", metavar="NAME", help="The files' encoding, such as cp1252; UTF-8 and UTF-16 are seen.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and store nothing.")
@shared_options
def command(
    paths: tuple[str, ...], keep_going: bool, strict: bool, missing_end: str, encoding: str | None, dry_run: bool
) -> None:
    """Import graphs from files of other memory programs.

    It takes the reference server's memory.jsonl and those of its forks, JSON documents and arrays, mmem's own jsonl,
    json and yaml, and the databases of multi-memory-mcp; the content says which it is. A folder is imported as one
    job; - is standard input. The category is --category, or comes from the file's name, where memory means the
    default one. All of it is stored or nothing; what exists already is kept and completed, so that a second time
    changes nothing. Fields that mmem doesn't know become properties.

    \b
    mmem import memory.jsonl
    mmem import ~/.aim -c work --dry-run
    mmem import notes.json --keep-going
    """
    app = click.get_current_context().find_object(App) or App()
    if not paths:
        raise click.UsageError("name the files or folders to import, or - for standard input")
    if strict and keep_going:
        raise click.UsageError("--strict and --keep-going exclude each other; give one of them")
    files, passed = sources(paths)
    if not files:
        raise Usage(f"there is nothing to import in {' '.join(paths)}")
    category = app.default_category() if app.category else None
    rules = Rules(category, encoding, strict, missing_end == "error")
    try:
        with app.store(dry_run=dry_run, temp_store="FILE") as store, progress(app) as show:
            read = app.streams.stdin
            outcome = run(store, files, read, rules, keep_going=keep_going, dry_run=dry_run, progress=show)
    except Refused as error:
        _say_faults(app, error.faults)
        error.details = {"faults": len(error.faults)}
        raise
    notices = [Notice("skipped", f"{path}: passed over, for its ending", path=path) for path in passed]
    outcome = Outcome(outcome.result, [*notices, *outcome.notices])
    if app.output_format() == "table":
        app.show(Outcome(_sentences(outcome.result), outcome.notices), words=False)
    else:
        app.show(outcome, words=False)
    if outcome.result.kept_aside:
        raise click.exceptions.Exit(int(ExitStatus.FAILED))


def _say_faults(app: App, faults: list[Fault]) -> None:
    app.show_notices((Notice("skipped", str(fault), place=fault.place) for fault in faults), words=False)


def _sentences(result: Imported) -> list[str]:
    """Return the account as lines for a person."""
    verb = "Imported" if result.stored else "Would import"
    lines = []
    for category, made in result.categories.items():
        parts = [
            plural(made["entities"], "entity", "entities"),
            plural(made["observations"], "observation"),
            plural(made["relations"], "relation"),
        ]
        placeholders = made["placeholders"]
        more = f" ({plural(placeholders, 'placeholder')} among the entities)" if placeholders else ""
        lines.append(f"{verb} into category '{category}': {', '.join(parts[:2])} and {parts[2]}{more}")
    sums = (
        f"{plural(result.records, 'record')}: {result.created} created, {result.merged} merged, "
        f"{result.already_there} already there, {result.kept_aside} kept aside"
    )
    lines.append(sums + (f"; {result.repaired} repaired" if result.repaired else ""))
    lines += [f"Kept aside in {path}" for path in result.rejects]
    return lines
