"""Which belief of one memory corresponds to which of another? By what they say, not by ids.

Surest signs first, each belief once: the same id, the same words, the same value, the same names;
then what rests on the same quotes or is alike in its letters. Pure; knows no database.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.app.believing.looking import Belief
from oldfriend.background.deciding.attributes import folded
from oldfriend.background.likeness import COMPATIBLE, canonical_hash, matter_of, verdict
from oldfriend.background.pairs import alike_pairs
from oldfriend.domain.ids import MessageId
from oldfriend.domain.memories import Entity, Memory, Summary
from oldfriend.memory.overtaking import has_one_value

Pair = tuple[Belief, Belief]
Sign = Callable[[Belief], Iterable[Hashable]]
"""By which keys a belief may be known in the other memory."""

ALIKE_ON_THE_SAME_WORDS: Final = 0.25
"""Stems in common; two matters of one sentence have less, two wordings of one mostly more."""


@dataclass(slots=True)
class Matched:
    """What corresponds, and what is left on either side."""

    ones: list[Belief]
    others: list[Belief]
    pairs: list[Pair]

    def take(self, found: Iterable[Pair]) -> None:
        """Let those correspond that are still left on both sides; the first come first."""
        ones, others = {id(each) for each in self.ones}, {id(each) for each in self.others}
        for one, other in found:
            if id(one) in ones and id(other) in others:
                ones.remove(id(one))
                others.remove(id(other))
                self.pairs.append((one, other))
        self.ones = [each for each in self.ones if id(each) in ones]
        self.others = [each for each in self.others if id(each) in others]


def match(ones: Sequence[Belief], others: Sequence[Belief], *, is_strict: bool = False) -> Matched:
    """Find for each belief of one memory what corresponds to it in the other.

    ``is_strict``: two values of the same are two, and not one that differs.
    """
    matched = Matched(ones=list(ones), others=list(others), pairs=[])
    for sign in (its_id, its_words, its_value, its_own_name, its_names):
        matched.take(same_by(with_life(sign), matched))
        matched.take(same_by(sign, matched))
    matched.take(on_the_same_words(matched))
    matched.take(alike(matched))
    if not is_strict:
        matched.take(same_by(with_life(its_place), matched))
        matched.take(same_by(its_place, matched))
    return matched


def same_by(sign: Sign, left: Matched) -> Iterator[Pair]:
    """Those that share a key, in order."""
    if not left.ones:
        return
    by_key: defaultdict[Hashable, list[Belief]] = defaultdict(list)
    for other in left.others:
        for key in sign(other):
            by_key[key].append(other)
    for one in left.ones:
        for key in sign(one):
            for other in by_key.get(key, ()):
                yield one, other


def with_life(sign: Sign) -> Sign:
    """The same keys, but what is believed still is not what is not."""
    return lambda each: ((key, each.what.ended_at is None) for key in sign(each))


def its_id(each: Belief) -> Iterator[Hashable]:
    """What was carried over has its id."""
    yield each.what.id


def its_words(each: Belief) -> Iterator[Hashable]:
    """What says the same in the same words; of a summary, what it tells of."""
    what = each.what
    if isinstance(what, Memory):
        yield what.kind, what.subject, what.key, canonical_hash(what.text, what.language)
    elif isinstance(what, Summary):
        yield what.level, what.segments
        yield what.level, what.from_at, what.until_at


def its_value(each: Belief) -> Iterator[Hashable]:
    """The same value of the same."""
    what = each.what
    if isinstance(what, Memory) and what.key and what.value:
        yield what.kind, what.subject, what.key, folded(what.value)


def its_own_name(each: Belief) -> Iterator[Hashable]:
    """Who or what is called so in the first place."""
    if isinstance(each.what, Entity):
        yield each.what.kind, folded(each.what.name)


def its_names(each: Belief) -> Iterator[Hashable]:
    """Who or what bears the name; other names come after it."""
    what = each.what
    if isinstance(what, Entity):
        yield from map(folded, (what.name, *what.aliases))


def its_place(each: Belief) -> Iterator[Hashable]:
    """Of what has one value at a time, that there is one."""
    what = each.what
    if isinstance(what, Memory) and has_one_value(what.kind, what.key):
        yield what.kind, what.subject, what.key


def on_the_same_words(left: Matched) -> list[Pair]:
    """Those that rest on the same quotes and are worded alike, the most alike first."""
    if not left.ones:
        return []
    by_message: defaultdict[MessageId, list[Belief]] = defaultdict(list)
    for other in left.others:
        for message in {words.message for words in other.words}:
            by_message[message].append(other)
    found: dict[tuple[int, int], tuple[float, Pair]] = {}
    for one in left.ones:
        for message in {words.message for words in one.words}:
            for other in by_message.get(message, ()):
                if may_be_one(one, other) and share_a_quote(one, other):
                    found[id(one), id(other)] = closeness(one, other), (one, other)
    return [pair for close, pair in sorted(found.values(), key=lambda each: -each[0])
            if close >= ALIKE_ON_THE_SAME_WORDS]  # fmt: skip


def may_be_one(one: Belief, other: Belief) -> bool:
    """Whether two can be one belief at all; attributes by their key or their value."""
    a, b = one.what, other.what
    if not (isinstance(a, Memory) and isinstance(b, Memory)) or a.subject != b.subject:
        return False
    if a.key and b.key:
        return folded(a.value) == folded(b.value) or (a.key == b.key and within(a.value, b.value))
    return a.kind == b.kind or frozenset({a.kind, b.kind}) in COMPATIBLE


def share_a_quote(one: Belief, other: Belief) -> bool:
    """Whether the same words speak for both, more of them or fewer."""
    return any(
        ours.message == theirs.message and within(ours.quote, theirs.quote)
        for ours in one.words
        for theirs in other.words
    )


def within(one: str, other: str) -> bool:
    """Whether one of two texts stands in the other."""
    a, b = folded(one), folded(other)
    return bool(a and b) and (a in b or b in a)


def closeness(one: Belief, other: Belief) -> float:
    """How alike two are that rest on the same words; what has the same value surely is."""
    a, b = one.what, other.what
    assert isinstance(a, Memory)
    assert isinstance(b, Memory)
    if a.value and folded(a.value) == folded(b.value):
        return 1.0
    ours, theirs = matter_of(a.text, a.language), matter_of(b.text, b.language)
    return 2 * len(ours & theirs) / max(len(ours) + len(theirs), 1)


def alike(left: Matched) -> Iterator[Pair]:
    """Those that say the same by their letters, as merging has it; the most alike first."""
    ones = [(each, each.what) for each in left.ones if isinstance(each.what, Memory)]
    others = [(each, each.what) for each in left.others if isinstance(each.what, Memory)]
    for language in sorted({memory.language for _, memory in ones}):
        ours = [(each, memory) for each, memory in ones if memory.language == language]
        for pair in alike_pairs(
            [memory for _, memory in ours], [memory for _, memory in others], None,
            language=language,
        ):  # fmt: skip
            (one, a), (other, b) = ours[pair.one], others[pair.other]
            is_value = a.key and b.key and (a.key, folded(a.value)) != (b.key, folded(b.value))
            if not is_value and verdict(a, b, None, language=language) == "same":
                yield one, other


def find_counterpart(
    one: Belief, others: Sequence[Belief], *, is_strict: bool = True
) -> Belief | None:
    """What corresponds to one belief among those of another memory, if anything does."""
    pairs = match([one], others, is_strict=is_strict).pairs
    return pairs[0][1] if pairs else None
