"""Where do words that go stand once more? In replies that repeat them, in messages nearly the same.

What somebody else says in a message that stays is kept with it, and gives nothing away. The
companion may always have repeated somebody; its own are only its sayings, and what it has said
elsewhere, too, when its own words are to go.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.memory.forgetting.holding import Answered, Said
from oldfriend.memory.forgetting.spans import PHRASE, likeness, spans_in
from oldfriend.prompts.phrasebook import SPOKEN, phrasebook

ALIKE: Final = 0.5
"""A message of which so much stands in one that goes says nearly the same."""
MOST_NEAR: Final = 20
ASKING: Final = frozenset({"person", "other"})
"""Who may be answered; in a group everybody is another."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Echoes:
    """What would give away what goes."""

    spans: frozenset[int]  # stand only in what goes
    phrases: frozenset[int]  # the same, shorter, for texts that were made from it
    near: tuple[Said, ...]  # messages that stay and say nearly the same


def listen(going: Sequence[Said], kept: Sequence[Said], *, stays: Iterable[str]) -> Echoes:
    """What is said in some messages alone; ``stays`` are beliefs that stay whatever goes."""
    said = shingles_of(each.text for each in going if each.role != "companion")
    own = shingles_of(each.text for each in going if each.role == "companion").without(said)
    for each in kept:
        still = shingles_of([each.text])
        own = own.without(still)
        if each.role != "companion":
            said = said.without(still)
    left = said.with_all(own).without(shingles_of([*stays, *own_sayings()]))
    return Echoes(spans=left.spans, phrases=left.phrases, near=tuple(nearest(going, kept)))


def own_sayings() -> list[str]:
    """What the companion says by itself, in every language: nobody's words are in it."""
    return [saying for language in SPOKEN for saying in phrasebook(language).say.values()]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shingles:
    """The spans and phrases of some texts."""

    spans: frozenset[int]
    phrases: frozenset[int]

    def without(self, other: "Shingles") -> "Shingles":
        """Those that do not stand elsewhere."""
        if self.spans.isdisjoint(other.spans) and self.phrases.isdisjoint(other.phrases):
            return self
        return Shingles(spans=self.spans - other.spans, phrases=self.phrases - other.phrases)

    def with_all(self, other: "Shingles") -> "Shingles":
        """Both together."""
        return Shingles(spans=self.spans | other.spans, phrases=self.phrases | other.phrases)


def shingles_of(texts: Iterable[str]) -> Shingles:
    """The spans and phrases of all these texts."""
    spans: set[int] = set()
    phrases: set[int] = set()
    for text in texts:
        spans |= spans_in(text)
        phrases |= spans_in(text, weight=PHRASE)
    return Shingles(spans=frozenset(spans), phrases=frozenset(phrases))


def nearest(going: Sequence[Said], kept: Sequence[Said]) -> list[Said]:
    """The messages that stay and say nearly the same as one that goes, the nearest first.

    What the companion lists or quotes of several is nobody's saying, whether it goes or stays.
    """
    by_phrase: dict[int, list[frozenset[int]]] = {}
    for each in (each for each in going if each.role != "companion"):
        phrases = spans_in(each.text, weight=PHRASE)
        for phrase in phrases:
            by_phrase.setdefault(phrase, []).append(phrases)
    found: list[tuple[float, Said]] = []
    for each in kept:
        if each.role == "companion" or not each.is_current:
            continue
        own = spans_in(each.text, weight=PHRASE)
        others = {other for phrase in own for other in by_phrase.get(phrase, ())}
        best = max((likeness(own, other) for other in others), default=0.0)
        if best >= ALIKE:
            found.append((best, each))
    found.sort(key=lambda pair: (-pair[0], pair[1].seq))
    return [each for _, each in found[:MOST_NEAR]]


def replies_that_repeat(
    going: Sequence[Said], kept: Sequence[Said], answers: Iterable[Answered],
    echoes: Echoes, gone: frozenset[str],
) -> Iterator[Said]:  # fmt: skip
    """The companion's replies that must lose their words.

    Those that hold a span of what goes; that were made from it, and hold a phrase; and those that
    answer nothing but what goes, for they may say it in other words.
    """
    made_from = {each.replied for each in answers if each.asked in gone or each.used & gone}
    answers_nothing = {each.turn for each in going if each.role in ASKING and each.turn} - {
        each.turn for each in kept if each.role in ASKING
    }
    for each in kept:
        if each.role != "companion":
            continue
        if (
            each.turn in answers_nothing
            or not echoes.spans.isdisjoint(spans_in(each.text))
            or (each.id in made_from and phrases_shared(each, echoes))
        ):
            yield each


def phrases_shared(said: Said, echoes: Echoes) -> bool:
    """Whether a message holds a phrase of what goes."""
    return not echoes.phrases.isdisjoint(spans_in(said.text, weight=PHRASE))
