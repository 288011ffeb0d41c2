"""Belief changes: a correction that a turn decided, and what is forgotten once it is over."""

from dataclasses import dataclass
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import SECOND, Micros
from oldfriend.domain.errors import StaleDecision
from oldfriend.domain.ids import ObjectId, PersonId, TurnId
from oldfriend.domain.json import JsonValue
from oldfriend.memory.belief_corrections import edit
from oldfriend.memory.change_feed import get_feed_position
from oldfriend.memory.deletion.audit_log import list_purges
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.memory.journal import get_latest_seq, list_object_journal
from oldfriend.memory.people import lock_person
from oldfriend.queues.queue import OVERDUE_S
from oldfriend.queues.scheduled_jobs import JobSpec, schedule_job
from oldfriend.turn.store_change import ChangeScope

PURGE_JOB: Final = "purge"
"""The job that forgets everything of a person."""
FORGET_JOB: Final = "forget chosen"
"""The job that forgets what a person chose."""
TELL_JOB: Final = "tell forgotten"
"""The job that tells a person what is gone, without a word of it."""
FORGET_NOTICE: Final = "forget"
"""How the key of what is told of it begins; that of a purge begins with the name of its job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectBelief:
    """The change that corrects a belief, as the person does it elsewhere."""

    id: ObjectId
    text: str
    value: str | None  # None: the text has the same one, or it is found in it
    since: Micros | None  # None: the old one was wrong
    base: int  # the newest decision about it that the correction knows

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Correct it. Raises StaleDecision if it has changed meanwhile.

        What was told already is kept to, unless the belief is another one by now, also because a
        note of the same turn says so.
        """
        person = scope.person.id
        await lock_person(tx, person)
        if await get_latest_seq(tx, person, self.id) != self.base:
            entries = await list_object_journal(tx, person, self.id)
            is_by_this_turn = bool(entries) and entries[-1].decided_at == scope.now
            if scope.may_redo and not is_by_this_turn:
                raise StaleDecision("The belief has changed meanwhile.")
            return
        await edit(
            tx, person, self.id, self.text, value=self.value, since=self.since, now=scope.now
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BeginForgetting:
    """The change that has something forgotten once this turn is over; None: everything."""

    language: str
    request: DeletionRequest | None = None
    turns: tuple[TurnId, ...] = ()  # in which it was asked for
    seen: str = ""  # the digest of what the person was shown

    async def apply(self, tx: Transaction, scope: ChangeScope) -> None:
        """Schedule it as overdue, so that whatever process is there does it."""
        person, chosen = scope.person.id, self.request
        arguments: dict[str, JsonValue] = {
            "chat": scope.message.chat,
            "language": self.language,
        }
        if chosen is None:
            arguments["purges"] = len(await list_purges(tx, person))
            arguments |= {"yes": scope.message.seq, "at": scope.message.at}
            reached = await get_feed_position(tx, person)
            arguments |= {"reply": reached.last_seq, "change": reached.last_change}
        else:
            arguments |= {"about": chosen.about, "ids": [*chosen.ids]}
            arguments |= {"also_about": [*chosen.also_about]}
            arguments |= {"turns": [*self.turns], "seen": self.seen}
        await schedule_job(
            tx,
            build_purge_partition(person),
            JobSpec(name=PURGE_JOB if chosen is None else FORGET_JOB, arguments=arguments),
            person=person,
            now=scope.now,
            due_at=scope.now - int(OVERDUE_S * SECOND),
        )


def build_purge_partition(person: PersonId) -> str:
    """Return the partition of the jobs that forget at a person's word."""
    return f"{PURGE_JOB}/{person}"
