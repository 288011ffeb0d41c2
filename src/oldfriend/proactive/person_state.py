"""Person state: what the policy's gates know of a person, read from the log and the queue."""

from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros, is_misdated
from oldfriend.domain.ids import ChatId, MessageId, PersonId, SessionId
from oldfriend.domain.messages import Person
from oldfriend.memory.mood import list_moods
from oldfriend.proactive.impulse_store import list_said_times
from oldfriend.proactive.policy import PersonState
from oldfriend.proactive.proactive_settings import ProactiveSettings
from oldfriend.proactive.reachable_chats import find_reachable_chat
from oldfriend.queues.inbox import load_unanswered_turns

MAX_SAID: Final = 12
"""Times at which it spoke first that the gates look at; more than any of them counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastMessage:
    """The newest message of a person, and how much was said in its session."""

    id: MessageId
    chat: ChatId
    session: SessionId
    said_at: Micros


async def find_last_message(
    tx: Transaction, person: PersonId, *, now: Micros
) -> LastMessage | None:
    """Return what a person has said last on any channel, if they ever spoke here.

    What was imported was said elsewhere.
    """
    row = await tx.row(
        """SELECT id, chat, session, said_at FROM message
           WHERE person = :person AND role = 'person' AND replaced_at IS NULL AND batch IS NULL
           ORDER BY said_at DESC, seq DESC LIMIT 1""",
        person=person,
    )
    if row is None:
        return None
    said_at = now if is_misdated(row[3], now) else int(row[3])
    return LastMessage(
        id=MessageId(row[0]), chat=ChatId(row[1]), session=SessionId(row[2]), said_at=said_at
    )


async def find_talk_time(tx: Transaction, person: PersonId, *, now: Micros) -> Micros | None:
    """Return when anything was said last, by either side."""
    row = await tx.row(
        """SELECT said_at FROM message
           WHERE person = :person AND role IN ('person', 'companion') AND batch IS NULL
           ORDER BY said_at DESC, seq DESC LIMIT 1""",
        person=person,
    )
    return None if row is None else min(now, int(row[0]))


async def count_session_messages(tx: Transaction, last: LastMessage, person: PersonId) -> int:
    """Return how many messages the session of a person's last message has, of both sides."""
    row = await tx.row(
        """SELECT count(*) FROM message
           WHERE person = :person AND session = :session AND replaced_at IS NULL
           AND role IN ('person', 'companion')""",
        person=person,
        session=last.session,
    )
    return 0 if row is None else int(row[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class DueTask:
    """A reminder or to-do to come, as another package keeps it."""

    id: str
    due_at: Micros


async def list_due_tasks(tx: Transaction, person: PersonId, *, since: Micros) -> list[DueTask]:
    """Return the open tasks of a person that are due from some time on, the next first."""
    rows = await tx.rows(
        """SELECT id, due_at FROM task
           WHERE person = :person AND status = 'open' AND due_at >= :since
           ORDER BY due_at, id LIMIT 100""",
        person=person,
        since=since,
    )
    return [DueTask(id=row[0], due_at=int(row[1])) for row in rows]


async def list_undone_reminders(
    tx: Transaction, person: PersonId, *, since: Micros, until: Micros
) -> tuple[str, ...]:
    """Return the reminders that came within a span and were not done, the oldest first."""
    rows = await tx.rows(
        """SELECT id FROM task
           WHERE person = :person AND status = 'delivered' AND kind = 'reminder'
           AND delivered_at >= :since AND delivered_at < :until
           ORDER BY delivered_at, id LIMIT 100""",
        person=person,
        since=since,
        until=until,
    )
    return tuple(str(row[0]) for row in rows)


async def list_reminded_beliefs(tx: Transaction, person: PersonId) -> frozenset[str]:
    """Return the beliefs that were learned from messages which asked for a task.

    The task reminds of them at its own time.
    """
    rows = await tx.rows(
        """SELECT DISTINCT e.object FROM task t
           JOIN evidence e ON e.person = t.person AND e.message = t.message
           WHERE t.person = :person AND e.withdrawn_at IS NULL""",
        person=person,
    )
    return frozenset(str(row[0]) for row in rows)


async def load_person_state(
    tx: Transaction,
    person: Person,
    proactive_settings: ProactiveSettings,
    *,
    now: Micros,
) -> PersonState:
    """Load what the gates look at."""
    last = await find_last_message(tx, person.id, now=now)
    open_turns = await load_unanswered_turns(tx, person.id)
    reachable = await find_reachable_chat(tx, person.id, now=now)
    moods = await list_moods(tx, person.id, until=now, limit=1)
    return PersonState(
        now=now,
        zone=person.zone,
        level=proactive_settings.level,
        quiet=proactive_settings.quiet,
        muted=proactive_settings.muted,
        person_spoke_at=None if last is None else last.said_at,
        talked_at=await find_talk_time(tx, person.id, now=now),
        said_at=await list_said_times(tx, person.id, limit=MAX_SAID),
        has_open_turn=not all(open_turns.values()),
        has_channel=reachable is not None and last is not None,
        window_ends_at=None if reachable is None else reachable.window_ends_at,
        mood=moods[-1].mood.signal if moods else None,
        mood_at=moods[-1].at if moods else 0,
    )
