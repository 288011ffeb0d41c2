"""How does what the person has decided hold in the second database? On what corresponds there.

Where nothing does, what they decided about comes over with their decision, and with its words.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final, TypeVar

from oldfriend.app.believing.looking import Belief
from oldfriend.app.comparing.matching import find_counterpart
from oldfriend.app.replaying.standing_there import Standing
from oldfriend.app.replaying.steps import Past
from oldfriend.background.merging import Joining, write_joined
from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import EntityId, MemoryId, ObjectId, PersonId
from oldfriend.domain.memories import Believed, Change, Entity, Evidence, Memory
from oldfriend.memory import correcting
from oldfriend.memory.beliefs import get_known
from oldfriend.memory.changes import Ground, decide, list_changes_of
from oldfriend.memory.correcting import BY_PERSON
from oldfriend.memory.evidence import Words, add_evidence
from oldfriend.memory.forgetting.journal import ORPHANED
from oldfriend.memory.log import get_message
from oldfriend.memory.overtaking import has_one_value
from oldfriend.memory.people import lock_person
from oldfriend.memory.withdrawing import decide_next

Of = TypeVar("Of", bound=Believed)
ANYTHING_ENDED: Final = frozenset({"confirmed", "unrejected", "separated"})
"""What may be decided about something that is not believed any more."""
VOUCHED: Final = frozenset({"pinned", "confirmed"})
"""By which the person says that it is so."""


async def uphold(
    tx: Transaction, past: Past, here: Standing, change: Change, *, now: Micros
) -> None:
    """Let a decision of the person hold here. Raises NotFound, InvalidInput where it cannot."""
    person = change.person
    await lock_person(tx, person)
    match change.op:
        case "learned":
            await set_right(tx, past, here, change, now=now)
        case "merged":
            await merge(tx, past, here, change, now=now)
        case "separated":
            await separate(tx, past, here, change, now=now)
        case _:
            meant = await counterpart_of(tx, past, here, change.object, change)
            if meant is not None:
                await judge(tx, change, meant, now=now)


async def judge(tx: Transaction, change: Change, meant: Believed, *, now: Micros) -> None:
    """Pin, unpin, confirm, reject, not reject after all, or say right what corresponds."""
    match change.op:
        case "pinned":
            await correcting.pin(tx, change.person, meant.id, now=now)
        case "unpinned":
            await correcting.unpin(tx, change.person, meant.id, now=now)
        case "confirmed":
            await correcting.confirm(tx, change.person, meant.id, now=now)
        case "rejected":
            await correcting.reject(tx, change.person, meant.id, now=now)
        case "unrejected":
            await correcting.unreject(tx, change.person, meant.id, now=now)
        case "corrected":
            text, value = said_in(change.after)
            await correcting.edit(tx, change.person, meant.id, text, value=value, now=now)


def said_in(after: Believed) -> tuple[str, str | None]:
    """What the person has written, and the value that it gives."""
    if isinstance(after, Entity):
        return after.description, None
    return after.text, after.value if isinstance(after, Memory) else None


async def set_right(
    tx: Transaction, past: Past, here: Standing, change: Change, *, now: Micros
) -> None:
    """Let the value that the person has written overtake what holds in its place here."""
    assert isinstance(change.after, Memory)
    old = next(link.other for link in change.after.relations if link.kind == "supersedes")
    meant = await counterpart_of(tx, past, here, old, change)
    if meant is not None:
        second = past.decided(change.seq + 1)
        gone = None if second is None else second.after
        is_change = isinstance(gone, Memory) and gone.status == "superseded"
        await correcting.edit(
            tx, change.person, meant.id, change.after.text, value=change.after.value,
            since=change.after.holds_from if is_change else None, now=now,
        )  # fmt: skip


async def merge(
    tx: Transaction, past: Past, here: Standing, change: Change, *, now: Micros
) -> None:
    """Let two be one here, too."""
    after = change.after
    into = after.same_as if isinstance(after, Entity) else merged_into(after)
    go = await counterpart_of(tx, past, here, change.object, change)
    keep = None if into is None else await counterpart_of(tx, past, here, into, change)
    if keep is None or go is None or keep.id == go.id:
        return  # they are one already
    if isinstance(after, Entity):
        await correcting.merge_entities(
            tx, change.person, EntityId(keep.id), EntityId(go.id), now=now
        )
        return
    stronger = await get_known(tx, change.person, MemoryId(keep.id))
    weaker = await get_known(tx, change.person, MemoryId(go.id))
    joining = Joining(stronger=stronger, weaker=weaker, author=BY_PERSON.author)
    await write_joined(tx, change.person, [joining], now=now)


def merged_into(after: Believed) -> ObjectId | None:
    """What a memory was merged into."""
    return correcting.merged_into(after) if isinstance(after, Memory) else None


async def separate(
    tx: Transaction, past: Past, here: Standing, change: Change, *, now: Micros
) -> None:
    """Keep two apart here, too."""
    second = past.decided(change.seq + 1)
    if second is None or second.op != "separated":
        return  # the other is forgotten
    one = await counterpart_of(tx, past, here, change.object, change)
    other = await counterpart_of(tx, past, here, second.object, change)
    if one is None or other is None or one.id == other.id:
        return
    if isinstance(one, Entity):
        await correcting.separate_entities(
            tx, change.person, EntityId(one.id), EntityId(other.id), now=now
        )
    else:
        await correcting.separate_memories(
            tx, change.person, MemoryId(one.id), MemoryId(other.id), now=now
        )


async def counterpart_of(
    tx: Transaction, past: Past, here: Standing, object_id: ObjectId, change: Change
) -> Believed | None:
    """What corresponds here to something that the person has decided about, made if need be.

    None where that would be nothing: to let something fade that is not known.
    """
    before = past.before(object_id, change.seq)
    known = await here.everything(tx)
    is_any = change.op in ANYTHING_ENDED
    fit = [each for each in known if is_any or each.what.ended_at is None]
    says_value = change.op in {"learned", "corrected"}
    found = find_counterpart(before, fit, is_strict=not says_value)
    if found is not None:
        return found.what
    if change.op == "unpinned" or any(each.what.id == object_id for each in known):
        return None
    return await bring_over(tx, before, known, change, now=change.decided_at)


async def bring_over(
    tx: Transaction, belief: Belief, known: Iterable[Belief], change: Change, *, now: Micros
) -> Believed:
    """Believe something here as it is believed there, for nothing here corresponds to it.

    What holds in its place here does so no longer, where they have vouched for it.
    """
    after = pointing_at(belief.what, {each.what.id for each in known})
    if change.op in VOUCHED and isinstance(after, Memory) and has_one_value(after.kind, after.key):
        ended = replace(after, ended_at=now)
        after = replace(await correcting.overtaking(tx, ended, now=now), ended_at=None)
    ground = Ground(author=BY_PERSON.author)
    await decide(tx, after, op="learned", base=0, ground=ground, now=now)
    await bring_words(tx, after.person, after.id, belief.words, now=now)
    return after


async def bring_words(
    tx: Transaction, person: PersonId, object_id: ObjectId, words: Iterable[Evidence], *,
    now: Micros,
) -> None:  # fmt: skip
    """Let something carried over rest on the same words, with whoever has found them."""
    for each in words:
        source = await get_message(tx, person, each.message, version=each.version)
        found = Words(
            source=source, quote=each.quote, stance=each.stance, signal=each.signal,
            confidence=each.confidence,
        )  # fmt: skip
        await add_evidence(tx, person, object_id, [found], extractor=each.extractor, now=now)


async def pointing_right(tx: Transaction, here: Standing, what: Of) -> Of:
    """A belief that points only to what is there; one that points nowhere is as it was."""
    if pointing_at(what, set()) == what:
        return what
    return pointing_at(what, {each.what.id for each in await here.everything(tx)})


def pointing_at(what: Of, there: set[ObjectId]) -> Of:
    """A belief that points only to what is there."""
    if isinstance(what, Memory):
        return replace(
            what,
            entities=tuple(each for each in what.entities if each in there),
            relations=tuple(each for each in what.relations if each.other in there),
        )
    if isinstance(what, Entity):
        return replace(what, same_as=what.same_as if what.same_as in there else None)
    return what


async def carry_over(
    tx: Transaction, past: Past, here: Standing, change: Change, *, now: Micros
) -> None:
    """Decide here exactly what was decided there, about the same thing."""
    person, object_id = change.person, change.object
    await lock_person(tx, person)
    history = await list_changes_of(tx, person, object_id)
    after = await pointing_right(tx, here, change.after)
    ground = Ground(author=change.author, causes=change.causes)
    if not history:
        await decide(tx, after, op="learned", base=0, ground=ground, now=now)
        words = past.evidence.get(object_id, ()) if isinstance(after, Memory) else ()
        await bring_words(tx, person, object_id, own(words), now=now)
        return
    kept = history[-1].after if change.author == ORPHANED else after
    await decide_next(tx, kept, change.op, ground, now=now)


def own(words: Iterable[Evidence]) -> Iterable[Evidence]:
    """Such words as no reading will find."""
    return (each for each in words if each.segment is None)
