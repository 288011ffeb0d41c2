"""What becomes of beliefs when the words behind them go? What stands on nothing else ends.

Nothing is inverted: evidence is withdrawn, and where a decision that fell had put an end to
another belief, that one is decided again as it was before; unless another value of the same holds
by then, which has overtaken it in any case.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import ObjectId, PersonId, SegmentId
from oldfriend.domain.memories import Believed, Change, ChangeOp, Entity, Known, Memory
from oldfriend.memory.beliefs import get_known, list_entities, list_memories, list_summaries
from oldfriend.memory.changes import (
    Ground,
    decide,
    list_changes_by,
    list_changes_of,
    newest_change_of,
)
from oldfriend.memory.evidence import list_evidence, withdraw_evidence
from oldfriend.memory.overtaking import before, in_its_place, overtakers, since, stands

UNDONE = "undo/1"
"""The author of decisions that follow from an undo."""

ENDINGS: Final = frozenset({"disputed", "merged", "fulfilled"})
"""What a reading does to a belief beside putting another in its place."""
REVISIONS: Final = frozenset({"revised", "separated"})


async def undo_consolidation(
    tx: Transaction, person: PersonId, segment: SegmentId, *, now: Micros
) -> list[ObjectId]:
    """Take back everything that was read in a segment; the objects that ended or came back.

    What was decided about the same objects since then stays.
    """
    return await undo_consolidations(tx, person, [segment], now=now)


async def undo_consolidations(
    tx: Transaction, person: PersonId, segments: Sequence[SegmentId], *, now: Micros
) -> list[ObjectId]:
    """The same for several segments at once, such as those of an import; the oldest first."""
    rested: set[ObjectId] = set()
    for segment in segments:
        rested.update(await withdraw_evidence(tx, person, segment, now=now))
    ground = Ground(author=UNDONE)
    ended = await end_unsupported(tx, person, ground=ground, now=now, only=rested)
    back: list[ObjectId] = []
    for segment in reversed(segments):
        decisions = await list_changes_by(tx, person, segment)
        back += await take_back(tx, decisions, ground=ground, now=now)
    ended += await end_unsupported(tx, person, ground=ground, now=now, only=back)
    summaries = await end_summaries(tx, person, segments, ground=ground, now=now)
    return [*ended, *(each for each in back if each not in ended), *summaries]


async def end_unsupported(
    tx: Transaction, person: PersonId, *, ground: Ground, now: Micros,
    only: Collection[ObjectId] | None = None,
) -> list[ObjectId]:  # fmt: skip
    """End the beliefs that no live words support, unless the person wrote them; which those are.

    ``only`` some of them, or all (None). What was so once is no history any more, either.
    """
    if only is not None and not only:
        return []
    evidence = await list_evidence(tx, person)
    memories = [each.memory for each in await list_memories(tx, person, live=False)]
    believed: list[Memory | Entity] = [each for each in memories if stands(each)]
    believed += await list_entities(tx, person)
    ended: list[ObjectId] = []
    for each in believed:
        is_asked = only is None or each.id in only
        is_supported = any(words.stance == "supports" for words in evidence.get(each.id, ()))
        if is_asked and not is_supported and not each.is_by_person:
            await decide_next(tx, never_so(each, now), "ended", ground, now=now)
            ended.append(each.id)
    return ended


def never_so(each: Memory | Entity, now: Micros) -> Memory | Entity:
    """A belief that has ended, without having been overtaken."""
    if isinstance(each, Memory) and each.status == "superseded":
        return replace(each, status="active", holds_until=None, ended_at=now)
    return replace(each, ended_at=now)


async def reopen_overtaken(
    tx: Transaction, person: PersonId, segment: SegmentId, *, ground: Ground, now: Micros
) -> list[ObjectId]:
    """Bring back what a segment's earlier readings had ended, where nothing does so any more.

    For after it was read anew, and what then stands on nothing has ended. Doing it again changes
    nothing.
    """
    endings: list[Change] = []
    for change in await list_changes_by(tx, person, segment):
        is_ending = change.op == "superseded" or change.op in ENDINGS
        if is_ending and (change.op == "superseded" or await was_edited(tx, change)):
            endings.append(change)
    return await take_back(tx, endings, ground=ground, now=now)


async def take_back(
    tx: Transaction, decisions: Sequence[Change], *, ground: Ground, now: Micros
) -> list[ObjectId]:
    """Decide again as it was before, where nothing was decided since; what is believed again.

    Something that is over may have been told more of since then, such as since when it was so.
    """
    back: list[ObjectId] = []
    for change in decisions:
        if change.op != "superseded" and change.op not in ENDINGS | REVISIONS:
            continue
        history = await list_changes_of(tx, change.person, change.object)
        is_revision = change.op in REVISIONS
        decided = {each.seq: each for each in history}
        earlier = before(decided, change, is_believed=not is_revision)
        later = [each for each in history if each.seq > change.seq]
        if earlier is None or any(is_revision or each.op not in REVISIONS for each in later):
            continue
        if is_revision:
            await decide_next(tx, earlier.after, "revised", ground, now=now)
        elif await hold_again(tx, earlier.after, ground=ground, now=now):
            back.append(change.object)
    return back


async def hold_again(tx: Transaction, after: Believed, *, ground: Ground, now: Micros) -> bool:
    """Believe something again as it was; False where another value has its place by now.

    Then it was so until the next one began, and goes with that one's words from now on.
    """
    known = await list_memories(tx, after.person, live=False)
    if isinstance(after, Memory):
        place = in_its_place(after, [each.memory for each in known])
        if place and not any(overtakers(after, place)):
            values = [each for each in known if each.memory in place]
            await end_at_the_next(tx, after, values, ground=ground, now=now)
        if place:
            return False
    await decide_next(tx, after, "reopened", ground, now=now)
    return True


async def end_at_the_next(
    tx: Transaction, after: Memory, values: Sequence[Known], *, ground: Ground, now: Micros
) -> None:
    """Let it be that a memory was so until the next of some values began to hold."""
    held = await get_known(tx, after.person, after.id)
    later = [each for each in values if since(each) > since(held)]
    following = min(later, key=since) if later else max(values, key=since)
    until = max(since(following), since(held))
    if (held.memory.status, held.memory.holds_until) == ("superseded", until):
        return
    first = (await list_changes_of(tx, after.person, following.memory.id))[0]
    ground = replace(ground, segment=first.segment, causes=first.causes)
    ended = replace(after, status="superseded", holds_until=until, ended_at=now)
    await decide_next(tx, ended, "superseded", ground, now=now)


async def was_edited(tx: Transaction, change: Change) -> bool:
    """Whether none of the words that a decision rests on reads as it did then."""
    for cause in change.causes:
        row = await tx.row(
            """SELECT 1 FROM message WHERE person = :person AND id = :id AND version = :version
               AND replaced_at IS NULL""",
            person=change.person, id=cause.message, version=cause.version,
        )  # fmt: skip
        if row is not None:
            return False
    return True


async def end_summaries(
    tx: Transaction, person: PersonId, segments: Collection[SegmentId], *, ground: Ground,
    now: Micros,
) -> list[ObjectId]:  # fmt: skip
    """End the summaries that tell of these segments, of every level; which those are.

    What a folded one told of other segments is told again by the summaries below it.
    """
    summaries = await list_summaries(tx, person, active=False)
    touched = [each for each in summaries if set(each.segments) & set(segments)]
    below = {source for each in touched for source in each.sources}
    for summary in summaries:
        if summary in touched:
            ended = replace(summary, is_active=False, ended_at=now)
            await decide_next(tx, ended, "ended", ground, now=now)
        elif summary.id in below:
            back = replace(summary, is_active=True)
            await decide_next(tx, back, "reopened", ground, now=now)
    return [each.id for each in touched]


async def decide_next(
    tx: Transaction, after: Believed, op: ChangeOp, ground: Ground, *, now: Micros
) -> None:
    """Decide about an object whatever was decided about it before; for who holds the lock."""
    base = await newest_change_of(tx, after.person, after.id)
    await decide(tx, after, op=op, base=base, ground=ground, now=now)
