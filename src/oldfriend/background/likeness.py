"""Do two sentences say the same? By hash, by likeness, and by what must agree.

Pure: vectors are given, and nobody is asked. What is unclear is for whoever can be asked
(``adjudicating``).
"""

import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from hashlib import sha256
from typing import Final, Literal, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from oldfriend.background.extraction import Claim
from oldfriend.background.mark_words import ALIKE
from oldfriend.background.marks import (
    Marks,
    folded,
    indexed,
    marks_of,
    number_of_word,
    with_digits,
)
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.memories import Memory
from oldfriend.domain.remembered import remembered
from oldfriend.memory.search.words import is_stop_word, is_unspaced, stem_of, words_in

Vector: TypeAlias = NDArray[np.float32]
Told: TypeAlias = Claim | Memory
"""Anything that says something of a kind: about to be believed, or believed."""
Verdict = Literal["same", "unclear", "different"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """What one embedder makes of some texts; a vector of length 1 for each."""

    model: str
    of: Mapping[str, Vector]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """How alike two sentences are that say the same, if nothing in them disagrees."""

    same: float
    unclear: float  # from here on somebody should look
    merge: float  # from here on, where two are believed already


MINILM: Final = "all-MiniLM-L6-v2"
LETTERS: Final = "runs of letters"
CHARACTERS: Final = "runs of characters"  # of scripts without spaces
THRESHOLDS: Final[Mapping[str, Thresholds]] = {
    # Measured on tests/background/alike/pairs.tsv: nothing about another matter is so alike that
    # it lies above "same", while traps (another number, name, negation) do; their words tell them.
    MINILM: Thresholds(same=0.86, unclear=0.76, merge=0.82),
    LETTERS: Thresholds(same=0.92, unclear=0.86, merge=0.90),
    CHARACTERS: Thresholds(same=0.70, unclear=0.52, merge=0.64),
}
DEFAULT: Final = Thresholds(same=0.90, unclear=0.82, merge=0.88)
"""Of embedders that were not measured."""
BLIND_TO_CHARACTERS: Final = frozenset({MINILM})
"""Embedders to which most words of scripts without spaces look the same."""

REMEMBERED: Final = 8192
"""Of so many texts it is known what they consist of: each is compared again and again."""

SAME_EVENT_WITHIN: Final = 30 * DAY
"""What lies further apart has happened twice (ACCEPTANCE F9)."""
SAME_DUE_WITHIN: Final = DAY
FAR_STRONGER: Final = 5
"""Who applied for a job and who got it say nearly the same; one of them is a peak."""
COMPATIBLE: Final = frozenset(
    {
        frozenset({"preference", "pattern"}), frozenset({"preference", "fact"}),
        frozenset({"fact", "pattern"}), frozenset({"commitment", "expectation"}),
    }
)  # fmt: skip
"""Kinds for which one reader or another may take the same words."""


def verdict(
    one: Told, other: Told, vectors: Vectors | None, *, language: str, names: Collection[str] = ()
) -> Verdict:
    """Do two say the same? "unclear" where they are alike, but not in everything that matters.

    Where nobody can be asked, what is unclear is different. ``names`` are those known to stand in
    them.
    """
    if not is_compatible(one, other):
        return "different"
    close = likeness(one.text, other.text, vectors)
    least = thresholds_for(one.text, other.text, vectors)
    matter = matter_of(one.text, language)
    is_worded_alike = bool(matter) and matter == matter_of(other.text, language)
    if close < least.unclear and not is_worded_alike:
        return "different"
    if not is_worded_alike and is_peak_beside_mild(one, other):
        return "different"
    agree = is_due_alike(one, other) and is_felt_alike(one, other)
    if agree and (close >= least.same or is_worded_alike):
        apart = differences(one.text, other.text, language=language, names=names)
        return "unclear" if apart else "same"
    return "unclear"


def canonical_hash(text: str, language: str) -> str:
    """SHA-256 of a text's words: the same however it is punctuated, numbers in words or digits."""
    words = [number_of_word(word, language) or word for word in _WORD.findall(folded(text))]
    return sha256(" ".join(words).encode("utf-8", "surrogatepass")).hexdigest()


def likeness(one: str, other: str, vectors: Vectors | None) -> float:
    """How alike two texts are, −1 to 1: the cosine of their vectors, or of their letters."""
    if vectors is not None and measure_for(one, other, vectors) == family_of(vectors.model):
        return float(vectors.of[one] @ vectors.of[other])
    return float(letters(one) @ letters(other))


def thresholds_for(one: str, other: str, vectors: Vectors | None) -> Thresholds:
    """What the likeness of two texts means."""
    return THRESHOLDS.get(measure_for(one, other, vectors), DEFAULT)


def measure_for(one: str, other: str, vectors: Vectors | None) -> str:
    """What two texts are compared by: an embedder's vectors, or what they are written with."""
    measures = {measure_of(one, vectors), measure_of(other, vectors)}
    if len(measures) == 1:
        return measures.pop()
    return CHARACTERS if CHARACTERS in measures else LETTERS


def measure_of(text: str, vectors: Vectors | None) -> str:
    """What a text can be compared by with others of its kind."""
    if vectors is not None and understood(text, vectors) is not None:
        return family_of(vectors.model)
    return written_with(text)


def written_with(text: str) -> str:
    """What a text is compared by where no embedder understands it."""
    return CHARACTERS if is_mostly_characters(text) else LETTERS


def understood(text: str, vectors: Vectors) -> Vector | None:
    """What an embedder makes of a text; None where it has not seen it, or is blind to it."""
    if is_mostly_characters(text) and family_of(vectors.model) in BLIND_TO_CHARACTERS:
        return None
    return vectors.of.get(text)


def family_of(model: str) -> str:
    """An embedder without its revision."""
    return model.split("/", 1)[0] if model.startswith(MINILM) else model


def letters(text: str) -> Vector:
    """A vector of the single letters and pairs of letters in a text, of length 1."""
    plain = "".join(_WORD.findall(folded(text)))
    runs = (plain[at : at + size] for size in (1, 2) for at in range(len(plain) - size + 1))
    places = [
        crc32(run.encode("utf-8", "surrogatepass")) % LETTER_PLACES
        for run in runs
        if run not in _PARTICLES
    ]
    counts = np.bincount(places, minlength=LETTER_PLACES).astype(np.float32)
    length = float(np.linalg.norm(counts))
    vector: Vector = counts / length if length else counts
    return vector


def differences(
    one: str, other: str, *, language: str, names: Collection[str] = ()
) -> tuple[str, ...]:
    """What does not agree: numbers, times, names, negation, or the one word that is another."""
    ours, theirs = marks_of(one, language, names), marks_of(other, language, names)
    return (
        *differing_numbers(ours, theirs),
        *differing_names(ours, theirs, one, other),
        *differing_sense(ours, theirs),
        *differing_wording(one, other, language),
    )


def differing_numbers(ours: Marks, theirs: Marks) -> Iterator[str]:
    """The numbers and times of only one of them."""
    if ours.numbers != theirs.numbers:
        yield told_apart("number", ours.numbers - theirs.numbers, theirs.numbers - ours.numbers)
    if ours.times != theirs.times:
        yield told_apart("time", ours.times - theirs.times, theirs.times - ours.times)


def differing_names(ours: Marks, theirs: Marks, one: str, other: str) -> Iterator[str]:
    """The names of only one of them; and who comes first, for it is they who do something."""
    only_ours = {name for name in ours.names if name not in folded(other)}
    only_theirs = {name for name in theirs.names if name not in folded(one)}
    if only_ours or only_theirs:
        yield told_apart("name", only_ours, only_theirs)
    elif ours.names[:1] != theirs.names[:1] and len(set(ours.names + theirs.names)) > 1:
        yield told_apart("first name", ours.names[:1], theirs.names[:1])


def differing_sense(ours: Marks, theirs: Marks) -> Iterator[str]:
    """Whether one is turned round, or stands on another side."""
    if ours.is_negated != theirs.is_negated:
        yield "negation"
    for axis in sorted(ours.sides.keys() & theirs.sides.keys()):
        if ours.sides[axis] != theirs.sides[axis]:
            yield f"side: {axis}"


def differing_wording(one: str, other: str, language: str) -> Iterator[str]:
    """The words that stand in the place of others: each of the two has some of its own."""
    if is_mostly_characters(one) and is_mostly_characters(other):
        yield from replaced_characters(one, other, language)
        return
    ours, theirs = matter_of(one, language), matter_of(other, language)
    only_ours, only_theirs = without_near(ours, theirs), without_near(theirs, ours)
    if only_ours and only_theirs:
        yield told_apart("word", only_ours, only_theirs)
    if have_exchanged_beginnings(one, other):
        yield "order"
    if signs_in(one) != signs_in(other):
        yield told_apart("sign", signs_in(one), signs_in(other))


def without_near(ours: Collection[str], theirs: Collection[str]) -> list[str]:
    """The stems that are among the others in no form; "allergic" is a form of "allergy"."""
    beginnings = {each[:BEGINNING] for each in theirs}
    return [our for our in ours if our[:BEGINNING] not in beginnings]


def signs_in(text: str) -> frozenset[str]:
    """The pictures in a text."""
    if text.isascii():
        return frozenset()
    return frozenset(each for each in text if unicodedata.category(each) == "So")


def have_exchanged_beginnings(one: str, other: str) -> bool:
    """Does each begin with a noun or name that stands further on in the other?"""
    (our, *ours), (their, *theirs) = (_WORD.findall(text) or [""] for text in (one, other))
    return our != their and our in theirs and their in ours


def replaced_characters(one: str, other: str, language: str) -> Iterator[str]:
    """The runs of characters that stand in the place of others."""
    ours, theirs = plain_characters(one, language), plain_characters(other, language)
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    for change, *(from_, to, from_other, to_other) in matcher.get_opcodes():
        if change == "replace":
            yield told_apart("word", [ours[from_:to]], [theirs[from_other:to_other]])


def plain_characters(text: str, language: str) -> str:
    """A text without particles; what means the same is written the same."""
    plain = "".join(_WORD.findall(with_digits(folded(text))))
    for form, place in _ALIKE.get(language, {}).items():
        plain = plain.replace(form, _FIRST_FORM[language][place])
    return "".join(each for each in plain if each not in _PARTICLES)


@remembered(REMEMBERED)
def matter_of(text: str, language: str) -> frozenset[str]:
    """The stems of the words that carry matter, numbers aside.

    Words that mean the same have one stem.
    """
    words = words_in(text)
    telling = [word for word in words if not is_stop_word(word, language)] or words
    alike, firsts = _ALIKE.get(language, {}), _FIRST_FORM.get(language, [])
    found = (
        stem_of(word, language)
        for word in telling
        if not word.isdecimal() and not number_of_word(word, language)
    )
    return frozenset(firsts[alike[stem]] if stem in alike else stem for stem in found)


def told_apart(what: str, ours: Collection[str], theirs: Collection[str]) -> str:
    """What differs, and how on each side."""
    return f"{what}: {', '.join(sorted(ours)) or '–'} / {', '.join(sorted(theirs)) or '–'}"


def is_compatible(one: Told, other: Told) -> bool:
    """Can two be the same at all? By kind, by whom they are about, and by when they happened."""
    return (
        (one.kind == other.kind or frozenset({one.kind, other.kind}) in COMPATIBLE)
        and (one.subject == other.subject or "shared" in {one.subject, other.subject})
        and (one.pattern == "goal") == (other.pattern == "goal")
        and is_near(one.happened_at, other.happened_at, SAME_EVENT_WITHIN)
    )


def is_due_alike(one: Told, other: Told) -> bool:
    """Are two due at the same time, as far as one knows?"""
    return is_near(one.due_at, other.due_at, SAME_DUE_WITHIN)


def is_felt_alike(one: Told, other: Told) -> bool:
    """Is not one of two events a joy and the other a grief?"""
    return one.impact * other.impact >= 0


def is_peak_beside_mild(one: Told, other: Told) -> bool:
    """Was one of two felt so much more that joining them would lose a peak?"""
    return abs(one.impact - other.impact) >= FAR_STRONGER


def is_near(one: Micros | None, other: Micros | None, within: Micros) -> bool:
    """Do two times lie so close together, or is one not known?"""
    return one is None or other is None or abs(one - other) <= within


def is_mostly_characters(text: str) -> bool:
    """Is a text written in a script without spaces?"""
    if text.isascii():
        return False
    return 2 * sum(map(is_unspaced, text)) > sum(map(str.isalnum, text))


LETTER_PLACES: Final = 2048
BEGINNING: Final = 5
"""Letters that forms of one word have in common."""
_WORD = re.compile(r"[^\W_]+")
_PARTICLES: Final = frozenset("的了着过很非常都去在会总是得地也就和与跟之里们")
_ALIKE: Final = indexed(ALIKE)
_FIRST_FORM: Final = {
    language: [forms.split("/")[0] for forms in words.split()] for language, words in ALIKE.items()
}
