"""Which beliefs go, when some of the words they rest on do? Decided purely.

Evidence is what a belief rests on. Where there never was any, as for one that was merged into
another, it rests on what its decisions name as their cause.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from oldfriend.domain.ids import ObjectId
from oldfriend.domain.memories import Believed, Change, Entity, Memory, Summary
from oldfriend.memory.borrowing import lenders_of
from oldfriend.memory.changes import folded
from oldfriend.memory.descriptions import DESCRIBES
from oldfriend.memory.forgetting.holding import Holding, Said, Version
from oldfriend.memory.overtaking import OVERTAKEN, before, has_one_value, in_its_place

Beliefs = Mapping[ObjectId, Change]
"""Each with the last decision about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rests:
    """How a belief rests on what goes, and on what stays."""

    is_touched: bool  # some of it goes
    left: int  # live evidence that stays
    is_lost: bool  # nothing is left of what it rested on


def newest_of(holding: Holding) -> dict[ObjectId, Change]:
    """The last decision about each belief, ended ones too."""
    return folded(holding.changes)


def resting(holding: Holding, going: Collection[Version]) -> dict[ObjectId, Rests]:
    """How each belief rests on what goes."""
    live: Counter[str] = Counter()
    live_left: Counter[str] = Counter()
    sources: dict[str, set[Version]] = {}
    for each in holding.witnesses:
        sources.setdefault(each.object, set()).add(each.source)
        live[each.object] += each.supports
        live_left[each.object] += each.supports and each.source not in going
    for change in holding.changes:
        if change.op == "superseded":
            continue  # it rests on none of the words that speak for something else
        causes = {(cause.message, cause.version) for cause in change.causes}
        sources.setdefault(change.object, set()).update(causes)
    return {
        ObjectId(each): Rests(
            is_touched=not rests_on.isdisjoint(going),
            left=live_left[each],
            is_lost=live_left[each] == 0 if live[each] else rests_on <= set(going),
        )
        for each, rests_on in sources.items()
    }


def lost_among(
    newest: Mapping[ObjectId, Change], rests: Mapping[ObjectId, Rests], chosen: Collection[ObjectId]
) -> dict[ObjectId, Change]:
    """The beliefs of which nothing is left that they rested on, and that nobody wrote by hand.

    A name stays as long as a belief that stays needs it, and goes with the last one that did.
    """
    lost = {
        each: change
        for each, change in newest.items()
        if not isinstance(change.after, Entity) and is_lost(each, rests)
        and each not in chosen and not is_by_hand(change)
    }  # fmt: skip
    lost |= made_of(newest, {*lost, *chosen})
    going = {*lost, *chosen}
    unneeded = named_by(newest[each] for each in going if each in newest)
    needed = named_by(change for each, change in newest.items() if each not in going)
    names = {
        each: change
        for each, change in newest.items()
        if isinstance(change.after, Entity) and each not in needed and each not in chosen
        and (is_lost(each, rests) or (each in unneeded and not rests_on_any(each, rests)))
        and not is_by_hand(change)
    }  # fmt: skip
    return lost | names


def made_of(
    newest: Mapping[ObjectId, Change], going: Collection[ObjectId]
) -> dict[ObjectId, Change]:
    """The thoughts, and patterns over patterns, that were made of any that goes, or of these."""
    found: dict[ObjectId, Change] = {}
    reached = {*going}
    while True:
        more = {
            each: change
            for each, change in newest.items()
            if each not in reached and isinstance(change.after, Memory)
            and not is_by_hand(change) and not reached.isdisjoint(lenders_of(change.after))
        }  # fmt: skip
        if not more:
            return found
        found |= more
        reached.update(more)


def read_from(
    holding: Holding, forgotten: Collection[ObjectId], kept: Iterable[Said]
) -> list[Said]:  # fmt: skip
    """The words that stay although beliefs are forgotten which were read from them."""
    sources = speaking_for(holding, forgotten)
    return [each for each in kept if each.is_current and each.id in sources]


def speaking_for(holding: Holding, beliefs: Collection[ObjectId]) -> frozenset[str]:
    """The messages that some beliefs rest on."""
    return frozenset(
        each.source[0] for each in holding.witnesses if each.supports and each.object in beliefs
    )


def also_read_from(
    holding: Holding, newest: Mapping[ObjectId, Change], going: Collection[ObjectId],
    words: Iterable[Said],
) -> dict[ObjectId, Change]:  # fmt: skip
    """What else is believed because of some words, and stays."""
    sources = {each.id for each in words}
    found = {
        ObjectId(each.object)
        for each in holding.witnesses
        if each.supports and each.source[0] in sources
    }
    return {
        each: change
        for each, change in newest.items()
        if each in found and each not in going
        and isinstance(change.after, Memory) and change.after.ended_at is None
    }  # fmt: skip


def undescribed(
    holding: Holding, going: Collection[Version], gone: Mapping[ObjectId, Change]
) -> frozenset[ObjectId]:
    """Of whom inference said who they are, on words that go or on what tells of them and goes."""
    named = named_by(change for change in gone.values())
    return frozenset(
        change.object
        for change in holding.changes
        if change.author.startswith(DESCRIBES) and change.object not in gone
        and (change.object in named
             or any((cause.message, cause.version) in going for cause in change.causes))
    )  # fmt: skip


def is_lost(each: ObjectId, rests: Mapping[ObjectId, Rests]) -> bool:
    """Whether it loses the last that it rested on."""
    return each in rests and rests[each].is_touched and rests[each].is_lost


def rests_on_any(each: ObjectId, rests: Mapping[ObjectId, Rests]) -> bool:
    """Whether any words support it."""
    return each in rests and rests[each].left > 0


def named_by(changes: Iterable[Change]) -> frozenset[ObjectId]:
    """Who is named in beliefs."""
    return frozenset[ObjectId](
        name for change in changes if isinstance(change.after, Memory)
        for name in change.after.entities
    )  # fmt: skip


def is_by_hand(change: Change) -> bool:
    """Whether the person wrote or corrected it, so that it stands on that.

    What they have rejected stands on nothing: with its words it goes, and is not read from them.
    A name that they have rejected stays so: else it would be learned again.
    """
    after = change.after
    return not isinstance(after, Summary) and after.is_by_person and not is_rejected(change)


def is_rejected(change: Change) -> bool:
    """Whether the person has said that it is not so."""
    return isinstance(change.after, Memory) and change.after.status == "rejected"


def touched_segments(holding: Holding, going: Collection[Said]) -> frozenset[str]:
    """The segments in which something stands that goes."""
    firsts = {each.id: each for each in holding.messages if each.version == 1}
    places = {(first.session, first.seq) for each in going if (first := firsts.get(each.id))}
    return frozenset(
        segment.id
        for segment in holding.segments
        if any(
            session == segment.session and segment.first_seq <= seq <= segment.last_seq
            for session, seq in places
        )
    )


def summaries_among(
    newest: Mapping[ObjectId, Change], segments: Collection[str], gone: Collection[str]
) -> dict[ObjectId, Change]:
    """The summaries of these segments, and those that any that goes was folded into."""
    found: dict[ObjectId, Change] = {}
    reached = {*gone}
    while True:
        more = {
            each: change
            for each, change in newest.items()
            if each not in found and isinstance(change.after, Summary)
            and (not reached.isdisjoint(change.after.sources)
                 or not set(segments).isdisjoint(change.after.segments))
        }  # fmt: skip
        if not more:
            return found
        found |= more
        reached.update(more)


def unfolded_by(
    newest: Mapping[ObjectId, Change], going: Collection[ObjectId]
) -> Iterator[Summary]:
    """The summaries that stay and were folded only into some that go."""
    summaries = [c.after for c in newest.values() if isinstance(c.after, Summary)]
    into_going = {s for each in summaries if each.id in going for s in each.sources}
    into_staying = {
        s for each in summaries if each.id not in going and each.ended_at is None
        for s in each.sources
    }  # fmt: skip
    for each in summaries:
        is_free = each.id in into_going and each.id not in into_staying | set(going)
        if is_free and not each.is_active and each.ended_at is None:
            yield each


def freed_by(
    holding: Holding, newest: Mapping[ObjectId, Change], going: Collection[Version],
    gone: Collection[ObjectId],
) -> dict[ObjectId, Change]:  # fmt: skip
    """Of beliefs to which only words that go had put an end, the decision before that.

    They are believed again where nothing else has taken their place by then.
    """
    decided = {change.seq: change for change in holding.changes}
    freed: dict[ObjectId, Change] = {}
    for each, change in newest.items():
        causes = {(cause.message, cause.version) for cause in change.causes}
        is_overtaken = change.op in OVERTAKEN and causes and causes <= set(going)
        earlier = before(decided, change)
        if each not in gone and is_overtaken and earlier is not None:
            freed[each] = earlier
    memories = [change.after for change in newest.values() if isinstance(change.after, Memory)]
    return {
        each: earlier
        for each, earlier in freed.items()
        if not is_overtaken_further(earlier.after, memories, gone)
    }


def is_overtaken_further(
    after: Believed, memories: Sequence[Memory], gone: Collection[ObjectId]
) -> bool:
    """Whether what stays has overtaken what had overtaken this, of which several may hold."""
    if not isinstance(after, Memory) or has_one_value(after.kind, after.key):
        return False
    place = in_its_place(after, memories)
    return any(each.ended_at is None and each.id not in gone for each in place)
