"""What becomes of beliefs when the words behind them go? What stands on nothing else ends.

Nothing is inverted: evidence is withdrawn, and where a decision that fell had put an end to
another belief, that one is decided again as it was before.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import ObjectId, PersonId, SegmentId
from oldfriend.domain.memories import Believed, ChangeOp, Entity, Memory
from oldfriend.memory.beliefs import list_entities, list_memories, list_summaries
from oldfriend.memory.changes import (
    Ground,
    decide,
    list_changes_by,
    list_changes_of,
    newest_change_of,
)
from oldfriend.memory.evidence import list_evidence, withdraw_evidence

UNDONE = "undo/1"
"""The author of decisions that follow from an undo."""


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
    back: list[ObjectId] = []
    for segment in reversed(segments):
        ground = Ground(author=UNDONE, segment=segment)
        back += await reopen_overtaken(tx, person, segment, ground=ground, now=now)
    ground = Ground(author=UNDONE)
    ended = await end_unsupported(tx, person, ground=ground, now=now, only=rested | {*back})
    summaries = await end_summaries(tx, person, segments, ground=ground, now=now)
    return [*ended, *(each for each in back if each not in ended), *summaries]


async def end_unsupported(
    tx: Transaction, person: PersonId, *, ground: Ground, now: Micros,
    only: Collection[ObjectId] | None = None,
) -> list[ObjectId]:  # fmt: skip
    """End the beliefs that no live words support, unless the person wrote them; which those are.

    ``only`` some of them, or all (None).
    """
    if only is not None and not only:
        return []
    evidence = await list_evidence(tx, person)
    believed: list[Memory | Entity] = [each.memory for each in await list_memories(tx, person)]
    believed += await list_entities(tx, person)
    ended: list[ObjectId] = []
    for each in believed:
        is_asked = only is None or each.id in only
        is_supported = any(words.stance == "supports" for words in evidence.get(each.id, ()))
        if is_asked and not is_supported and not each.is_by_person:
            await decide_next(tx, replace(each, ended_at=now), "ended", ground, now=now)
            ended.append(each.id)
    return ended


async def reopen_overtaken(
    tx: Transaction, person: PersonId, segment: SegmentId, *, ground: Ground, now: Micros
) -> list[ObjectId]:
    """Bring back what a segment's reading had put an end to, if nothing was decided since."""
    back: list[ObjectId] = []
    for change in await list_changes_by(tx, person, segment):
        if change.op not in {"superseded", "disputed", "merged", "fulfilled"}:
            continue
        history = await list_changes_of(tx, person, change.object)
        before = [each.after for each in history if each.seq == change.base]
        if history[-1].seq == change.seq and before:
            await decide_next(tx, before[0], "reopened", ground, now=now)
            back.append(change.object)
    return back


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
