"""Audit trail: what was done for a person, by what, why and at what cost, also what was denied.

It joins what is kept of model calls, tools, deletions and the other events, and holds no words of
the memory itself, but what a program asked of it.
"""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Final, Literal, Protocol

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import PersonId
from oldfriend.goals.goal import STATUSES as GOAL_STATUSES
from oldfriend.goals.goal import Goal, Progress
from oldfriend.goals.goal_desk import UNMEASURED
from oldfriend.goals.goal_store import list_goals
from oldfriend.goals.goal_totals import PARTS_OF_UNIT, find_total
from oldfriend.memory.deletion.audit_log import AuditEntry, list_audit_entries
from oldfriend.tasks.task import STATUSES
from oldfriend.tasks.task_store import list_tasks
from oldfriend.usage.audit_events import (
    AuditEvent,
    EventKind,
    list_askers,
    list_failure_events,
    list_import_events,
    list_merge_events,
    list_question_events,
    list_reminder_events,
    list_stranger_events,
    list_unasked_events,
)
from oldfriend.usage.model_calls import LoggedCall, list_logged_calls
from oldfriend.usage.tool_log import LoggedToolUse, list_tool_uses


class ListEvents(Protocol):
    """What lists the events of one kind, the newest first."""

    def __call__(
        self, tx: Transaction, person: PersonId, *, limit: int, until: Micros | None
    ) -> Awaitable[list[AuditEvent]]:
        """Return at most so many, none of them after a moment."""
        ...


AuditKind = Literal["model", "tool", "deletion"] | EventKind
AuditStatus = Literal["ok", "error", "denied"]
GOOD_STATUSES: Final = frozenset({"done", "reused", "asked", "late"})
"""How what has gone well ends, of tools and of model calls."""
DENIED: Final[frozenset[AuditKind]] = frozenset({"stranger"})
FAILED: Final[frozenset[AuditKind]] = frozenset({"failure"})
EVENTS: Final[Mapping[EventKind, ListEvents]] = MappingProxyType(
    {
        "unasked": list_unasked_events,
        "reminder": list_reminder_events,
        "import": list_import_events,
        "merge": list_merge_events,
        "question": list_question_events,
        "failure": list_failure_events,
        "stranger": list_stranger_events,
    }
)
REFS: Final = ("task", "goal", "step")
"""The arguments by which rules log what they changed."""
BATCH: Final = 200
MAX_READ: Final = 2_000
"""Records that are looked through for one page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRecord:
    """Something that was done for a person, or that was not allowed."""

    at: Micros
    kind: AuditKind
    what: str  # the model, the tool, or what kind of deletion
    why: str  # the purpose of a call, what a message asked for, or nothing
    status: AuditStatus
    ending: str  # more precisely
    turn: str = ""  # the turn that it was done in, by which its receipt is found
    cost: int | None = None  # in millionths of a dollar; None: unknown, or none
    latency_us: int | None = None
    details: str = ""
    refs: Mapping[str, str] = field(default_factory=dict)  # ids of the task, goal and step
    about: str = ""  # the text of that reminder or goal, as it is now; empty if it is gone
    amount: float | None = None  # what was counted for the goal
    unit: str | None = None
    asked: str = ""  # the message that asked for it; empty: none did
    asked_by: str = ""  # the channel it came by, or the id of the program's token
    question: str = ""  # the id of a program's question
    given: int | None = None  # how many messages and beliefs the program was given


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """Which records are meant; None: all."""

    kind: AuditKind | None = None
    status: AuditStatus | None = None

    def matches(self, record: AuditRecord) -> bool:
        """Tell whether a record is meant."""
        return self.kind in {None, record.kind} and self.status in {None, record.status}


EVERYTHING: Final = AuditFilter()


@dataclass(frozen=True, slots=True)
class AuditPosition:
    """Where a page of the trail ends: the time of its last record, and how many of it are shown."""

    at: Micros
    shown: int


async def list_audit_trail(
    tx: Transaction,
    person: PersonId,
    *,
    limit: int,
    wanted: AuditFilter = EVERYTHING,
    after: AuditPosition | None = None,
) -> tuple[list[AuditRecord], AuditPosition | None]:
    """List records of a person, newest first; and where the next page goes on, if there may be one.

    At most ``MAX_READ`` records are looked through for one page: if few of them are meant, it may
    hold fewer than ``limit``.
    """
    found: list[AuditRecord] = []
    position = after
    for _ in range(MAX_READ // BATCH):
        batch = await read_batch(tx, person, wanted.kind, position)
        for record in batch:
            is_same = position is not None and position.at == record.at
            shown = 1 + (position.shown if position is not None and is_same else 0)
            position = AuditPosition(record.at, shown)
            if wanted.matches(record):
                found.append(record)
            if len(found) == limit:
                return await complete(tx, person, found), position
        if len(batch) < BATCH:
            return await complete(tx, person, found), None
    return await complete(tx, person, found), position


async def complete(
    tx: Transaction, person: PersonId, records: Sequence[AuditRecord]
) -> list[AuditRecord]:
    """Return records with what asked for each, and the reminder or goal that it was about."""
    return await add_subjects(tx, person, await add_askers(tx, person, records))


async def add_subjects(
    tx: Transaction, person: PersonId, records: Sequence[AuditRecord]
) -> list[AuditRecord]:
    """Return records with the texts of reminders and goals that are still there, and amounts."""
    tasks, goals, steps = {}, {}, {}
    if any("task" in each.refs for each in records):
        listed = await list_tasks(tx, person, statuses=STATUSES, limit=MAX_READ)
        tasks = {each.id: each.text for each in listed}
    if any("goal" in each.refs for each in records):
        states = await list_goals(tx, person, statuses=GOAL_STATUSES)
        goals = {each.goal.id: each.goal for each in states}
        steps = {step.id: step for each in states for step in each.progress}
    return [
        replace(each, about=tasks.get(each.refs["task"], ""))
        if "task" in each.refs
        else add_goal(each, goals.get(each.refs["goal"]), steps.get(each.refs.get("step", "")))
        if "goal" in each.refs
        else each
        for each in records
    ]


def add_goal(record: AuditRecord, goal: Goal | None, step: Progress | None) -> AuditRecord:
    """Return a record with the text of its goal, and how much was counted for it."""
    if goal is None:
        return record
    total = None if goal.rhythm is not None else find_total(goal)
    if step is None:
        return replace(record, about=goal.text)
    if total is None:
        return replace(record, about=goal.text, amount=float(step.amount))
    amount = None if step.amount == UNMEASURED else step.amount / PARTS_OF_UNIT
    return replace(record, about=goal.text, amount=amount, unit=total.unit)


async def add_askers(
    tx: Transaction, person: PersonId, records: Sequence[AuditRecord]
) -> list[AuditRecord]:
    """Return records with what asked for each, where a message did."""
    askers = await list_askers(tx, person, {each.turn for each in records if each.turn})
    return [
        replace(each, asked=asker.message, asked_by=asker.program)
        if (asker := askers.get(each.turn)) is not None
        else each
        for each in records
    ]


async def read_batch(
    tx: Transaction, person: PersonId, kind: AuditKind | None, after: AuditPosition | None
) -> list[AuditRecord]:
    """Return the next records of a kind, or of all."""
    until, shown = (None, 0) if after is None else (after.at, after.shown)
    count = BATCH + shown
    records: list[AuditRecord] = []
    if kind in {None, "model"}:
        calls = await list_logged_calls(tx, person, limit=count, until=until)
        records += map(from_call, calls)
    if kind in {None, "tool"}:
        uses = await list_tool_uses(tx, person, limit=count, until=until)
        records += map(from_tool_use, uses)
    if kind in {None, "deletion"}:
        deletions = await list_audit_entries(tx, person)
        records += [
            from_deletion(each) for each in deletions if until is None or each.done_at <= until
        ]
    for name, list_events in EVENTS.items():
        if kind in {None, name}:
            records += map(from_event, await list_events(tx, person, limit=count, until=until))
    return sorted(records, key=lambda each: each.at, reverse=True)[shown:count]


def judge_status(ending: str, *, is_denied: bool = False) -> AuditStatus:
    """Return how something went."""
    if is_denied:
        return "denied"
    return "ok" if ending in GOOD_STATUSES else "error"


def from_call(call: LoggedCall) -> AuditRecord:
    """Return the record of a model call."""
    return AuditRecord(
        at=call.made_at,
        kind="model",
        what=call.model,
        why=call.purpose,
        status=judge_status(call.outcome),
        ending=call.outcome,
        turn=call.turn or "",
        cost=call.cost,
        latency_us=call.latency_us,
        details=call.error or "",
    )


def from_tool_use(use: LoggedToolUse) -> AuditRecord:
    """Return the record of a tool."""
    refs = {name: str(use.arguments[name]) for name in REFS if name in use.arguments}
    if use.arguments.get("by") != "rules":
        refs = {}  # a model names them in words
    given = [f"{name}: {value}" for name, value in use.arguments.items() if name not in refs]
    return AuditRecord(
        at=use.made_at,
        kind="tool",
        what=use.name,
        why=use.intent,
        status=judge_status(use.status, is_denied=use.is_denied),
        ending=use.status,
        turn=use.turn,
        latency_us=use.latency_us,
        details=", ".join(given),
        refs=refs,
    )


def from_event(event: AuditEvent) -> AuditRecord:
    """Return the record of an event."""
    status: AuditStatus = "denied" if event.kind in DENIED else "ok"
    return AuditRecord(
        at=event.at,
        kind=event.kind,
        what=event.what,
        why=event.why,
        status="error" if event.kind in FAILED else status,
        ending=event.ending,
        turn=event.turn,
        details=event.details,
        refs={"task": event.task} if event.task else {},
        question=event.question,
        given=event.given,
    )


def from_deletion(entry: AuditEntry) -> AuditRecord:
    """Return the record of a deletion."""
    counts = ", ".join(f"{name}: {count}" for name, count in entry.counts.items() if count)
    return AuditRecord(
        at=entry.done_at,
        kind="deletion",
        what=entry.what,
        why="",
        status="ok",
        ending="done" if entry.proved_at is None else "verified",
        details=counts,
    )
