"""Similarity: decides whether two sentences say the same, by hash, vectors and critical tokens.

Pure: the vectors are arguments and nothing is called. Undecided pairs are left to
``llm_dedup_judge``.
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

from oldfriend.domain.belief_kinds import BELIEF_KINDS
from oldfriend.domain.clock import DAY, Micros
from oldfriend.domain.memories import StoredBelief
from oldfriend.domain.text_cache import text_lru_cache
from oldfriend.learning.critical_tokens import (
    LIKING,
    CriticalTokens,
    convert_han_numbers,
    extract_critical_tokens,
    fold_case,
    load_critical_token_words,
    parse_number_word,
)
from oldfriend.learning.extraction import Claim
from oldfriend.search.tokenizer import is_stop_word, is_unspaced, stem_word, tokenize
from oldfriend.search.types import multiply

Vector: TypeAlias = NDArray[np.float32]
ClaimOrMemory: TypeAlias = Claim | StoredBelief
"""A statement: a claim about to be believed, or a belief."""
MatchVerdict = Literal["same", "unclear", "different"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedTexts:
    """Embedded texts: one embedder's unit vectors, by text."""

    model: str
    by_text: Mapping[str, Vector]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Similarity thresholds of one metric, for sentences without differences."""

    same: float
    unclear: float  # from here on a judge should look
    merge: float  # from here on, if both are believed already


MINILM: Final = "all-MiniLM-L6-v2"
LETTER_NGRAMS: Final = "runs of letters"
CHARACTER_NGRAMS: Final = "runs of characters"  # for scripts without spaces
THRESHOLDS: Final[Mapping[str, Thresholds]] = {
    # Measured on tests/learning/alike/pairs.tsv: no pair about different subjects lies above
    # "same"; traps (another number, name, negation) do, but their words give them away.
    MINILM: Thresholds(same=0.86, unclear=0.76, merge=0.82),
    LETTER_NGRAMS: Thresholds(same=0.92, unclear=0.86, merge=0.90),
    CHARACTER_NGRAMS: Thresholds(same=0.70, unclear=0.52, merge=0.64),
}
DEFAULT_THRESHOLDS: Final = Thresholds(same=0.90, unclear=0.82, merge=0.88)
"""Thresholds of embedders that were not measured."""
SPACED_SCRIPTS_ONLY: Final = frozenset({MINILM})
"""Embedders to which most words of scripts without spaces look the same."""

CACHE_SIZE: Final = 8192
"""Number of texts whose stems are cached, because each is compared again and again."""

SAME_EVENT_WINDOW: Final = 30 * DAY
"""Events further apart are two events."""
SAME_DUE_WINDOW: Final = DAY
PEAK_IMPACT_GAP: Final = 5
"""Applying for a job and getting it read nearly the same, but only one of them is a peak."""
COMPATIBLE_KINDS: Final = frozenset(
    frozenset({kind.name, other}) for kind in BELIEF_KINDS for other in kind.confusable_with
)
"""Pairs of kinds that two extractors may choose for the same words."""


def classify_pair(
    one: ClaimOrMemory,
    other: ClaimOrMemory,
    vectors: EmbeddedTexts | None,
    *,
    language: str,
    names: Collection[str] = (),
) -> MatchVerdict:
    """Classify a pair as "same", "different", or "unclear" if similar but different in details.

    Without a judge, "unclear" means different. ``names`` are known names that may occur.
    """
    if not can_match(one, other):
        return "different"
    similarity = compute_similarity(one.text, other.text, vectors)
    thresholds = get_thresholds(one.text, other.text, vectors)
    stems = get_canonical_stems(one.text, language)
    has_same_stems = bool(stems) and stems == get_canonical_stems(other.text, language)
    if similarity < thresholds.unclear and not has_same_stems:
        return "different"
    if not has_same_stems and has_impact_gap(one, other):
        return "different"
    is_compatible = has_compatible_due_time(one, other) and has_compatible_impact(one, other)
    if is_compatible and (similarity >= thresholds.same or has_same_stems):
        differences = list_differences(one.text, other.text, language=language, names=names)
        return "unclear" if differences else "same"
    return "unclear"


def compute_canonical_hash(text: str, language: str) -> str:
    """Return the SHA-256 of a text's words, without punctuation, number words as digits."""
    words = [parse_number_word(word, language) or word for word in _WORD.findall(fold_case(text))]
    return sha256(" ".join(words).encode("utf-8", "surrogatepass")).hexdigest()


def compute_similarity(one: str, other: str, vectors: EmbeddedTexts | None) -> float:
    """Return the similarity from −1 to 1: the cosine of vectors, or of letter n-grams."""
    if vectors is not None and get_pair_metric(one, other, vectors) == get_model_family(
        vectors.model
    ):
        return float(multiply(vectors.by_text[one], vectors.by_text[other]))
    return float(multiply(build_ngram_vector(one), build_ngram_vector(other)))


def get_thresholds(one: str, other: str, vectors: EmbeddedTexts | None) -> Thresholds:
    """Return the thresholds that apply to two texts."""
    return THRESHOLDS.get(get_pair_metric(one, other, vectors), DEFAULT_THRESHOLDS)


def get_pair_metric(one: str, other: str, vectors: EmbeddedTexts | None) -> str:
    """Return the metric of a pair: an embedder's vectors, or n-grams by script."""
    measures = {get_metric(one, vectors), get_metric(other, vectors)}
    if len(measures) == 1:
        return measures.pop()
    return CHARACTER_NGRAMS if CHARACTER_NGRAMS in measures else LETTER_NGRAMS


def get_metric(text: str, vectors: EmbeddedTexts | None) -> str:
    """Return the metric by which a text can be compared."""
    if vectors is not None and find_vector(text, vectors) is not None:
        return get_model_family(vectors.model)
    return get_ngram_metric(text)


def get_ngram_metric(text: str) -> str:
    """Return the n-gram metric for a text without a usable vector."""
    return CHARACTER_NGRAMS if is_mostly_unspaced(text) else LETTER_NGRAMS


def find_vector(text: str, vectors: EmbeddedTexts) -> Vector | None:
    """Return a text's vector; None if there is none, or the embedder cannot read the script."""
    if is_mostly_unspaced(text) and get_model_family(vectors.model) in SPACED_SCRIPTS_ONLY:
        return None
    return vectors.by_text.get(text)


def get_model_family(model: str) -> str:
    """Return an embedding model's name without its revision."""
    return model.split("/", 1)[0] if model.startswith(MINILM) else model


def build_ngram_vector(text: str) -> Vector:
    """Build the unit vector of a text's single characters and character pairs."""
    plain = "".join(_WORD.findall(fold_case(text)))
    ngrams = (plain[at : at + size] for size in (1, 2) for at in range(len(plain) - size + 1))
    buckets = [
        crc32(run.encode("utf-8", "surrogatepass")) % NGRAM_DIMENSIONS
        for run in ngrams
        if run not in _PARTICLES
    ]
    counts = np.bincount(buckets, minlength=NGRAM_DIMENSIONS).astype(np.float32)
    length = float(np.linalg.norm(counts))
    vector: Vector = counts / length if length else counts
    return vector


def list_differences(
    one: str, other: str, *, language: str, names: Collection[str] = ()
) -> tuple[str, ...]:
    """List what differs: numbers, times, names, negation, or replaced words."""
    ours, theirs = (
        extract_critical_tokens(one, language, names),
        extract_critical_tokens(other, language, names),
    )
    return (
        *iter_number_differences(ours, theirs),
        *iter_name_differences(ours, theirs, one, other),
        *iter_polarity_differences(ours, theirs),
        *iter_word_differences(one, other, language),
    )


def iter_number_differences(ours: CriticalTokens, theirs: CriticalTokens) -> Iterator[str]:
    """Yield the numbers and times that only one of them has."""
    if ours.numbers != theirs.numbers:
        yield format_difference(
            "number", ours.numbers - theirs.numbers, theirs.numbers - ours.numbers
        )
    if ours.times != theirs.times:
        yield format_difference("time", ours.times - theirs.times, theirs.times - ours.times)


def iter_name_differences(
    ours: CriticalTokens, theirs: CriticalTokens, one: str, other: str
) -> Iterator[str]:
    """Yield the names that only one of them has, or a different first name: that one acts."""
    only_ours = {name for name in ours.names if name not in fold_case(other)}
    only_theirs = {name for name in theirs.names if name not in fold_case(one)}
    if only_ours or only_theirs:
        yield format_difference("name", only_ours, only_theirs)
    elif ours.names[:1] != theirs.names[:1] and len(set(ours.names + theirs.names)) > 1:
        yield format_difference("first name", ours.names[:1], theirs.names[:1])


def iter_polarity_differences(ours: CriticalTokens, theirs: CriticalTokens) -> Iterator[str]:
    """Yield a difference in negation, or in the side of a shared axis."""
    if ours.is_negated != theirs.is_negated:
        yield "negation"
    for axis in sorted((ours.polarities.keys() & theirs.polarities.keys()) - {LIKING}):
        if ours.polarities[axis] != theirs.polarities[axis]:
            yield f"side: {axis}"


def iter_word_differences(one: str, other: str, language: str) -> Iterator[str]:
    """Yield replaced words: words that only one has, while the other has some of its own."""
    if is_mostly_unspaced(one) and is_mostly_unspaced(other):
        yield from iter_replaced_characters(one, other, language)
        return
    ours, theirs = get_canonical_stems(one, language), get_canonical_stems(other, language)
    only_ours, only_theirs = drop_matching_stems(ours, theirs), drop_matching_stems(theirs, ours)
    if only_ours and only_theirs:
        yield format_difference("word", only_ours, only_theirs)
    if has_swapped_first_words(one, other):
        yield "order"
    if extract_symbols(one) != extract_symbols(other):
        yield format_difference("sign", extract_symbols(one), extract_symbols(other))


def drop_matching_stems(ours: Collection[str], theirs: Collection[str]) -> list[str]:
    """Return the stems with no related form among the others ("allergic" is one of "allergy")."""
    beginnings = {each[:STEM_PREFIX_LENGTH] for each in theirs}
    return [our for our in ours if our[:STEM_PREFIX_LENGTH] not in beginnings]


def extract_symbols(text: str) -> frozenset[str]:
    """Return the emoji and symbols in a text."""
    if text.isascii():
        return frozenset()
    return frozenset(each for each in text if unicodedata.category(each) == "So")


def has_swapped_first_words(one: str, other: str) -> bool:
    """Return whether each begins with a word that occurs later in the other."""
    (our, *ours), (their, *theirs) = (_WORD.findall(text) or [""] for text in (one, other))
    return our != their and our in theirs and their in ours


def iter_replaced_characters(one: str, other: str, language: str) -> Iterator[str]:
    """Yield the replaced runs of characters."""
    ours, theirs = strip_particles(one, language), strip_particles(other, language)
    matcher = SequenceMatcher(None, ours, theirs, autojunk=False)
    for change, *(from_, to, from_other, to_other) in matcher.get_opcodes():
        if change == "replace":
            yield format_difference("word", [ours[from_:to]], [theirs[from_other:to_other]])


def strip_particles(text: str, language: str) -> str:
    """Return a text without particles, with synonyms unified."""
    plain = "".join(_WORD.findall(convert_han_numbers(fold_case(text))))
    tables = load_critical_token_words(language)
    for form, position in tables.synonym_index.items():
        plain = plain.replace(form, tables.synonyms[position][0])
    return "".join(each for each in plain if each not in _PARTICLES)


@text_lru_cache(CACHE_SIZE)
def get_canonical_stems(text: str, language: str) -> frozenset[str]:
    """Return the stems of a text's content words, without numbers.

    Synonyms have one stem.
    """
    words = tokenize(text)
    content_words = [word for word in words if not is_stop_word(word, language)] or words
    tables = load_critical_token_words(language)
    synonyms = tables.synonym_index
    stems = (
        stem_word(word, language)
        for word in content_words
        if not word.isdecimal() and not parse_number_word(word, language)
    )
    return frozenset(
        tables.synonyms[synonyms[stem]][0] if stem in synonyms else stem for stem in stems
    )


def format_difference(what: str, ours: Collection[str], theirs: Collection[str]) -> str:
    """Format what differs, and how on each side."""
    return f"{what}: {', '.join(sorted(ours)) or '–'} / {', '.join(sorted(theirs)) or '–'}"


def can_match(one: ClaimOrMemory, other: ClaimOrMemory) -> bool:
    """Return whether two can be the same at all, by kind, subject and time."""
    return (
        (one.kind == other.kind or frozenset({one.kind, other.kind}) in COMPATIBLE_KINDS)
        and (one.subject == other.subject or "shared" in {one.subject, other.subject})
        and (one.pattern == "goal") == (other.pattern == "goal")
        and is_within_window(one.happened_at, other.happened_at, SAME_EVENT_WINDOW)
    )


def has_compatible_due_time(one: ClaimOrMemory, other: ClaimOrMemory) -> bool:
    """Return whether two may be due at the same time."""
    return is_within_window(one.due_at, other.due_at, SAME_DUE_WINDOW)


def has_compatible_impact(one: ClaimOrMemory, other: ClaimOrMemory) -> bool:
    """Return whether not one of two events is good and the other bad."""
    return one.impact * other.impact >= 0


def has_impact_gap(one: ClaimOrMemory, other: ClaimOrMemory) -> bool:
    """Return whether two differ so much in impact that merging them would lose a peak."""
    return abs(one.impact - other.impact) >= PEAK_IMPACT_GAP


def is_within_window(one: Micros | None, other: Micros | None, within: Micros) -> bool:
    """Return whether two times are close enough, or one is unknown."""
    return one is None or other is None or abs(one - other) <= within


def is_mostly_unspaced(text: str) -> bool:
    """Return whether a text is mostly in a script without spaces."""
    if text.isascii():
        return False
    return 2 * sum(map(is_unspaced, text)) > sum(map(str.isalnum, text))


NGRAM_DIMENSIONS: Final = 2048
STEM_PREFIX_LENGTH: Final = 5
"""Letters that forms of one word have in common."""
_WORD = re.compile(r"[^\W_]+")
_PARTICLES: Final = frozenset("的了着过很非常都去在会总是得地也就和与跟之里们")
