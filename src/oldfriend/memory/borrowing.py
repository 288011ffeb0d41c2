"""What stands on the words of other beliefs, and what becomes of it when those fall?

Thoughts, and patterns over patterns, have no words of their own: they borrow those of what they
were made of. Each borrowed word names the segment in which it was found, so that it is withdrawn
with that segment's reading. Knows nothing of how they came to be thought.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import ObjectId, PersonId, new_id
from oldfriend.domain.memories import LIVE, Cause, Evidence, Memory, RelationKind, Signal
from oldfriend.memory.beliefs import list_memories
from oldfriend.memory.changes import Ground
from oldfriend.memory.evidence import list_evidence_of, refresh_standings
from oldfriend.memory.withdrawing import end_unsupported

BORROWING: Final = frozenset[RelationKind]({"rests_on", "parent_of"})
Place = tuple[str, int, str]
BORROWED_AGAIN: Final = "borrow/1"
"""The extractor of words that were lent once more."""


def lenders_of(memory: Memory) -> tuple[ObjectId, ...]:
    """What a memory was made of; nothing for one that has words of its own."""
    return tuple(link.other for link in memory.relations if link.kind in BORROWING)


async def borrow(
    tx: Transaction, person: PersonId, borrower: ObjectId, lenders: Sequence[ObjectId], *,
    extractor: str, now: Micros, signal: Signal | None = None,
) -> tuple[Cause, ...]:  # fmt: skip
    """Let a belief stand on the words of others, too; on which messages it stands then.

    ``signal`` is how the words speak for it, where it is not as they speak for the others.
    """
    evidence = await list_evidence_of(tx, person, [borrower, *lenders])
    words = supporting(lenders, evidence)
    held = set(supporting([borrower], evidence))
    await tx.run_many(
        """INSERT INTO evidence (id, person, object, message, version, quote, author, trust,
             signal, stance, confidence, extractor, segment, said_at)
           VALUES (:id, :person, :object, :message, :version, :quote, :author, :trust,
             :signal, 'supports', :confidence, :extractor, :segment, :said_at)""",
        [
            {
                "id": new_id(now), "person": person, "object": borrower, "message": each.message,
                "version": each.version, "quote": each.quote, "author": each.author,
                "trust": each.trust, "signal": signal or each.signal,
                "confidence": each.confidence, "extractor": extractor, "segment": each.segment,
                "said_at": each.said_at,
            }
            for place, each in words.items()
            if place not in held
        ],
    )  # fmt: skip
    await refresh_standings(tx, person, [borrower])
    causes = (Cause(message=each.message, version=each.version) for each in words.values())
    return tuple(dict.fromkeys(causes))


async def borrow_again(
    tx: Transaction, person: PersonId, only: Collection[ObjectId], *, now: Micros
) -> None:
    """Let those of some beliefs that borrow words stand on what their lenders stand on now.

    For after a segment was read anew: what was found again is lent again.
    """
    if not only:
        return
    known = await everything(tx, person)
    for each in known.values():
        lenders = [one for one in lenders_of(each) if one in known and not has_fallen(known[one])]
        if each.id in only and each.is_live and lenders:
            signal: Signal | None = None if each.kind == "pattern" else "implicit"
            await borrow(
                tx, person, each.id, lenders, extractor=BORROWED_AGAIN, now=now, signal=signal
            )


async def give_back(
    tx: Transaction, person: PersonId, *, ground: Ground, now: Micros,
    fallen: Collection[ObjectId] = (),
) -> list[ObjectId]:  # fmt: skip
    """Withdraw words that were lent by what is no longer so; what stands on nothing else ends.

    ``fallen``: beliefs that count as such whatever their state, for they say something else now.
    """
    known = await everything(tx, person)
    touched = [
        each for each in known.values()
        if each.is_live and any(is_gone(one, known, fallen) for one in lenders_of(each))
    ]  # fmt: skip
    if not touched:
        return []
    asked = [one for each in touched for one in (each.id, *lenders_of(each))]
    evidence = await list_evidence_of(tx, person, list(dict.fromkeys(asked)))
    for each in touched:
        standing = [one for one in lenders_of(each) if not is_gone(one, known, fallen)]
        kept = supporting(standing, evidence)
        words = supporting([each.id], evidence)
        await withdraw(tx, person, [w for place, w in words.items() if place not in kept], now=now)
    ids = [each.id for each in touched]
    await refresh_standings(tx, person, ids)
    return await end_unsupported(tx, person, ground=ground, now=now, only=ids)


async def everything(tx: Transaction, person: PersonId) -> dict[ObjectId, Memory]:
    """All memories, also those that are over."""
    held = await list_memories(tx, person, live=False)
    return {ObjectId(each.memory.id): each.memory for each in held}


async def withdraw(
    tx: Transaction, person: PersonId, words: Iterable[Evidence], *, now: Micros
) -> None:
    """Take some words back."""
    await tx.run_many(
        "UPDATE evidence SET withdrawn_at = :now WHERE person = :person AND id = :id",
        [{"now": now, "person": person, "id": each.id} for each in words],
    )


def is_gone(
    lender: ObjectId, known: Mapping[ObjectId, Memory], fallen: Collection[ObjectId]
) -> bool:
    """Whether something lends its words no longer."""
    held = known.get(lender)
    return lender in fallen or held is None or has_fallen(held)


def has_fallen(memory: Memory) -> bool:
    """Whether it turned out not to be so; what is over, was so."""
    if memory.status == "rejected":
        return True
    return memory.ended_at is not None and memory.status in LIVE


def supporting(
    objects: Iterable[ObjectId], evidence: Mapping[ObjectId, Sequence[Evidence]]
) -> dict[Place, Evidence]:
    """The words that speak for any of these, each once, by where they stand."""
    return {
        (words.message, words.version, words.quote): words
        for each in objects
        for words in evidence.get(each, ())
        if words.stance == "supports"
    }
