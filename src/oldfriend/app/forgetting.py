"""How is something forgotten, from the wish to the proof?

First it is foreseen, so that somebody can look at it. Then all of it goes in one transaction, the
files are cleaned, and it is looked for once more wherever it could be. What was forgotten is known
by keyed prints from then on, so that the same words are not brought in or learned again.
"""

import asyncio
import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.app.attaching import erase
from oldfriend.app.choices.forgetting_key import ensure_forgetting_key
from oldfriend.app.forming.tending import plan_tending
from oldfriend.app.house import House
from oldfriend.app.parcels import BROUGHT, remove_parcels
from oldfriend.app.remains import forget_typed, remove_backups, search_files, sought
from oldfriend.db.database import Transaction
from oldfriend.domain.attachments import Attachment
from oldfriend.domain.clock import DAY, Micros, parse_moment, start_of_day
from oldfriend.domain.errors import InvalidInput, StaleDecision
from oldfriend.domain.ids import PersonId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import Memory
from oldfriend.domain.people import Person
from oldfriend.domain.remembered import let_go
from oldfriend.domain.sayings import saying
from oldfriend.ledger.forgetting import Exposed, find_exposed, redact_calls
from oldfriend.ledger.looking_back import count_by_model
from oldfriend.memory.attachments import list_attachments, remove_attachments
from oldfriend.memory.forgetting.auditing import Audited, Deed, write_audit
from oldfriend.memory.forgetting.choosing import Wish, choose
from oldfriend.memory.forgetting.foreseeing import Foreseen, foresee
from oldfriend.memory.forgetting.holding import text_of
from oldfriend.memory.forgetting.proving import Left, find_left, spans_of_others
from oldfriend.memory.forgetting.removing import Marker, counts_of, remove
from oldfriend.memory.forgetting.spans import words_of
from oldfriend.memory.forgetting.tombstones import (
    lay,
    lay_key,
    print_of,
    prints_of,
    prints_of_belief,
)
from oldfriend.memory.groups import list_chats_in_groups
from oldfriend.memory.people import get_person_by_id, list_people, lock_person
from oldfriend.prompts.phrasebook import phrasebook, spoken_language
from oldfriend.queues.forgetting import withdraw_letters

RETAIN: Final = "retain"
"""The job that lets messages go which are older than the person wants."""
A_DATE: Final = 10
"""Characters of "2024-05-03"."""
CHANGED: Final = saying(
    "forget_changed", "Something has changed since you looked: look once more at what would go.",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What would be forgotten, and who has seen it."""

    foreseen: Foreseen
    counts: Mapping[str, int]
    receipts: int  # of replies that stood on it
    calls: Mapping[str, int]  # of models that were shown it, or said it, by model
    backups: tuple[str, ...]  # copies of the database that are deleted

    @property
    def digest(self) -> str:
        """By which it is known again whether the same would go now."""
        return digest_of(self.foreseen)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was forgotten, without a word of it."""

    counts: Mapping[str, int]
    ids: tuple[str, ...]
    near: tuple[str, ...]  # messages that stay and say nearly the same, or …
    read_from: tuple[str, ...]  # … of those: what beliefs that went were read from
    orphans: tuple[str, ...]  # beliefs that were not forgotten
    left: tuple[Left, ...]  # where something still stands; empty: it is gone
    files: int  # that were looked through; none where a server has them
    log_is_empty: bool  # False: others still read from the log of writes, or a server keeps it
    stuck: tuple[str, ...]  # copies that could not be deleted
    was_in_group: bool  # some of it: the group and its members keep what they heard themselves

    @property
    def is_proved(self) -> bool:
        """Whether what was to go was looked for everywhere in reach, and is nowhere.

        What a belief was read from may stay: ``read_from`` says so.
        """
        return not (self.left or self.stuck)

    @property
    def digest(self) -> str:
        """By which this very report is known again."""
        told: dict[str, JsonValue] = {"counts": dict(self.counts), "ids": list(self.ids)}
        return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


async def preview(house: House, person: PersonId, wish: Wish, *, orphan: bool = False) -> Preview:
    """What a wish would take away; nothing is written. Raises NotFound, InvalidInput."""
    async with house.db.reading() as tx:
        plan = await foresee(tx, person, await choose(tx, person, wish), orphan=orphan)
        exposed = await exposed_by(tx, plan)
        calls = await count_by_model(tx, person, {*exposed.shown, *exposed.telling})
    return Preview(
        foreseen=plan, counts=counts_of(plan), receipts=plan.answers,
        calls=calls,
        backups=tuple(each.name for each in house.db.backups()),
    )  # fmt: skip


async def forget(
    house: House, person: PersonId, wish: Wish, *, orphan: bool = False, deed: Deed = "forget",
    seen: str | None = None,
) -> Report:  # fmt: skip
    """Take away everything that a wish names, with all that follows from it, and prove it.

    ``seen``: the digest of the preview that somebody has looked at; nothing goes that was not in
    it. Raises NotFound, InvalidInput, StoreError, and StaleDecision where it is another now.
    """
    async with house.db.writing() as tx:
        await lock_person(tx, person)
        plan = await foresee(tx, person, await choose(tx, person, wish), orphan=orphan)
        if seen is not None and seen != digest_of(plan):
            raise StaleDecision(CHANGED)
        was_in_group = await is_of_group(tx, plan)
        sounds = await take_sounds(tx, plan)
        await take_away(tx, house, plan, now=house.clock())
        if deed == "forget":
            await lay_tombstones(tx, house, plan)
        report = report_of(plan, was_in_group=was_in_group)
        await write_audit(tx, person, audited(report, deed, now=house.clock()))
        if house.settings.memory.forms and (plan.messages or plan.reread):
            await plan_tending(tx, person, now=house.clock(), due_at=house.clock())
        await tx.wake()
    house.waking.ring()
    return await proved(house, plan, await clean_files(house, plan, wish, report, sounds))


def digest_of(plan: Foreseen) -> str:
    """By which it is known again what goes, and what becomes of the rest."""
    told: dict[str, object] = {
        "messages": sorted([each.id, each.version] for each in plan.messages),
        "objects": sorted(plan.objects), "anew": sorted(plan.anew),
        "orphans": sorted(plan.orphans), "freed": sorted(plan.freed),
        "keeping": dict(plan.keeping), "outdated": sorted(plan.outdated),
        "replies": sorted([each.id, each.version] for each in plan.replies),
        "titles": sorted(plan.titles),
    }  # fmt: skip
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def span_between(first: str, last: str, zone: str) -> tuple[Micros, Micros]:
    """From the beginning of the first day to the end of the second, or from time to time.

    Raises InvalidInput.
    """
    since, until = parse_moment(first, zone)[0], parse_moment(last, zone)[0]
    if len(last) == A_DATE:
        until = start_of_day(until, zone, days_back=-1)
    if until <= since:
        raise InvalidInput(saying(
            "span_backwards", f"A span takes the earlier date first, and not {first} and {last}.",
            first=str(first), last=str(last),
        ))  # fmt: skip
    return since, until


async def exposed_by(tx: Transaction, plan: Foreseen) -> Exposed:
    """The calls of models that saw what goes: itself, or in a reply that loses its words."""
    seen = plan.gone | {each.id for each in plan.replies}
    return await find_exposed(tx, plan.person, seen, plan.holds_words)


async def take_away(tx: Transaction, house: House, plan: Foreseen, *, now: Micros) -> None:
    """Remove what goes from every table, in the caller's transaction."""
    person = await get_person_by_id(tx, plan.person)
    exposed = await exposed_by(tx, plan)
    turns = {each.turn for each in (*plan.messages, *plan.replies) if each.turn is not None}
    await redact_calls(tx, plan.person, exposed, plan.gone, turns=turns)
    await remove(tx, plan, marker_for(person, house), now=now)
    silenced = frozenset(each.id for each in plan.replies)
    await withdraw_letters(tx, plan.person, plan.gone | silenced, plan.holds_words)


async def take_sounds(tx: Transaction, plan: Foreseen) -> list[Attachment]:
    """Take away the rows of sounds that say what goes; their files go once that is committed."""
    going = {*plan.gone, *(each.id for each in (*plan.messages, *plan.replies))}
    sounds = [each for each in await list_attachments(tx, plan.person) if each.message in going]
    await remove_attachments(tx, plan.person, sounds)
    return sounds


def marker_for(person: Person, house: House) -> Marker:
    """What stands in a reply that lost its words, in the person's language."""
    language = spoken_language(person.language, house.settings.language)
    return Marker(text=phrasebook(language).say["taken_back"], language=language)


async def lay_tombstones(tx: Transaction, house: House, plan: Foreseen) -> None:
    """Let what was forgotten be known again, without its words; not what is to be learned anew."""
    key = ensure_forgetting_key(house.settings)
    prints = {
        each for said in plan.messages for each in prints_of(key, said.text, said_at=said.said_at)
    }
    for each, change in plan.objects.items():
        if each not in plan.anew and isinstance(change.after, Memory):
            prints.update(prints_of_belief(key, change.after))
    prints.update(print_of(key, each) for each in plan.quoted)
    await lay(tx, plan.person, prints, now=house.clock())
    await lay_key(tx, plan.person, key)


async def clean_files(
    house: House, plan: Foreseen, wish: Wish, report: Report, sounds: Collection[Attachment]
) -> Report:  # fmt: skip
    """Take it out of files: sounds, what was typed, the log of writes, copies of the database.

    With everything, also what was handed over and waits to be brought in.
    """
    says_it = None if wish.everything else typed_of(plan)
    await asyncio.to_thread(forget_typed, house.settings.data, plan.person, says_it)
    stuck = await erase(house.settings, sounds)
    stuck += await asyncio.to_thread(remove_backups, house.db)
    if wish.everything:
        brought = house.settings.data / BROUGHT
        stuck += await asyncio.to_thread(remove_parcels, brought, plan.person)
    is_empty = await house.db.wipe_log()
    return replace(report, log_is_empty=is_empty, stuck=tuple(each.name for each in stuck))


def typed_of(plan: Foreseen) -> Callable[[str], bool]:
    """Whether a typed line is a message that goes, or holds its words."""
    said = {words_of(each.text) for each in plan.messages}
    return lambda line: words_of(line) in said or plan.holds_words(line)


async def proved(house: House, plan: Foreseen, report: Report) -> Report:
    """Look once more for everything that went: in all tables, and in the bytes of the files.

    A file in which something stayed is written anew, and looked through again.
    """
    said = [each.text for each in plan.messages]
    believed = [text_of(change) for change in plan.objects.values()]
    what = sought(plan.spans, [*said, *believed])
    let_go()
    searched = await search_files(house.db, house.settings.data, plan.person, what)
    async with house.db.reading() as tx:
        left = await find_left(tx, plan)
        allowed = frozenset[int]()
        if searched.spans:
            allowed = await spans_of_others(tx, plan.person, searched.spans)
    ours = {each.name for each in house.db.files()}
    is_in_pages = any(each.place in ours for each in searched.besides(allowed))
    if is_in_pages and await house.db.write_anew():
        searched = await search_files(house.db, house.settings.data, plan.person, what)
    return replace(report, left=(*left, *searched.besides(allowed)), files=searched.files)


async def is_of_group(tx: Transaction, plan: Foreseen) -> bool:
    """Whether something that goes was said in a group."""
    chats = await list_chats_in_groups(tx, plan.person)
    return any(each.chat in chats for each in plan.messages)


def report_of(plan: Foreseen, *, was_in_group: bool) -> Report:
    """What goes, before it is proved."""
    return Report(
        counts=counts_of(plan), ids=tuple(sorted(plan.gone)),
        near=tuple(each.id for each in plan.near), read_from=tuple(sorted(plan.read_from)),
        orphans=tuple(sorted(plan.orphans)),
        left=(), files=0, log_is_empty=False, stuck=(), was_in_group=was_in_group,
    )  # fmt: skip


def audited(report: Report, deed: Deed, *, now: Micros) -> Audited:
    """What is kept of it: that it was done, and how much."""
    return Audited(done_at=now, what=deed, counts=report.counts, digest=report.digest)


async def retain(house: House, person: PersonId) -> Report | None:
    """Let go of messages older than was chosen; what was learned from them stays, as orphans.

    None where everything may stay, or nothing is that old.
    """
    days = house.settings.retention.messages_days
    if days is None:
        return None
    wish = Wish(retained_since=house.clock() - days * DAY)
    async with house.db.reading() as tx:
        if not (await choose(tx, person, wish)).seqs:
            return None
    return await forget(house, person, wish, orphan=True, deed="retain")


async def retain_for_everybody(house: House) -> None:
    """Let go of everybody's messages that are older than was chosen."""
    async with house.db.reading() as tx:
        people = await list_people(tx)
    for person in people:
        await retain(house, person.id)
