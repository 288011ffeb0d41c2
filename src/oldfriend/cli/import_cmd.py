"""oldfriend import, undo: imports chats, lists imports, and undoes one or a consolidation."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from oldfriend.app.app_context import AppContext
from oldfriend.app.deletion_filter import DIFFERENT_KEY, load_deletion_filter
from oldfriend.app.embed_messages import plan_embedding, try_embed_missing
from oldfriend.beliefs.correct import undo_import as undo_batch
from oldfriend.beliefs.correct import undo_segment
from oldfriend.cli.consolidate_cmd import (
    format_learning_progress,
    format_learning_result,
    print_rereading_offer,
)
from oldfriend.cli.open_context import (
    get_person_option,
    get_selected_person,
    load_settings_from_options,
    open_from_options,
    resolve_chat_person,
)
from oldfriend.cli.output import StatusLine, ask, format_duration
from oldfriend.cli.tasks import import_calendar
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock, from_micros, get_zone
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import PersonId
from oldfriend.domain.memories import JournalObject
from oldfriend.domain.messages import Person
from oldfriend.inbound.accept import open_local_chat
from oldfriend.llm.embedding import Embedder
from oldfriend.memory.import_batches import (
    ImportBatch,
    ImportUndoResult,
    list_batches,
    list_overlapping_batches,
)
from oldfriend.memory.message_log import count_messages
from oldfriend.memory.people import DEFAULT_OWNER_NAME
from oldfriend.memory.vectors import count_searchable_messages
from oldfriend.presenters.base_schema import format_count
from oldfriend.presenters.belief_text import format_belief_line
from oldfriend.presenters.history_schemas import format_segment_line
from oldfriend.presenters.receipt_schemas import NOT_SEARCHABLE
from oldfriend.runtime.import_jobs import write_preview
from oldfriend.runtime.learn_now import learn_now
from oldfriend.runtime.maintenance import maintain_briefly
from oldfriend.transfer.import_run import ImportProgress, ImportResult
from oldfriend.transfer.preview import ImportPreview
from oldfriend.transfer.restore import ExportContents, is_oldfriend_export, load_contents, restore
from oldfriend.transfer.sandbox_process import inspect_in_sandbox

CALENDAR_SUFFIX = ".ics"
MAX_SHOWN = 12
MAX_DIGITS = 9
NOTHING_WRITTEN = "Nothing was written."


async def run(options: argparse.Namespace) -> int:
    """List imports, undo one, or import files in turn. Raises InvalidInput."""
    match options.what:
        case ["list"]:
            return await list_imports(options)
        case ["list", *_]:
            raise InvalidInput(
                "`oldfriend import list` takes no further arguments. To import a file called "
                "list, write ./list"
            )
        case ["undo", number] if is_import_number(number) and not options.dry_run:
            return await undo_import(options, int(number))
        case ["undo", *more]:
            raise InvalidInput(format_undo_usage(more))
        case files:
            for file in files:
                await import_file(options, parse_path(file))
            return 0


def is_import_number(text: str) -> bool:
    """Tell whether a text can be the number of an import."""
    return text.isdecimal() and len(text) <= MAX_DIGITS


def format_undo_usage(arguments: Sequence[str]) -> str:
    """Format what to do when it is not clear what to undo."""
    if len(arguments) == 1 and is_import_number(arguments[0]):
        return (
            "--dry-run does not work with undo; leave it out. If you change your mind, import "
            "the file again."
        )
    wrong = f", not {' '.join(arguments)[:40]!r}" if arguments else ""
    return (
        f"Give the number of one import{wrong}: oldfriend import undo NUMBER. To see the numbers: "
        "oldfriend import list"
    )


def parse_path(text: str) -> Path:
    """Expand a typed path."""
    return Path(text).expanduser()


async def import_file(options: argparse.Namespace, path: Path) -> None:
    """Import one file: check all of it, write it, then embed it and extract beliefs.

    A calendar goes to the reminders.
    """
    get_zone(options.zone or "UTC")  # reject a wrong zone before reading the file
    if path.suffix.lower() == CALENDAR_SUFFIX:
        if options.dry_run:
            raise InvalidInput("--dry-run does not work with a calendar. Its import can be undone.")
        await import_calendar(options, path)
    elif is_oldfriend_export(path):
        await restore_export(options, path)
    elif options.dry_run:
        zone = options.zone or load_settings_from_options(options).zone
        name = get_person_option(options) or DEFAULT_OWNER_NAME
        print(format_preview(inspect_file(path, me=options.me, person=name, zone=zone)))
        print(NOTHING_WRITTEN)
    else:
        async with open_from_options(options, create=True) as app:
            person = await resolve_chat_person(app.db, options)
            chat_context = await open_local_chat(
                app.db, app.clock, app.settings, person=person, channel="terminal"
            )
            zone = options.zone or chat_context.person.zone
            preview = inspect_file(path, me=options.me, person=chat_context.person.name, zone=zone)
            print(format_preview(preview))
            await write_messages(app.db, app.clock, app.settings, preview, chat_context.person)
            await embed_messages(app, chat_context.person.id)
            await learn_from_import(app, chat_context.person.id)


def inspect_file(path: Path, *, me: str | None, person: str, zone: str) -> ImportPreview:
    """Check the whole file; in a terminal, ask which speaker the person is if that is unclear."""
    line = StatusLine()
    preview = inspect_in_sandbox(
        path,
        me=me,
        person=person,
        zone=zone,
        on_progress=lambda done: line.show(f"checked {done:,} messages"),
    )
    line.clear()
    if preview.speaker_roles.is_clear or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return preview
    chosen = ask_speaker(preview)
    return inspect_in_sandbox(path, me=chosen, person=person, zone=zone) if chosen else preview


def ask_speaker(preview: ImportPreview) -> str | None:
    """Ask which speaker the person is; None for nobody."""
    names = [speaker.name for speaker in preview.speakers if speaker.role != "companion"]
    print("Which one is you?")
    for number, name in enumerate(names[:MAX_SHOWN], start=1):
        print(f"  {number}  {name}")
    print("  0  nobody in this file")
    while True:
        try:
            typed = ask("Number or name: ").strip()
        except EOFError:
            return None
        if typed in {"", "0"}:
            return None
        if is_import_number(typed) and 1 <= int(typed) <= len(names):
            return names[int(typed) - 1]
        if typed.casefold() in {name.casefold() for name in names}:
            return typed
        print("There is no such number.")


def format_preview(preview: ImportPreview) -> str:
    """Format what the file contains."""
    first, last = preview.first.date(), preview.last.date()
    lines = [
        f"{preview.path.name}: {preview.format.title}",
        f"  {format_count(preview.messages, 'message')} in "
        f"{format_count(preview.sessions, 'session')}, "
        f"{first} to {last}",
    ]
    if len(preview.chats) > 1:
        lines.append(f"  {len(preview.chats):,} chats")
    for speaker in preview.speakers[:MAX_SHOWN]:
        suffix = " (you)" if speaker.role == "person" else ""
        lines.append(f"  {speaker.messages:>8,}  {speaker.name}{suffix}")
    if len(preview.speakers) > MAX_SHOWN:
        lines.append(f"            and {format_count(len(preview.speakers) - MAX_SHOWN, 'other')}")
    if not preview.speaker_roles.is_clear:
        lines.append("  None of the speakers is known to be you. If one is, add: --me NAME")
    return "\n".join([*lines, *(f"  note: {notice}" for notice in preview.notices)])


async def write_messages(
    db: Database, clock: Clock, settings: Settings, preview: ImportPreview, person: Person
) -> None:
    """Write the file's messages, and print the result."""
    async with db.begin_read() as tx:
        deletion_filter = await load_deletion_filter(settings, tx, person.id)
    if deletion_filter.has_other_key:
        print(f"note: {DIFFERENT_KEY}")
    line = StatusLine()
    result = await write_preview(
        db,
        clock,
        settings,
        person.id,
        preview,
        lambda progress: line.show(format_progress(progress)),
    )
    line.clear()
    print(format_result(result))


def format_progress(progress: ImportProgress) -> str:
    """Format the progress of writing."""
    return (
        f"written {progress.done:,} of {progress.total:,} "
        f"({progress.rate:,.0f} a second, {format_duration(progress.left_s)} left)"
    )


def format_result(result: ImportResult) -> str:
    """Format the result of an import."""
    parts = [f"{format_count(result.added, 'message')} {'is' if result.added == 1 else 'are'} new"]
    if result.changed:
        parts.append(f"{result.changed:,} {format_be_verb(result.changed)} edited since")
    if result.already_known:
        parts.append(
            f"{result.already_known:,} {format_be_verb(result.already_known)} here already"
        )
    if result.forgotten:
        verb = "stays" if result.forgotten == 1 else "stay"
        parts.append(
            f"{result.forgotten:,} {format_be_verb(result.forgotten)} forgotten and {verb} out"
        )
    text = ", ".join(parts) + "."
    if result.resumed_at:
        text = f"Continued after message {result.resumed_at:,}. {text}"
    if result.number is not None:
        number = result.number
        text += f" This was import {number}; undo it with: oldfriend import undo {number}"
    return (
        f"{text}\n{format_reimport_note(result.differing_import)}"
        if result.differing_import
        else text
    )


def format_reimport_note(earlier: ImportBatch) -> str:
    """Format how to reimport a known file with other options."""
    return (
        f"note: Import {earlier.number} read this file with {earlier.source.format_options()}, "
        "and its messages stay as they were read then. To read it again: oldfriend import undo "
        f"{earlier.number}, then import the file again."
    )


async def embed_messages(app: AppContext, person: PersonId) -> None:
    """Embed messages without a vector, with progress; full-text search already finds them."""
    total = await count_unembedded(app.db, app.embedder, person)
    if not total:
        return
    line, began = StatusLine(), time.monotonic()

    def show(done: int) -> None:
        rate = done / max(time.monotonic() - began, 1e-9)
        left = format_duration((total - done) / max(rate, 1e-9))
        line.show(f"indexed {done:,} of {total:,} ({rate:,.0f} a second, {left} left)")

    trouble = await try_embed_missing(app, person, progress=show)
    line.clear()
    left = (
        0 if trouble is None else await schedule_embedding(app.db, app.clock, app.embedder, person)
    )
    if total > left:
        print(f"{format_count(total - left, 'message')} can now be found by meaning, too.")
        await print_unfindable(app.db, app.embedder, person)
    if trouble is not None:
        print(f"{trouble}\n{format_count(left, 'message')} cannot be found by meaning yet.")


async def print_unfindable(db: Database, embedder: Embedder, person: PersonId) -> None:
    """Print why fewer messages can be found than are stored, if so."""
    async with db.begin_read() as tx:
        kept = await count_messages(tx, person)
        findable, _ = await count_searchable_messages(tx, person, embedder.model)
    if kept > findable:
        print(f"Of {kept:,} stored messages, {findable:,} can be found ({NOT_SEARCHABLE}).")


async def count_unembedded(db: Database, embedder: Embedder, person: PersonId) -> int:
    """Count the messages that only full-text search finds."""
    async with db.begin_read() as tx:
        findable, embedded = await count_searchable_messages(tx, person, embedder.model)
    return findable - embedded


async def schedule_embedding(
    db: Database, clock: Clock, embedder: Embedder, person: PersonId
) -> int:
    """Leave the remaining embedding to the server; return how many messages that is."""
    async with db.begin_write() as tx:
        await plan_embedding(tx, now=clock())
    return await count_unembedded(db, embedder, person)


async def learn_from_import(app: AppContext, person: PersonId) -> None:
    """Extract beliefs by rules (Ctrl-C leaves the rest for later), then offer a model."""
    line = StatusLine()
    try:
        result = await learn_now(
            app,
            person,
            cut_reason="import",
            on_progress=lambda so_far: line.show(format_learning_progress(so_far)),
        )
    finally:
        line.clear()
    if result.read:
        print(format_learning_result(result), flush=True)
        await print_rereading_offer(app, person)
    await maintain_briefly(app, person, overdue_s=0.0)


async def list_imports(options: argparse.Namespace) -> int:
    """Print the imports."""
    async with open_from_options(options, create=False) as app, app.db.begin_read() as tx:
        person = await get_selected_person(tx, options)
        batches = await list_batches(tx, person.id)
    if not batches:
        print("Nothing has been imported yet.")
    for batch in batches:
        when = from_micros(batch.started_at, person.zone).strftime("%Y-%m-%d %H:%M")
        about = f"{when}  {batch.added:>8,} new  {batch.status:<8} {batch.source.file}"
        print(f"{batch.number:4d}  {about}")
    return 0


async def undo_import(options: argparse.Namespace, number: int) -> int:
    """Undo an import. Raises NotFound."""
    async with open_from_options(options, create=False) as app:
        async with app.db.begin_read() as tx:
            person = await get_selected_person(tx, options)
            if number not in {batch.number for batch in await list_batches(tx, person.id)}:
                raise NotFound(f"There is no import {number}. See: oldfriend import list")
        undone = await undo_batch(app.db, app.clock, app.settings, person, number)
        async with app.db.begin_read() as tx:
            overlapping = list_overlapping_batches(await list_batches(tx, person.id), number)
    print(f"Import {number} was undone: {format_removal(undone)}.")
    for batch in overlapping:
        print(
            f"note: Import {batch.number} contained some of the same messages, which may be gone "
            f"now. To get them back: oldfriend import undo {batch.number}, then import "
            f"{batch.source.file} again."
        )
    return 0


def format_removal(undone: ImportUndoResult) -> str:
    """Format what an undo removed: messages, or the reminders of a calendar."""
    if undone.tasks:
        verb = "is" if undone.tasks == 1 else "are"
        return f"{format_count(undone.tasks, 'reminder')} {verb} gone or as before"
    messages = f"{format_count(undone.messages, 'message')} {format_be_verb(undone.messages)}"
    return f"{messages} removed{format_belief_effects(undone.beliefs)}"


def format_belief_effects(count: int) -> str:
    """Format how beliefs changed because messages were removed."""
    return f", and {format_count(count, 'belief')} ended or {format_hold_verb(count)} again" * bool(
        count
    )


def format_hold_verb(count: int) -> str:
    """Return 'holds' or 'hold' for a count."""
    return "holds" if count == 1 else "hold"


async def restore_export(options: argparse.Namespace, path: Path) -> None:
    """Restore an Oldfriend export into an empty store; with --dry-run only check and count it."""
    if options.dry_run:
        print(format_contents(load_contents(path)))
        print(NOTHING_WRITTEN)
        return
    async with open_from_options(options, create=True) as app:
        restored = await restore(app.db, path)
        people = format_count(len(restored.people), "person", "people")
        print(f"Restored {format_count(restored.rows, 'row')} of {people}.")
        for person in restored.people:
            await embed_messages(app, person)


def format_contents(contents: ExportContents) -> str:
    """Format what an export of Oldfriend contains."""
    lines = [f"An Oldfriend export of {', '.join(contents.people) or 'nobody'}:"]
    return "\n".join([*lines, *(f"  {rows:>8,}  {name}" for name, rows in contents.rows.items())])


def format_be_verb(count: int) -> str:
    """Return 'was' or 'were' for a count."""
    return "was" if count == 1 else "were"


USAGE_HELP = "`oldfriend undo consolidation ID` (or `last`), or `oldfriend undo import NUMBER`."


async def run_undo(options: argparse.Namespace) -> int:
    """Undo one segment or import. Raises InvalidInput."""
    match options.what:
        case ["consolidation", name]:
            return await undo_segment_extraction(options, name)
        case ["import", number] if is_import_number(number):
            return await undo_import(options, int(number))
        case _:
            raise InvalidInput(f"Say what to undo: {USAGE_HELP}")


async def undo_segment_extraction(options: argparse.Namespace, segment_id: str) -> int:
    """Revert the extraction of a segment; beliefs with no other evidence end."""
    async with open_from_options(options, create=False) as app:
        async with app.db.begin_read() as tx:
            person = await get_selected_person(tx, options)
        result = await undo_segment(
            app.db, app.clock, person.id, None if segment_id == "last" else segment_id
        )
    print(f"Undone: {format_segment_line(result.segment, zone=person.zone)}")
    print_beliefs("No longer believed", result.ended, zone=person.zone)
    print_beliefs("Believed again", result.reopened, zone=person.zone)
    print_beliefs("Has less evidence", result.changed, zone=person.zone)
    if not (result.ended or result.reopened or result.changed):
        print("No belief was based on it alone.")
    print("The messages themselves are kept.")
    return 0


def print_beliefs(title: str, beliefs: Sequence[JournalObject], *, zone: str) -> None:
    """Print beliefs under a title, if there are any."""
    if beliefs:
        print(
            f"{title}:", *(f"  {format_belief_line(each, zone=zone)}" for each in beliefs), sep="\n"
        )
