"""Source records: the beliefs, tasks, goals, watches and messages that an impulse rests on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.diary.diary_store import find_entry
from oldfriend.domain.belief_kinds import PATTERN
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import MemoryId, MessageId, ObjectId
from oldfriend.domain.memories import Evidence, StoredBelief
from oldfriend.domain.messages import Person
from oldfriend.goals.goal_store import find_goal
from oldfriend.lang.detection import detect_language
from oldfriend.memory.belief_views import get_memory_state, list_memories
from oldfriend.memory.evidence import list_object_evidence
from oldfriend.memory.message_log import get_message
from oldfriend.memory.receipts import ReceiptItem
from oldfriend.memory.working_memory import UserEmotion
from oldfriend.proactive.impulse_sources import may_be_told
from oldfriend.prompts.locale_phrases import choose_language, load_phrases
from oldfriend.tasks.task_store import find_task
from oldfriend.turn.intent import tells_of_loss
from oldfriend.turn.message_analysis import detect_emotion
from oldfriend.turn.quotes import extract_excerpt
from oldfriend.turn.receipt_items import build_listed_item
from oldfriend.watches.watch_phrases import load_watch_phrases
from oldfriend.watches.watch_store import find_watch

MAX_PATTERNS: Final = 3
SAD: Final[frozenset[UserEmotion]] = frozenset({"frustrated", "anxious", "overwhelmed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceRecord:
    """Something that an impulse rests on, as it is told."""

    item: ReceiptItem | None  # None: a program asked for it
    quote: str  # the words of the person, or the belief where there are none
    said_at: Micros
    zone: str
    memory: StoredBelief | None = None  # None: a message
    is_by_companion: bool = False
    due_at: Micros | None = None  # of a task
    is_date_only: bool = False
    is_delivered: bool = False  # a reminder that came, and was not done
    found: str = ""  # what was seen of a watch
    diary_days: tuple[date, ...] = ()  # of the entries that a belief rests on


async def load_source_records(
    tx: Transaction, person: Person, sources: Sequence[str]
) -> list[SourceRecord] | None:
    """Load what an impulse rests on; None if something of it is gone or believed no more."""
    records: list[SourceRecord] = []
    evidence = await list_object_evidence(tx, person.id, [ObjectId(each) for each in sources])
    for source in sources:
        try:
            state = await get_memory_state(tx, person.id, MemoryId(ObjectId(source)))
        except NotFound:
            record = await find_task_record(tx, person, source)
            record = record or await find_watch_record(tx, person, source)
            record = record or await find_goal_record(tx, person, source)
            record = record or await find_diary_record(tx, person, source)
            record = record or await find_message_record(tx, person, source)
            if record is None:
                return None
            records.append(record)
            continue
        if not may_be_told(state.memory):
            return None
        records.append(
            build_memory_record(
                state.memory, state.base_seq, evidence.get(ObjectId(source), []), person
            )
        )
    return records


async def find_task_record(tx: Transaction, person: Person, source: str) -> SourceRecord | None:
    """Return the record of a task that is not done, with the message that asked for it if any."""
    task = await find_task(tx, person.id, source)
    if task is None or task.status not in {"open", "delivered"}:
        return None
    asked: SourceRecord | None = SourceRecord(
        item=None, quote="", said_at=task.created_at, zone=person.zone
    )
    if task.message is not None:
        asked = await find_message_record(tx, person, task.message)
    if asked is None:
        return None
    return replace(
        asked,
        quote=task.text,
        due_at=task.due_at,
        is_date_only=task.is_told_by_day,
        is_delivered=task.status == "delivered",
    )


async def find_goal_record(tx: Transaction, person: Person, source: str) -> SourceRecord | None:
    """Return the record of an open goal, with the message that set it if one did."""
    goal = await find_goal(tx, person.id, source)
    if goal is None or goal.status != "active":
        return None
    if goal.message is None:
        return SourceRecord(item=None, quote=goal.text, said_at=goal.created_at, zone=person.zone)
    told = await find_message_record(tx, person, goal.message)
    return None if told is None else replace(told, quote=goal.text)


async def find_watch_record(tx: Transaction, person: Person, source: str) -> SourceRecord | None:
    """Return the record of a watch by which something was seen; None for any other."""
    watch = await find_watch(tx, person.id, source)
    if watch is None or not watch.has_seen:
        return None
    told = load_watch_phrases(watch.language).tell(watch)
    if watch.message is None:
        return SourceRecord(
            item=None, quote=watch.text, said_at=watch.created_at, zone=person.zone, found=told
        )
    asked = await find_message_record(tx, person, watch.message)
    return None if asked is None else replace(asked, quote=watch.text, found=told)


async def find_diary_record(tx: Transaction, person: Person, source: str) -> SourceRecord | None:
    """Return the record of an entry of the diary, with the message that wrote it if one did.

    None for one whose own words tell of something sad: its day is not brought up unasked.
    """
    entry = await find_entry(tx, person.id, source)
    if entry is None or is_sad(entry.text, choose_language(person.language)):
        return None
    return SourceRecord(
        item=None
        if entry.message is None or entry.message_seq is None
        else build_listed_item("message", entry.message, entry.message_seq),
        quote=extract_excerpt(entry.text, ()),
        said_at=entry.written_at,
        zone=entry.zone,
    )


def is_sad(text: str, usual: str) -> bool:
    """Whether a text tells of a loss, or of what weighs on somebody."""
    language = choose_language(detect_language(text, fallback=usual))
    patterns = load_phrases(language).patterns
    is_stressed = patterns.stressed.search(text) is not None
    return is_stressed or tells_of_loss(text, patterns) or detect_emotion(text, language) in SAD


async def find_message_record(tx: Transaction, person: Person, source: str) -> SourceRecord | None:
    """Return the record of a message; None if there is none with this id."""
    try:
        message = await get_message(tx, person.id, MessageId(ObjectId(source)))
    except NotFound:
        return None
    return SourceRecord(
        item=build_listed_item("message", message.id, message.version),
        quote=extract_excerpt(message.text, ()),
        said_at=message.at,
        zone=message.zone,
    )


def build_memory_record(
    memory: StoredBelief, version: int, evidence: Sequence[Evidence], person: Person
) -> SourceRecord:
    """Return the record of a belief: the newest words that it rests on, or its own."""
    supports = [
        each
        for each in evidence
        if each.stance == "supports" and each.trust in {"person", "companion"}
    ]
    item = build_listed_item("memory", memory.id, version)
    if not supports:
        return SourceRecord(
            item=item,
            quote=memory.text,
            said_at=memory.learned_at,
            zone=person.zone,
            memory=memory,
        )
    newest = supports[-1]
    return SourceRecord(
        item=item,
        quote=extract_excerpt(newest.quote, ()),
        said_at=newest.said_at,
        zone=newest.zone,
        memory=memory,
        is_by_companion=newest.trust == "companion",
    )


async def load_patterns(tx: Transaction, person: Person) -> list[SourceRecord]:
    """Load the foremost of what is believed to recur in somebody's life."""
    known = await list_memories(tx, person.id, kinds=[PATTERN.name])
    known = [each for each in known if may_be_told(each.memory)]
    known.sort(key=lambda each: (each.memory.importance, each.memory.learned_at), reverse=True)
    known = known[:MAX_PATTERNS]
    evidence = await list_object_evidence(tx, person.id, [each.memory.id for each in known])
    return [
        replace(
            build_memory_record(each.memory, each.base_seq, (), person),
            diary_days=list_diary_days(evidence.get(each.memory.id, ())),
        )
        for each in known
    ]


def list_diary_days(evidence: Sequence[Evidence]) -> tuple[date, ...]:
    """Return the days of the diary that support a belief, each once."""
    days = (each.diary_day for each in evidence if each.stance == "supports")
    return tuple(sorted({each for each in days if each is not None}))
