"""Deletion selection: resolves a request to message versions and beliefs.

Reads only; the deletion plan computes what follows for everything else.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Final

from oldfriend.db.database import SqlValue, Transaction
from oldfriend.domain.clock import MAX_TIME, Micros
from oldfriend.domain.errors import AmbiguousName, InvalidInput, NotFound
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import (
    MIN_ID_CHARS,
    ObjectId,
    PersonId,
    TurnId,
    build_ambiguous_id_error,
    build_id_patterns,
    shorten_id,
)
from oldfriend.domain.memories import Entity, JournalEntry, JournalObject, StoredBelief, Summary
from oldfriend.memory.belief_views import MAX_ID_CANDIDATES, list_entities, list_memories
from oldfriend.memory.deletion.memory_snapshot import MemorySnapshot, join_entry_text, load_snapshot
from oldfriend.memory.deletion.orphan_analysis import (
    LatestEntries,
    get_latest_entries,
    is_written_by_person,
)
from oldfriend.memory.deletion.own_records import find_record_ids, list_own_records
from oldfriend.memory.evidence import list_evidence
from oldfriend.memory.import_batches import get_batch


def select_leftovers(snapshot: MemorySnapshot) -> dict[ObjectId, JournalEntry]:
    """Return the ended beliefs whose sources are no longer stored, each as decided last."""
    message_ids = {each.id for each in snapshot.messages}
    segments = {each.id for each in snapshot.segments}
    with_evidence = {each.object for each in snapshot.evidence}
    sources: dict[ObjectId, set[str]] = {}
    for entry in snapshot.journal:
        sources.setdefault(entry.object_id, set()).update(each.message for each in entry.causes)

    def is_left(each: ObjectId, after: JournalObject) -> bool:
        if isinstance(after, Summary):
            return segments.isdisjoint(after.segments)
        return (
            each not in with_evidence
            and bool(sources[each])
            and message_ids.isdisjoint(sources[each])
        )

    return {
        each: entry
        for each, entry in get_latest_entries(snapshot).items()
        if entry.after.ended_at is not None
        and not is_written_by_person(entry)
        and is_left(each, entry.after)
    }


def list_beliefs_without_evidence(snapshot: MemorySnapshot) -> dict[ObjectId, JournalEntry]:
    """Return the leftovers, and the beliefs that the person has rejected, which are not relearned
    from other words.
    """
    latest = get_latest_entries(snapshot).items()
    return select_leftovers(snapshot) | {
        each: entry for each, entry in latest if entry.op == "rejected"
    }


def filter_by_learned_time(
    snapshot: MemorySnapshot, leftovers: LatestEntries, since: Micros, until: Micros
) -> frozenset[ObjectId]:
    """Return those of some leftovers that were learned in a time span, both ends included."""
    first: dict[ObjectId, Micros] = {}
    for entry in snapshot.journal:
        first.setdefault(entry.object_id, entry.decided_at)
    return frozenset(each for each in leftovers if since <= first[each] <= until)


def select_matching_leftovers(
    leftovers: LatestEntries, deleted: LatestEntries
) -> dict[ObjectId, JournalEntry]:
    """Select the leftovers that are deleted, or that say the same as a deleted belief."""
    deleted_keys = {build_content_key(entry) for entry in deleted.values()}
    return {
        each: entry
        for each, entry in leftovers.items()
        if each in deleted or build_content_key(entry) in deleted_keys
    }


def build_content_key(entry: JournalEntry) -> tuple[str, str]:
    """Return the class and the casefolded text of a belief, for comparison."""
    return type(entry.after).__name__, join_entry_text(entry).casefold()


_UNSPACED_CHARS: Final = r"\u2e80-\u9fff\uac00-\ud7af"
_UNSPACED: Final = re.compile(f"[{_UNSPACED_CHARS}]")


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeEnd:
    """How far everything reaches: what was there when the person said yes to it."""

    message: int  # the seq of the yes
    reply: int  # the seq of what was answered to it, which goes, too
    change: int  # the newest decision of the journal by then
    at: Micros  # when the yes was said


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionRequest:
    """What somebody wants deleted, as they name it; all that is named is deleted."""

    ids: tuple[str, ...] = ()  # whole or partial ids of messages, beliefs and own records
    about: str | None = None  # the name or id of somebody or something
    also_about: tuple[str, ...] = ()  # more of them
    since: Micros | None = None  # what was said or made from then on …
    until: Micros | None = None  # … and before then
    batch: int | None = None  # the number of an import
    everything: bool = False
    up_to: PurgeEnd | None = None  # of everything; None: all that is there
    retained_since: Micros | None = (
        None  # older messages are deleted, what was learned from them stays
    )
    turns: frozenset[TurnId] = frozenset()  # in which it was asked for; what else they made stays


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletionSelection:
    """What is deleted because it was named."""

    seqs: frozenset[int] = frozenset()  # of message versions
    objects: frozenset[ObjectId] = frozenset()
    records: frozenset[str] = frozenset()  # ids of own records, such as reminders and goals
    batches: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()  # of a deleted person or thing; they are removed everywhere
    words: frozenset[str] = (
        frozenset()
    )  # by which messages were selected, also if they are no names
    is_everything: bool = False
    later_seqs: frozenset[int] = frozenset()  # of messages that stay although everything goes
    later_records: frozenset[str] = frozenset()  # ids of the records that stay then
    asking_seqs: frozenset[int] = frozenset()  # of messages of the turns in which it was asked for

    def union(self, other: "DeletionSelection") -> "DeletionSelection":
        """Return both selections together."""
        return DeletionSelection(
            seqs=self.seqs | other.seqs,
            objects=self.objects | other.objects,
            records=self.records | other.records,
            batches=self.batches | other.batches,
            names=self.names | other.names,
            words=self.words | other.words,
            is_everything=self.is_everything or other.is_everything,
            later_seqs=self.later_seqs | other.later_seqs,
            later_records=self.later_records | other.later_records,
            asking_seqs=self.asking_seqs | other.asking_seqs,
        )


async def select_for_deletion(
    tx: Transaction, person: PersonId, deletion_request: DeletionRequest
) -> DeletionSelection:
    """Select everything that a request names. Raises NotFound, InvalidInput."""
    selection = DeletionSelection()
    for each in deletion_request.ids:
        selection = selection.union(await select_by_id(tx, person, each))
    for each in filter(None, (deletion_request.about, *deletion_request.also_about)):
        selection = selection.union(await select_about(tx, person, each))
    if deletion_request.since is not None or deletion_request.until is not None:
        selection = selection.union(
            await select_by_time(tx, person, deletion_request.since or 0, deletion_request.until)
        )
    if deletion_request.retained_since is not None:
        selection = selection.union(
            await select_by_time(tx, person, None, deletion_request.retained_since)
        )
    if deletion_request.batch is not None:
        selection = selection.union(await select_by_batch(tx, person, deletion_request.batch))
    if deletion_request.everything:
        selection = selection.union(await select_all(tx, person, deletion_request.up_to))
    asking: set[int] = set()
    for turn in sorted(deletion_request.turns):
        rows = await tx.rows(
            "SELECT seq FROM message WHERE person = :person AND turn = :turn",
            person=person,
            turn=turn,
        )
        asking.update(int(row[0]) for row in rows)
    return replace(selection, asking_seqs=frozenset(asking))


async def select_by_id(tx: Transaction, person: PersonId, partial_id: str) -> DeletionSelection:
    """Select the message, belief or own record that a partial id means.

    An imported entry has the id of its message, and goes with it. Raises NotFound, InvalidInput.
    """
    patterns = build_id_patterns(partial_id)
    values: dict[str, SqlValue] = {"person": person, "most": MAX_ID_CANDIDATES, **patterns}
    messages = await tx.rows(
        """SELECT DISTINCT id FROM message WHERE person = :person
           AND (id LIKE :begins OR id LIKE :ends OR id LIKE :shown) ORDER BY id LIMIT :most""",
        **values,
    )
    objects = await tx.rows(
        """SELECT DISTINCT object, kind FROM change WHERE person = :person
           AND (object LIKE :begins OR object LIKE :ends OR object LIKE :shown)
           ORDER BY object LIMIT :most""",
        **values,
    )
    records = await find_record_ids(tx, person, patterns, limit=MAX_ID_CANDIDATES)
    found = {
        **{each: kind.replace("_", " ") for each, kind in records.items()},
        **{row[0]: row[1] for row in objects},
        **{row[0]: "something said" for row in messages},
    }
    if len(found) > 1:
        raise build_ambiguous_id_error(partial_id, found)
    if messages:
        return DeletionSelection(seqs=await load_version_seqs(tx, person, [messages[0][0]]))
    if objects:
        return DeletionSelection(objects=frozenset({ObjectId(objects[0][0])}))
    if records:
        return DeletionSelection(records=frozenset(records))
    raise NotFound(localizable("forget_gone", f"Nothing stored has the id {partial_id!r}."))


async def load_version_seqs(
    tx: Transaction, person: PersonId, messages: Iterable[str]
) -> frozenset[int]:
    """Return the seqs of all versions of some messages."""
    found: set[int] = set()
    for message in messages:
        rows = await tx.rows(
            "SELECT seq FROM message WHERE person = :person AND id = :id",
            person=person,
            id=message,
        )
        found.update(int(row[0]) for row in rows)
    return frozenset(found)


async def select_by_time(
    tx: Transaction, person: PersonId, since: Micros | None, until: Micros | None
) -> DeletionSelection:
    """Select all versions of messages said in a time span.

    ``since`` of None is for what is too old: then only what was said is.
    """
    rows = await tx.rows(
        """SELECT seq FROM message WHERE person = :person
           AND (:since IS NULL OR said_at >= :since) AND said_at < :until""",
        person=person,
        since=since,
        until=MAX_TIME if until is None else until,
    )
    return DeletionSelection(
        seqs=frozenset(int(row[0]) for row in rows),
        records=frozenset[str]()
        if since is None
        else await select_records_by_time(tx, person, since, MAX_TIME if until is None else until),
    )


async def select_records_by_time(
    tx: Transaction, person: PersonId, since: Micros, until: Micros
) -> frozenset[str]:
    """Select the own records of a time span that no message made; others go with theirs."""
    return frozenset(
        each.id
        for each in await list_own_records(tx, person)
        if each.message is None and any(since <= at < until for at in each.times)
    )


async def select_by_batch(tx: Transaction, person: PersonId, number: int) -> DeletionSelection:
    """Select what an import brought: messages in all versions, its versions of others, tasks.

    For an undone import, select its leftovers. Raises NotFound.
    """
    batch = await get_batch(tx, person, number)
    if batch.status == "undone" and batch.ended_at is not None:
        snapshot = await load_snapshot(tx, person)
        leftovers = filter_by_learned_time(
            snapshot, select_leftovers(snapshot), batch.started_at, batch.ended_at
        )
        return DeletionSelection(objects=leftovers, batches=frozenset({batch.id}))
    rows = await tx.rows(
        """SELECT seq FROM message WHERE person = :person AND (batch = :batch OR id IN
             (SELECT id FROM message WHERE person = :person AND batch = :batch AND version = 1))""",
        person=person,
        batch=batch.id,
    )
    tasks = await tx.rows(
        "SELECT id FROM task WHERE person = :person AND batch = :batch",
        person=person,
        batch=batch.id,
    )
    return DeletionSelection(
        seqs=frozenset(int(row[0]) for row in rows),
        records=frozenset(row[0] for row in tasks),
        batches=frozenset({batch.id}),
    )


async def select_all(
    tx: Transaction, person: PersonId, up_to: PurgeEnd | None
) -> DeletionSelection:
    """Select all messages, beliefs and records, except what came after the yes."""
    yes = await tx.rows(
        "SELECT written_at FROM message WHERE person = :person AND seq = :yes",
        person=person,
        yes=MAX_TIME if up_to is None else up_to.message,
    )
    said_at = int(yes[0][0]) if yes else MAX_TIME
    seqs = await tx.rows("SELECT seq FROM message WHERE person = :person", person=person)
    later = await tx.rows(
        """SELECT seq FROM message WHERE person = :person AND seq > :yes
           AND (seq > :reply OR role <> 'companion')""",
        person=person,
        yes=MAX_TIME if up_to is None else up_to.message,
        reply=MAX_TIME if up_to is None else up_to.reply,
    )
    objects = await tx.rows(
        """SELECT object FROM change WHERE person = :person
           GROUP BY object HAVING min(seq) <= :last""",
        person=person,
        last=MAX_TIME if up_to is None else up_to.change,
    )
    batches = await tx.rows(
        "SELECT id FROM import_batch WHERE person = :person AND started_at <= :said_at",
        person=person,
        said_at=said_at,
    )
    records = await list_own_records(tx, person)
    later_seqs = frozenset(int(row[0]) for row in later)
    return DeletionSelection(
        seqs=frozenset(int(row[0]) for row in seqs) - later_seqs,
        objects=frozenset(ObjectId(row[0]) for row in objects),
        batches=frozenset(row[0] for row in batches),
        is_everything=True,
        later_seqs=later_seqs,
        later_records=frozenset(
            each.id
            for each in records
            if (each.made_at > said_at if each.message is None else each.message_seq in later_seqs)
        ),
    )


async def select_about(tx: Transaction, person: PersonId, name: str) -> DeletionSelection:
    """Select a person or thing: its entity, and what is believed, said or noted of it.

    A name that another entity shares does not select a message. Raises NotFound, InvalidInput.
    """
    entities = await list_entities(tx, person, live=False)
    entity = find_entity_by_name(name, entities)
    names = frozenset({name.strip()}) if entity is None else list_unshared_names(entity, entities)
    speakers = await list_matching_speakers(tx, person, names)
    names |= speakers
    memories = [
        each.memory
        for each in await list_memories(tx, person, live=False)
        if (entity is not None and entity.id in each.memory.entities)
        or has_any_name(join_memory_text(each.memory), names)
    ]
    objects = {memory.id for memory in memories} | ({entity.id} if entity is not None else set())
    evidence = await list_evidence(tx, person)
    message_ids = {piece.message for each in objects for piece in evidence.get(each, ())}
    rows = await tx.rows(
        "SELECT id, seq, speaker, text, details FROM message WHERE person = :person", person=person
    )
    message_ids.update(
        message
        for message, _, speaker, text, details in rows
        if speaker in speakers or has_any_name(f"{text}\n{details or ''}", names)
    )
    records = frozenset(
        each.id for each in await list_own_records(tx, person) if has_any_name(each.searched, names)
    )
    if not (objects or message_ids or records):
        raise NotFound(
            localizable("forget_about_unknown", f"Nothing stored is about {name!r}.", name=name)
        )
    participants = await load_participant_names(tx, person)
    is_identified = entity is not None or bool(speakers)
    return DeletionSelection(
        seqs=frozenset(int(row[1]) for row in rows if row[0] in message_ids),
        objects=frozenset(ObjectId(each) for each in objects),
        records=records,
        words=names,
        names=frozenset(
            each for each in names if is_identified and each.casefold() not in participants
        ),
    )


def join_memory_text(memory: StoredBelief) -> str:
    """Return all text of a memory, line by line."""
    return "\n".join([memory.text, memory.key, memory.value, *memory.tags, *memory.cues])


async def list_matching_speakers(
    tx: Transaction, person: PersonId, names: Collection[str]
) -> frozenset[str]:
    """Return other speakers with such a name or a longer one, not the person or the companion."""
    rows = await tx.rows(
        """SELECT DISTINCT speaker FROM message
           WHERE person = :person AND role NOT IN ('person', 'companion')""",
        person=person,
    )
    participants = await load_participant_names(tx, person)
    return frozenset(
        row[0]
        for row in rows
        if has_any_name(row[0], names) and row[0].casefold() not in participants
    )


async def load_participant_names(tx: Transaction, person: PersonId) -> frozenset[str]:
    """Return the names of the person and the companion, casefolded."""
    rows = await tx.rows(
        """SELECT name FROM person WHERE id = :person UNION SELECT name FROM companion
           UNION SELECT DISTINCT speaker FROM message
             WHERE person = :person AND role IN ('person', 'companion')""",
        person=person,
    )
    return frozenset(row[0].casefold() for row in rows)


def find_entity_by_name(name: str, entities: Collection[Entity]) -> Entity | None:
    """Return the only entity with this name or partial id, or None.

    Raises InvalidInput for an empty name or several matches.
    """
    wanted = name.strip().casefold()
    if len(wanted) < 1:
        raise InvalidInput(
            localizable(
                "forget_about_nobody", "Give the name of somebody or something: --about NAME"
            )
        )
    matches = [
        each
        for each in entities
        if wanted in {known.casefold() for known in (each.name, *each.aliases)}
    ]
    if not matches and len(wanted) >= MIN_ID_CHARS:
        matches = [
            each
            for each in entities
            if each.id.startswith(wanted)
            or each.id.endswith(wanted)
            or shorten_id(each.id).startswith(wanted)
        ]
    live = [each for each in matches if each.ended_at is None]
    found = live or matches
    if len(found) > 1:
        which = ", ".join(
            f"{shorten_id(each.id)} ({each.description or each.kind})" for each in found
        )
        raise AmbiguousName(
            localizable(
                "forget_several",
                f"There are several called {name!r}. Give the id of one: {which}",
                name=name,
            ),
            which=which,
        )
    return found[0] if found else None


def list_unshared_names(entity: Entity, entities: Iterable[Entity]) -> frozenset[str]:
    """Return the names of an entity that no other live entity shares."""
    others = {
        known.casefold()
        for each in entities
        if each.id != entity.id and each.same_as != entity.id and each.ended_at is None
        for known in (each.name, *each.aliases)
    }
    return frozenset(
        known for known in (entity.name, *entity.aliases) if known.casefold() not in others
    )


def has_any_name(text: str, names: Collection[str]) -> bool:
    """Whether a text contains one of these names as a whole word."""
    folded = text.casefold()
    return any(
        (name.casefold() in folded)
        and (_UNSPACED.search(name) is not None or is_whole_word(name, folded))
        for name in names
    )


def is_whole_word(name: str, folded: str) -> bool:
    """Whether a name occurs as a whole word in a casefolded text, also between unspaced letters."""
    begin, end = rf"(?<![^\W{_UNSPACED_CHARS}])", rf"(?![^\W{_UNSPACED_CHARS}])"
    return re.search(f"{begin}{re.escape(name.casefold())}{end}", folded) is not None
