"""What has a model answered? Its JSON as claims, with ids in place of the small names.

What is no answer at all raises ValueError, so that it can be mended. A single claim that cannot
be read is dropped and counted. Whether a claim is true or allowed is not looked at: a small name
that nobody gave out stays as it is, and is found out in ``checking``.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeVar, get_args

from oldfriend.background.extraction import (
    Bearing,
    Claim,
    Extraction,
    Named,
    Quote,
    Sameness,
    Tied,
)
from oldfriend.background.fields import (
    Fields,
    begin_in,
    choice_in,
    clean,
    end_in,
    list_in,
    object_from,
    share_in,
    text_in,
    value_in,
    whole_in,
    words_in,
)
from oldfriend.background.form import KIND_OF_LIST
from oldfriend.background.laying_out import Aliases
from oldfriend.domain.ids import MemoryId, MessageId, ObjectId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.memories import (
    EntityKind,
    Memory,
    MemoryKind,
    Mood,
    MoodSignal,
    PatternKind,
    RelationalTag,
    Signal,
    Subject,
)
from oldfriend.domain.ties import TIES

T = TypeVar("T")


BEARINGS: Final[tuple[Bearing, ...]] = get_args(Bearing)
SUBJECTS: Final[tuple[Subject, ...]] = get_args(Subject)
SIGNALS: Final[tuple[Signal, ...]] = get_args(Signal)
PATTERN_KINDS: Final[tuple[PatternKind, ...]] = get_args(PatternKind)
RELATIONAL_TAGS: Final[tuple[RelationalTag, ...]] = get_args(RelationalTag)
ENTITY_KINDS: Final[tuple[EntityKind, ...]] = get_args(EntityKind)
OF_THE_PERSON: Final = frozenset({"", "person", "the person"})
"""So the person is named at the end of a tie."""
CALM_TO_BESIDE_ONESELF: Final = 10
MOOD_SIGNALS: Final[tuple[MoodSignal, ...]] = get_args(MoodSignal)


@dataclass(frozen=True, slots=True, kw_only=True)
class Legend:
    """What is needed to read an answer: the small names, and the zone of its clocks."""

    aliases: Aliases
    zone: str


@dataclass(slots=True)
class Tally:
    """The faults of what could not be read."""

    faults: list[str] = field(default_factory=list)

    def readable(self, fields: Fields, part: str, read: Callable[[Fields], T]) -> list[T]:
        """What can be read of a list. Raises ValueError where it is no list."""
        found = []
        for item in list_in(fields, part):
            try:
                found.append(read(object_from(item, "each")))
            except ValueError as fault:
                self.faults.append(f"in {part}, {fault}")
        return found


def extraction_from(
    answer: JsonValue, legend: Legend, *, author: str, wanted: Sequence[str]
) -> Extraction:
    """Everything that was wanted of an answer. Raises ValueError, in words for the model."""
    fields = wanted_fields(answer, wanted)
    tally = Tally()
    claims = claims_from(fields, legend, tally)
    names = tally.readable(fields, "names", lambda item: named_from(item, legend))
    ties = tally.readable(fields, "ties", lambda item: tied_from(item, legend))
    samenesses = tally.readable(fields, "same", lambda item: sameness_from(item, legend))
    if tally.faults and not (claims or ties or names or samenesses):
        raise ValueError(f"nothing in it could be read. The first fault: {tally.faults[0]}")
    return Extraction(
        author=author,
        claims=tuple(claims),
        ties=tuple(ties),
        names=tuple(names),
        samenesses=tuple(samenesses),
        topics=words_in(fields, "topics"),
        summary=text_in(fields, "summary"),
        mood=mood_from(fields.get("mood")),
        self_check=self_check_from(fields),
        malformed=len(tally.faults),
    )


def wanted_fields(answer: JsonValue, wanted: Sequence[str]) -> Fields:
    """The parts of an answer that were asked for."""
    fields = object_from(answer, "the answer")
    found = {part: fields[part] for part in wanted if part in fields}
    if not found:
        raise ValueError(f"it has none of the keys {', '.join(wanted)}.")
    return found


def claims_from(fields: Fields, legend: Legend, tally: Tally) -> list[Claim]:
    """The claims of all lists that can be read."""
    claims: list[Claim] = []
    for part, kind in KIND_OF_LIST.items():

        def read(item: Fields, kind: MemoryKind = kind) -> Claim:
            return claim_from(item, kind, legend)

        claims += tally.readable(fields, part, read)
    return claims


def claim_from(item: Fields, kind: MemoryKind, legend: Legend) -> Claim:
    """One claim. Raises ValueError where a field is not what it has to be.

    What is seen again need not be said again: it is filled in from what is known.
    """
    bearing = choice_in(item, "bearing", BEARINGS, "new")
    alias = text_in(item, "target")
    target = legend.aliases.known.get(alias)
    again = target if bearing in {"reinforces", "contradicts", "fulfils"} else None
    text = text_in(item, "text") or (again.text if again else "")
    if not text:
        raise ValueError("a claim has no text.")
    return Claim(
        kind=kind,
        text=text,
        quotes=quotes_from(item, legend),
        bearing=bearing,
        target=target.id if target else MemoryId(ObjectId(alias)) if alias else None,
        confidence=share_in(item, "confidence", 0.7),
        signal=choice_in(item, "signal", SIGNALS, "explicit"),
        subject=choice_in(item, "subject", SUBJECTS, again.subject if again else "person"),
        key=text_in(item, "key") or (again.key if again else ""),
        value=value_in(item, "value") or (again.value if again else ""),
        pattern=pattern_from(item, again),
        impact=whole_in(item, "impact", 0),
        tags=words_in(item, "tags"),
        arousal=arousal_in(item),
        cues=words_in(item, "cues"),
        relational=tuple(tag for tag in RELATIONAL_TAGS if tag in words_in(item, "relational")),
        importance=share_in(item, "importance", 0.5),
        happened_at=begin_in(item, "happened_at", legend.zone),
        happened_until=end_in(item, "happened_until", legend.zone),
        holds_from=begin_in(item, "holds_from", legend.zone),
        holds_until=end_in(item, "holds_until", legend.zone),
        due_at=end_in(item, "due_at", legend.zone),
        names=tuple(name_from(name, legend) for name in words_in(item, "names")),
    )


def arousal_in(item: Fields) -> int | None:
    """How strongly something was felt, 0 to 10; none where it cannot be read."""
    told = item.get("arousal")
    return told if type(told) is int and 0 <= told <= CALM_TO_BESIDE_ONESELF else None


def pattern_from(item: Fields, again: Memory | None) -> PatternKind | None:
    """Of which kind a pattern is; none where there is no word for it."""
    if not text_in(item, "pattern"):
        return again.pattern if again else None
    return choice_in(item, "pattern", PATTERN_KINDS, PATTERN_KINDS[0])


def tied_from(item: Fields, legend: Legend) -> Tied:
    """How one stands to another. Raises ValueError. Who is known stands there by id."""
    first, second, text = (text_in(item, name) for name in ("first", "second", "text"))
    tie = next((each for each in TIES if each == text_in(item, "tie")), None)
    if tie is None:
        raise ValueError(f'"tie" must be one of {", ".join(TIES)}.')
    if not second or not text:
        raise ValueError('a tie needs "first", "second" and "text".')
    is_of_person = first.casefold() in OF_THE_PERSON
    claim = Claim(
        kind="triple", text=text, quotes=quotes_from(item, legend), key=tie,
        subject="person" if is_of_person else "other",
        confidence=share_in(item, "confidence", 0.7),
        signal=choice_in(item, "signal", SIGNALS, "explicit"),
        holds_from=begin_in(item, "holds_from", legend.zone),
        holds_until=end_in(item, "holds_until", legend.zone),
    )  # fmt: skip
    return Tied(
        tie=tie, first="" if is_of_person else end_from(first, legend),
        second="" if second.casefold() in OF_THE_PERSON else end_from(second, legend), claim=claim,
    )  # fmt: skip


def end_from(text: str, legend: Legend) -> str:
    """Who is at the end of a tie; who is known, by id, for names may be shared."""
    known = legend.aliases.entities.get(text)
    return known.id if known else text


def named_from(item: Fields, legend: Legend) -> Named:
    """Somebody or something with a name. Raises ValueError."""
    name = text_in(item, "name")
    if not name:
        raise ValueError("somebody is named without a name.")
    return Named(
        name=name,
        kind=choice_in(item, "kind", ENTITY_KINDS, "other"),
        quotes=quotes_from(item, legend),
        aliases=words_in(item, "aliases"),
    )


def sameness_from(item: Fields, legend: Legend) -> Sameness:
    """Whether two are the same. Who is known stands there by id, for names may be shared."""
    one, other = (text_in(item, side) for side in ("one", "other"))
    is_same = item.get("same")
    if not one or not other or not isinstance(is_same, bool):
        raise ValueError('"one" and "other" must name the two, and "same" be true or false.')
    known = legend.aliases.entities
    return Sameness(
        one=known[one].id if one in known else one,
        other=known[other].id if other in known else other,
        is_same=is_same,
        quotes=quotes_from(item, legend),
    )


def name_from(text: str, legend: Legend) -> str:
    """A name; of who is known, as it is known."""
    entity = legend.aliases.entities.get(text)
    return entity.name if entity else text


def quotes_from(item: Fields, legend: Legend) -> tuple[Quote, ...]:
    """The words that are cited. Raises ValueError."""
    return tuple(
        quote_from(object_from(quote, "a quote"), legend) for quote in list_in(item, "quotes")
    )


def quote_from(quote: Fields, legend: Legend) -> Quote:
    """Words and the message that they are said to stand in. Raises ValueError."""
    alias = text_in(quote, "message")
    message = legend.aliases.messages.get(alias)
    return Quote(message=message.id if message else MessageId(alias), text=text_in(quote, "text"))


def mood_from(value: JsonValue) -> Mood | None:
    """How the talk leaves the companion; none where it cannot be read: nothing rests on it."""
    match value:
        case {"phrase": str(phrase), "energy": int(energy), **others} if 0 <= energy <= 10:
            signal = others.get("signal")
            word = next((word for word in MOOD_SIGNALS if word == signal), None)
            return Mood(phrase=clean(phrase), energy=int(energy), signal=word)
        case _:
            return None


def self_check_from(fields: Fields) -> Mapping[str, str]:
    """What the model found when it looked again. Raises ValueError where it did not look."""
    check = object_from(fields.get("self_check"), '"self_check"')
    notes = {name: text_in(check, name) for name in ("missed_peak", "attribution")}
    if not all(notes.values()):
        raise ValueError('"self_check" must say something of missed_peak and of attribution.')
    return notes
