"""oldfriend import: bring chats in, list what was brought, take an import out again."""

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from oldfriend.app.accepting import open_line
from oldfriend.app.believing.undoing import undo_import as undo_batch
from oldfriend.app.bringing import write
from oldfriend.app.catching_up import catch_up
from oldfriend.app.embedding import make_up, plan_embedding
from oldfriend.app.forgotten import BY_ANOTHER_KEY, forgotten_of
from oldfriend.app.house import House
from oldfriend.app.showing import NOT_FOUND
from oldfriend.cli.columns import counted, duration
from oldfriend.cli.consolidate import in_words, offer_model
from oldfriend.cli.opening import opened, person_named, settings_from
from oldfriend.cli.status_line import StatusLine, reading_line
from oldfriend.cli.whom import person_looked_into, person_to_talk
from oldfriend.domain.clock import from_micros, zone_named
from oldfriend.domain.errors import InvalidInput, NotFound
from oldfriend.domain.ids import PersonId
from oldfriend.domain.people import Person
from oldfriend.memory.batches import Batch, list_batches, overlapping
from oldfriend.memory.log import count_messages
from oldfriend.memory.people import OWNER_NAME
from oldfriend.memory.vectors import count_findable
from oldfriend.transfer.importing import Brought, Progress
from oldfriend.transfer.inspecting import Preview, inspect
from oldfriend.transfer.restoring import Contents, contents_of, is_our_export, restore

MOST_SHOWN = 12
MOST_DIGITS = 9
NOTHING_WRITTEN = "Nothing was written."


async def run(options: argparse.Namespace) -> int:
    """List, undo, or import one file after another."""
    match options.what:
        case ["list"]:
            return await list_imports(options)
        case ["list", *_]:
            raise InvalidInput("`import list` takes nothing more. A file called list: ./list")
        case ["undo", number] if is_number(number) and not options.dry_run:
            return await undo_import(options, int(number))
        case ["undo", *more]:
            raise InvalidInput(why_not_undone(more))
        case files:
            for file in files:
                await import_file(options, file_named(file))
            return 0


def is_number(text: str) -> bool:
    """Whether it can be the number of an import."""
    return text.isdecimal() and len(text) <= MOST_DIGITS


def why_not_undone(more: Sequence[str]) -> str:
    """What to do instead, where it is not clear what to undo."""
    if len(more) == 1 and is_number(more[0]):
        return "An undo cannot be tried out: leave --dry-run out. Importing again brings it back."
    wrong = f", not {' '.join(more)[:40]!r}" if more else ""
    return (
        f"Name one import by its number{wrong}: oldfriend import undo NUMBER. "
        "The numbers are shown by: oldfriend import list"
    )


def file_named(text: str) -> Path:
    """The file that was typed."""
    return Path(text).expanduser()


async def import_file(options: argparse.Namespace, path: Path) -> None:
    """Import one file: check all of it, write it, then make it findable by meaning."""
    zone_named(options.zone or "UTC")  # a wrong one is no fault of the file
    if is_our_export(path):
        await restore_file(options, path)
    elif options.dry_run:
        zone = options.zone or settings_from(options).zone
        name = person_named(options) or OWNER_NAME
        print(described(checked(path, me=options.me, person=name, zone=zone)))
        print(NOTHING_WRITTEN)
    else:
        async with opened(options, create=True) as house:
            person = await person_to_talk(house, options)
            line = await open_line(house, person=person, channel="terminal")
            zone = options.zone or line.person.zone
            preview = checked(path, me=options.me, person=line.person.name, zone=zone)
            print(described(preview))
            await bring(house, preview, line.person)
            await embed_all(house, line.person.id)
            await read_brought(house, line.person.id)


def checked(path: Path, *, me: str | None, person: str, zone: str) -> Preview:
    """The whole file, checked; in a terminal it is asked who the person is if that is unclear."""
    line = StatusLine()
    preview = inspect(
        path, me=me, person=person, zone=zone,
        tick=lambda done: line.show(f"checked {done:,} messages"),
    )  # fmt: skip
    line.clear()
    if preview.cast.is_clear or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return preview
    chosen = ask_who(preview)
    return inspect(path, me=chosen, person=person, zone=zone) if chosen else preview


def ask_who(preview: Preview) -> str | None:
    """Ask which speaker the person is; None for nobody."""
    names = [speaker.name for speaker in preview.speakers if speaker.role != "companion"]
    print("Which one is you?")
    for number, name in enumerate(names[:MOST_SHOWN], start=1):
        print(f"  {number}  {name}")
    print("  0  nobody in this file")
    while True:
        try:
            typed = input("Number or name: ").strip()
        except EOFError:
            return None
        if typed in {"", "0"}:
            return None
        if typed.isdecimal() and 1 <= int(typed) <= len(names):
            return names[int(typed) - 1]
        if typed.casefold() in {name.casefold() for name in names}:
            return typed
        print("That is none of them.")


def described(preview: Preview) -> str:
    """What the file holds, to read."""
    first, last = preview.first.date(), preview.last.date()
    lines = [
        f"{preview.export.path.name}: {preview.export.format.title}",
        f"  {counted(preview.messages, 'message')} in {counted(preview.sessions, 'session')}, "
        f"{first} to {last}",
    ]
    if len(preview.chats) > 1:
        lines.append(f"  {len(preview.chats):,} chats")
    for speaker in preview.speakers[:MOST_SHOWN]:
        who = " (you)" if speaker.role == "person" else ""
        lines.append(f"  {speaker.messages:>8,}  {speaker.name}{who}")
    if len(preview.speakers) > MOST_SHOWN:
        lines.append(f"            and {counted(len(preview.speakers) - MOST_SHOWN, 'other')}")
    if not preview.cast.is_clear:
        lines.append("  Nobody in it is you. If somebody is, name them: --me NAME")
    return "\n".join([*lines, *(f"  note: {notice}" for notice in preview.notices)])


async def bring(house: House, preview: Preview, person: Person) -> None:
    """Write what the file holds, and say what came of it."""
    async with house.db.reading() as tx:
        forgotten = await forgotten_of(house.settings, tx, person.id)
    if forgotten.is_by_another_key:
        print(f"note: {BY_ANOTHER_KEY}")
    line = StatusLine()
    brought = await write(
        house, person.id, preview, lambda progress: line.show(progress_line(progress))
    )
    line.clear()
    print(told(brought))


def progress_line(progress: Progress) -> str:
    """How far the writing is."""
    return (
        f"written {progress.done:,} of {progress.total:,} "
        f"({progress.rate:,.0f} a second, {duration(progress.left_s)} left)"
    )


def told(brought: Brought) -> str:
    """What an import brought, to read."""
    parts = [f"{counted(brought.added, 'message')} {'is' if brought.added == 1 else 'are'} new"]
    if brought.changed:
        parts.append(f"{brought.changed:,} {was(brought.changed)} edited since")
    if brought.known:
        parts.append(f"{brought.known:,} {was(brought.known)} here already")
    if brought.forgotten:
        stays = "stays" if brought.forgotten == 1 else "stay"
        parts.append(f"{brought.forgotten:,} {was(brought.forgotten)} forgotten and {stays} out")
    text = ", ".join(parts) + "."
    if brought.resumed_at:
        text = f"Went on after message {brought.resumed_at:,}. {text}"
    if brought.number is not None:
        number = brought.number
        text += f" This was import {number}; undo it with: oldfriend import undo {number}"
    return f"{text}\n{told_otherwise(brought.read_otherwise)}" if brought.read_otherwise else text


def told_otherwise(earlier: Batch) -> str:
    """What to do when a file that is here is to be read otherwise."""
    return (
        f"note: Import {earlier.number} brought this file with {earlier.reading.as_options()}, "
        "and what is here stays as it was read then. To read it anew: "
        f"oldfriend import undo {earlier.number}, then import it again."
    )


async def embed_all(house: House, person: PersonId) -> None:
    """Make everything findable by meaning; it is found by its words already."""
    total = await count_unembedded(house, person)
    if not total:
        return
    line, began = StatusLine(), time.monotonic()

    def show(done: int) -> None:
        rate = done / max(time.monotonic() - began, 1e-9)
        left = duration((total - done) / max(rate, 1e-9))
        line.show(f"understood {done:,} of {total:,} ({rate:,.0f} a second, {left} left)")

    trouble = await make_up(house, person, progress=show)
    line.clear()
    left = 0 if trouble is None else await leave_for_later(house, person)
    if total > left:
        print(f"{counted(total - left, 'message')} can now be found by meaning, too.")
        await explain_difference(house, person)
    if trouble is not None:
        print(f"{trouble}\n{counted(left, 'message')} cannot be found by meaning yet.")


async def explain_difference(house: House, person: PersonId) -> None:
    """Say why fewer messages can be found than are kept, where that is so."""
    async with house.db.reading() as tx:
        kept = await count_messages(tx, person)
        findable, _ = await count_findable(tx, person, house.embedder.model)
    if kept > findable:
        print(f"Of {kept:,} that are kept, {findable:,} can be found: {NOT_FOUND}.")


async def count_unembedded(house: House, person: PersonId) -> int:
    """How many messages are found by their words only."""
    async with house.db.reading() as tx:
        findable, embedded = await count_findable(tx, person, house.embedder.model)
    return findable - embedded


async def leave_for_later(house: House, person: PersonId) -> int:
    """Leave what could not be embedded to whoever serves; how many messages that is."""
    async with house.db.writing() as tx:
        await plan_embedding(tx, now=house.clock())
    return await count_unembedded(house, person)


async def read_brought(house: House, person: PersonId) -> None:
    """Read what was brought, by rules; a Ctrl-C puts the rest off. Then offer a model."""
    line = StatusLine()
    try:
        done = await catch_up(
            house, person, imported=True, show=lambda so_far: line.show(reading_line(so_far))
        )
    finally:
        line.clear()
    if done.read:
        print(in_words(done))
        await offer_model(house, person)


async def list_imports(options: argparse.Namespace) -> int:
    """Print what was imported."""
    async with opened(options, create=False) as house, house.db.reading() as tx:
        person = await person_looked_into(tx, options)
        batches = await list_batches(tx, person.id)
    if not batches:
        print("Nothing was imported yet.")
    for batch in batches:
        when = from_micros(batch.started_at, person.zone).strftime("%Y-%m-%d %H:%M")
        about = f"{when}  {batch.added:>8,} new  {batch.status:<8} {batch.reading.file}"
        print(f"{batch.number:4d}  {about}")
    return 0


async def undo_import(options: argparse.Namespace, number: int) -> int:
    """Take an import out again."""
    async with opened(options, create=False) as house:
        async with house.db.reading() as tx:
            person = await person_looked_into(tx, options)
            if number not in {batch.number for batch in await list_batches(tx, person.id)}:
                raise NotFound(f"There is no import {number}. See: oldfriend import list")
        undone = await undo_batch(house, person, number)
        async with house.db.reading() as tx:
            later = overlapping(await list_batches(tx, person.id), number)
    print(
        f"Import {number} is undone: {counted(undone.messages, 'message')} "
        f"{was(undone.messages)} taken out{with_beliefs(undone.beliefs)}."
    )
    for batch in later:
        print(
            f"note: Import {batch.number} held messages that were here already and may be gone "
            f"now. To have them all: oldfriend import undo {batch.number}, "
            f"then import {batch.reading.file} again."
        )
    return 0


def with_beliefs(count: int) -> str:
    """What else follows from taking messages out."""
    return f", and {counted(count, 'belief')} ended with them or {holds(count)} again" * bool(count)


def holds(count: int) -> str:
    """The verb for a number of things that are so."""
    return "holds" if count == 1 else "hold"


async def restore_file(options: argparse.Namespace, path: Path) -> None:
    """Bring a whole export of ours back into an empty store, or only check and count it."""
    if options.dry_run:
        print(listed(contents_of(path)))
        print(NOTHING_WRITTEN)
        return
    async with opened(options, create=True) as house:
        restored = await restore(house.db, path)
        people = counted(len(restored.people), "person", "people")
        print(f"Restored {counted(restored.rows, 'row')} of {people}.")
        for person in restored.people:
            await embed_all(house, person)


def listed(contents: Contents) -> str:
    """What an export of ours holds, to read."""
    lines = [f"An export of Oldfriend, of {', '.join(contents.people) or 'nobody'}:"]
    return "\n".join([*lines, *(f"  {rows:>8,}  {name}" for name, rows in contents.rows.items())])


def was(count: int) -> str:
    """The verb for a number of things that something happened to."""
    return "was" if count == 1 else "were"
