"""What was said, what happened, and what is due, on which days? By the clocks of a zone.

Talks are told by their first and last words; their texts are read elsewhere.
"""

from dataclasses import dataclass

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId, PersonId
from oldfriend.domain.memories import Memory, Summary
from oldfriend.memory.beliefs import MEMORY, SUMMARY
from oldfriend.memory.rows import from_row
from oldfriend.memory.turning import QUARTER


@dataclass(frozen=True, slots=True, kw_only=True)
class Talk:
    """What was said in one session, or such of it as was said in a span."""

    session: str
    channel: str
    title: str  # of the chat
    first: MessageId
    began_at: Micros
    ended_at: Micros
    messages: int


async def count_said(
    tx: Transaction, person: PersonId, *, since: Micros, until: Micros
) -> dict[Micros, int]:
    """How many messages there are in each quarter of an hour of a span; only where there are."""
    rows = await tx.rows(
        """SELECT said_at / :quarter, count(*) FROM message
           WHERE person = :person AND said_at >= :since AND said_at < :until
           AND version = 1 AND role <> 'marker' GROUP BY 1""",
        person=person, since=since, until=until, quarter=QUARTER,
    )  # fmt: skip
    return {Micros(int(quarter) * QUARTER): int(count) for quarter, count in rows}


async def find_first_said(tx: Transaction, person: PersonId) -> Micros | None:
    """When the earliest words were said; None: none were."""
    row = await tx.row(
        "SELECT said_at FROM message WHERE person = :person ORDER BY said_at LIMIT 1",
        person=person,
    )
    return None if row is None else Micros(int(row[0]))


async def list_talks(
    tx: Transaction, person: PersonId, *, since: Micros, until: Micros
) -> list[Talk]:
    """The talks of a span, in their order."""
    rows = await tx.rows(
        """SELECT m.session, c.channel, c.title, min(m.said_at), max(m.said_at), count(*),
             min(m.seq)
           FROM message m JOIN chat c ON c.id = m.chat
           WHERE m.person = :person AND m.said_at >= :since AND m.said_at < :until
           AND m.version = 1 AND m.role <> 'marker'
           GROUP BY m.session, c.channel, c.title ORDER BY 4, 1""",
        person=person, since=since, until=until,
    )  # fmt: skip
    firsts = await _ids_at(tx, person, [int(row[6]) for row in rows])
    return [
        Talk(
            session=session, channel=channel, title=title, first=firsts[int(seq)],
            began_at=Micros(int(began_at)), ended_at=Micros(int(ended_at)), messages=int(messages),
        )
        for session, channel, title, began_at, ended_at, messages, seq in rows
    ]  # fmt: skip


async def list_events_in(
    tx: Transaction, person: PersonId, *, since: Micros, until: Micros
) -> list[Memory]:
    """What is known to have happened in a span, the weightiest first."""
    rows = await tx.rows(
        f"""SELECT {MEMORY} FROM memory WHERE person = :person AND kind = 'event'
           AND ended_at IS NULL AND happened_at >= :since AND happened_at < :until
           ORDER BY abs(impact) DESC, happened_at, id""",
        person=person, since=since, until=until,
    )  # fmt: skip
    return [from_row(Memory, row) for row in rows]


async def list_due_in(
    tx: Transaction, person: PersonId, *, since: Micros, until: Micros
) -> list[Memory]:
    """What was promised or expected for a span, in its order; what was kept or ran out, too."""
    rows = await tx.rows(
        f"""SELECT {MEMORY} FROM memory WHERE person = :person
           AND kind IN ('commitment', 'expectation')
           AND due_at >= :since AND due_at < :until
           AND (ended_at IS NULL OR status IN ('fulfilled', 'expired')) ORDER BY due_at, id""",
        person=person, since=since, until=until,
    )  # fmt: skip
    return [from_row(Memory, row) for row in rows]


async def find_last_due(tx: Transaction, person: PersonId) -> Micros | None:
    """When the last thing is due that is open; None: nothing is."""
    row = await tx.row(
        """SELECT max(due_at) FROM memory WHERE person = :person
           AND kind IN ('commitment', 'expectation') AND ended_at IS NULL""",
        person=person,
    )
    return None if row is None or row[0] is None else Micros(int(row[0]))


async def list_summaries_of(
    tx: Transaction, person: PersonId, *, since: Micros, until: Micros
) -> list[Summary]:
    """What was said in a span, in short, in its order; nothing twice.

    The largest that lie within it tell what they were folded from; of what was folded from talk
    of other times, too, its parts do.
    """
    rows = await tx.rows(
        f"""SELECT {SUMMARY} FROM summary WHERE person = :person AND ended_at IS NULL
           AND from_at < :until AND until_at >= :since ORDER BY from_at, id""",
        person=person, since=since, until=until,
    )  # fmt: skip
    found = [from_row(Summary, row) for row in rows]
    within = [each for each in found if each.from_at >= since and each.until_at < until]
    folded = {source for each in within for source in each.sources}
    return [
        each for each in found
        if each.id not in folded and (each in within or not each.sources)
    ]  # fmt: skip


async def _ids_at(tx: Transaction, person: PersonId, seqs: list[int]) -> dict[int, MessageId]:
    """The messages at some places of the log."""
    names = {f"seq{place}": seq for place, seq in enumerate(seqs)}
    if not names:
        return {}
    rows = await tx.rows(
        f"""SELECT seq, id FROM message WHERE person = :person
           AND seq IN ({", ".join(f":{name}" for name in names)})""",
        person=person, **names,
    )  # fmt: skip
    return {int(seq): MessageId(name) for seq, name in rows}
