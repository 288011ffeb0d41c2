"""What follows from forgetting something? Decided from all that is kept; nothing is written.

A belief that loses its last evidence goes with it, or stays as an orphan if that is wanted. One
that has other evidence stays, unless its own words were taken from what goes: then it goes, too,
and is learned anew from what is left. Summaries of the talk go, and are made anew. The companion's
replies lose their words where these repeat what goes; what rested on those words goes like what
rested on any others.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from oldfriend.db.database import Transaction
from oldfriend.domain.ids import ObjectId, PersonId
from oldfriend.domain.memories import Change, Entity, Memory, Summary
from oldfriend.memory.forgetting.choosing import Chosen, mentions
from oldfriend.memory.forgetting.echoes import Echoes, listen, replies_that_repeat
from oldfriend.memory.forgetting.holding import Holding, Said, load_holding, text_of
from oldfriend.memory.forgetting.leftovers import going_along, on_nothing
from oldfriend.memory.forgetting.resting import (
    Beliefs,
    Rests,
    also_read_from,
    freed_by,
    is_by_hand,
    is_rejected,
    lost_among,
    made_of,
    newest_of,
    read_from,
    resting,
    speaking_for,
    summaries_among,
    touched_segments,
    undescribed,
    unfolded_by,
)
from oldfriend.memory.forgetting.spans import spans_in
from oldfriend.memory.forgetting.tombstones import quoted_words


@dataclass(frozen=True, slots=True, kw_only=True)
class Foreseen:
    """What goes, and what becomes of the rest."""

    person: PersonId
    chosen: Chosen
    messages: tuple[Said, ...]  # versions that go
    gone: frozenset[str]  # ids of messages and beliefs to which nothing may point any more
    objects: Beliefs  # that go
    anew: frozenset[ObjectId]  # of those: they have other evidence, and are learned from it anew
    orphans: Beliefs  # stay although nothing is left that they rested on
    staying: Beliefs  # stay though some of their words go: for others, or by hand …
    keeping: Mapping[ObjectId, int]  # … and how much other evidence these have
    freed: Beliefs  # stay, and are believed again: what overtook them goes; as they were before
    unfolded: tuple[Summary, ...]  # were folded into summaries that go, and are active again
    outdated: frozenset[int]  # earlier decisions, about what stays, that hold words of what goes
    reread: frozenset[str]  # messages whose segments are read again
    replies: tuple[Said, ...]  # of the companion, that lose their words but keep their place
    answers: int  # replies that stood on it, or were about it
    near: tuple[Said, ...]  # messages that stay, and say nearly the same, or …
    read_from: frozenset[str]  # … of those: what beliefs that are forgotten were read from
    beside: Beliefs  # stay, and were read from these very words
    unsaid: frozenset[str]  # other names, of what stays, that were said only in what goes
    spans: frozenset[int]  # runs of words that stand only in what goes
    titles: tuple[str, ...]  # of chats and files, that lose a name
    namesakes: tuple[str, ...]  # parts of names that go, which what stays may call somebody else
    undescribed: frozenset[ObjectId]  # stay, and inference says no more who they are
    quoted: frozenset[str]  # by which words are known that only beliefs rested on which go for good

    @property
    def wordless(self) -> tuple[Said, ...]:
        """The versions of which no word is left, whether they go or lose their words."""
        return (*self.messages, *self.replies)

    def holds_words(self, text: str | None) -> bool:
        """Whether a text holds a run of words of what goes, or a name."""
        return bool(text) and tells(text or "", self.spans, self.chosen.names)

    def bears_name(self, text: str) -> bool:
        """Whether a text holds the name of somebody who goes."""
        return mentions(text, self.chosen.names)


def tells(text: str, spans: frozenset[int], names: Collection[str]) -> bool:
    """Whether a text holds one of some runs of words, or one of some names."""
    return mentions(text, names) or not spans.isdisjoint(spans_in(text))


async def foresee(
    tx: Transaction, person: PersonId, chosen: Chosen, *, orphan: bool = False
) -> Foreseen:
    """What forgetting these would take away."""
    return foreseen(await load_holding(tx, person), chosen, orphan=orphan)


def foreseen(holding: Holding, chosen: Chosen, *, orphan: bool) -> Foreseen:
    """The same, of all that is kept.

    What goes because a reply loses its words may have others lose theirs, until none does.
    """
    plan = foreseen_with(holding, chosen, (), orphan=orphan)
    silenced: tuple[Said, ...] = ()
    while not {each.seq for each in plan.replies} <= {each.seq for each in silenced}:
        silenced = plan.replies
        plan = foreseen_with(holding, chosen, silenced, orphan=orphan)
    return plan


def foreseen_with(
    holding: Holding, chosen: Chosen, silenced: Sequence[Said], *, orphan: bool
) -> Foreseen:
    """What follows where these replies lose their words, and which do because of that."""
    messages, kept = parted(holding.messages, chosen.seqs)
    wordless, speaking = parted(holding.messages, chosen.seqs.union(e.seq for e in silenced))
    versions = {each.key for each in wordless}
    newest = newest_of(holding)
    rests = resting(holding, versions)
    lost, orphans = told_apart(lost_among(newest, rests, chosen.objects), orphan=orphan)
    named = {each: newest[each] for each in chosen.objects} | dict(lost)
    segments = touched_segments(holding, wordless)
    taken = named | summaries_among(newest, segments, named)
    left = {each: change for each, change in on_nothing(holding).items() if each not in taken}
    staying = staying_texts(holding, newest, {**taken, **left}, rests, orphan=orphan)
    staying += holding.souls if chosen.is_everything else (*holding.blocks, *holding.souls)
    echoes = with_beliefs(listen(wordless, speaking, stays=staying), named, kept, staying)
    anew = taken_from(newest, taken, frozenset() if orphan else echoes.spans, chosen.names)
    anew |= {} if orphan else made_of(newest, {*taken, *anew})
    taken |= going_along(left, taken | anew)
    anew = {each: change for each, change in anew.items() if each not in left}
    going = taken | anew | summaries_among(newest, segments, {*taken, *anew})
    words = read_from(holding, chosen.objects, speaking)
    gone = frozenset({each.id for each in messages} - {each.id for each in kept} | going.keys())
    return Foreseen(
        person=holding.person,
        chosen=chosen,
        messages=messages,
        gone=gone,
        objects=going,
        anew=frozenset(anew),
        orphans=orphans,
        staying=(stay := beliefs_that_stay(rests, newest, going, {**lost, **orphans})),
        keeping={each: rests[each].left for each in stay},
        freed=freed_by(holding, newest, versions, going),
        unfolded=tuple(unfolded_by(newest, going)),
        outdated=frozenset(outdated(holding, newest, going, echoes.spans, chosen.names)),
        reread=speaking_for(holding, anew) - gone,
        replies=tuple(replies_that_repeat(messages, kept, holding.answers, echoes, gone)),
        answers=answers_that_stood_on(holding, gone),
        near=tuple(dict.fromkeys((*words, *echoes.near))),
        read_from=frozenset(each.id for each in words),
        beside=also_read_from(holding, newest, going, words),
        unsaid=unsaid_names(newest, going, messages, kept),
        spans=echoes.spans,
        namesakes=tuple(namesakes_in(holding, newest, going, chosen)),
        titles=tuple(each for each in holding.titles if mentions(each, chosen.names)),
        quoted=words_quoted(holding, newest, going.keys() - anew.keys()),
        undescribed=undescribed(holding, versions, going),
    )


def told_apart(lost: Beliefs, *, orphan: bool) -> tuple[Beliefs, Beliefs]:
    """Of what rests on nothing any more what goes, and what stays; never what was rejected."""
    stays = {each for each, change in lost.items() if orphan and not is_rejected(change)}
    return (
        {each: change for each, change in lost.items() if each not in stays},
        {each: change for each, change in lost.items() if each in stays},
    )


def parted(
    messages: Iterable[Said], going: frozenset[int]
) -> tuple[tuple[Said, ...], list[Said]]:  # fmt: skip
    """Those that go, by their seqs, and those that stay."""
    sides: dict[bool, list[Said]] = {True: [], False: []}
    for each in messages:
        sides[each.seq in going].append(each)
    return tuple(sides[True]), sides[False]


def answers_that_stood_on(holding: Holding, gone: frozenset[str]) -> int:
    """How many replies stood on what goes, or were about it."""
    about = ({each.asked, each.replied, *each.used} for each in holding.answers)
    return sum(not gone.isdisjoint(each) for each in about)


def staying_texts(
    holding: Holding, newest: Beliefs, taken: Beliefs, rests: Mapping[ObjectId, Rests], *,
    orphan: bool,
) -> list[str]:  # fmt: skip
    """The words of beliefs that stay as they are: they owe nothing to what goes, or are the
    person's own, or orphans."""
    stays = {
        each
        for each, change in newest.items()
        if each not in taken
        and (orphan or is_by_hand(change) or each not in rests or not rests[each].is_touched)
    }
    return [text_of(change) for change in holding.changes if change.object in stays]


def with_beliefs(
    echoes: Echoes, named: Beliefs, kept: Iterable[Said], staying: Iterable[str]
) -> Echoes:
    """Also the runs of words that stand only in beliefs that go."""
    spans: set[int] = set()
    for change in named.values():
        spans |= spans_in(text_of(change))
    if spans:
        said = (each.text for each in kept if each.role != "companion")
        for text in (*said, *staying):
            spans.difference_update(spans_in(text))
    return replace(echoes, spans=echoes.spans | spans)


def namesakes_in(
    holding: Holding, newest: Beliefs, going: Beliefs, chosen: Chosen
) -> list[str]:  # fmt: skip
    """The parts of longer names that go, such as a first name, that stand in what stays."""
    parts = {
        part for name in chosen.names for part in name.split()
        if part[:1].isupper() and part not in chosen.names
    }  # fmt: skip
    staying = [each.text for each in holding.messages if each.seq not in chosen.seqs]
    staying += [text_of(change) for each, change in newest.items() if each not in going]
    return sorted(
        part for part in parts
        if any(part in text and mentions(text, [part]) for text in staying)
    )  # fmt: skip


def words_quoted(
    holding: Holding, newest: Beliefs, going: Collection[ObjectId]
) -> frozenset[str]:  # fmt: skip
    """The words that memories rest on which go, and no memory that stays does."""
    words: dict[bool, set[str]] = {True: set(), False: set()}
    for each in holding.witnesses:
        change = newest.get(ObjectId(each.object))
        if each.supports and change is not None and isinstance(change.after, Memory):
            kind, key = change.after.kind, change.after.key
            rests_on = quoted_words(kind, key, each.quote, said_at=each.said_at)
            words[change.object in going].update(rests_on)
    return frozenset(words[True] - words[False])


def taken_from(
    newest: Beliefs, taken: Beliefs, spans: frozenset[int], names: Collection[str]
) -> dict[ObjectId, Change]:
    """The beliefs that would stay, but whose own words were taken from what goes."""
    return {
        each: change
        for each, change in newest.items()
        if each not in taken and not is_by_hand(change)
        and tells(text_of(change), spans, names)
    }  # fmt: skip


def beliefs_that_stay(
    rests: Mapping[ObjectId, Rests], newest: Beliefs, going: Beliefs, lost: Beliefs
) -> dict[ObjectId, Change]:
    """The beliefs that rested on what goes, and stay: for other evidence, or by hand."""
    return {
        each: newest[each]
        for each, rest in rests.items()
        if each in newest and rest.is_touched and each not in going and each not in lost
    }


def outdated(
    holding: Holding, newest: Beliefs, going: Beliefs, spans: frozenset[int],
    names: Collection[str],
) -> Iterable[int]:  # fmt: skip
    """The earlier decisions about what stays that hold words of what goes."""
    return (
        change.seq
        for change in holding.changes
        if change.object not in going and change.seq != newest[change.object].seq
        and tells(text_of(change), spans, names)
    )  # fmt: skip


def unsaid_names(
    newest: Beliefs, going: Beliefs, messages: Iterable[Said], kept: Iterable[Said]
) -> frozenset[str]:
    """The other names of somebody who stays that were said only in what goes."""
    names = {
        alias
        for each, change in newest.items()
        if each not in going and isinstance(change.after, Entity) and not is_by_hand(change)
        for alias in change.after.aliases
    }
    heard = "\n".join(each.text for each in messages).casefold() if names else ""
    names = {name for name in names if name.casefold() in heard}
    still = "\n".join(each.text for each in kept).casefold() if names else ""
    return frozenset(name for name in names if name.casefold() not in still)
