"""How does every message of a person stand to a question, at the price of a glance?

One pass over postings and vectors gives each message a lexical and a vector score; what the
best of them are worth is weighed elsewhere.
"""

from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from oldfriend.domain.language import CJK_LANGUAGES
from oldfriend.memory.search.asking import Asked
from oldfriend.memory.search.index import SATURATION, PersonIndex
from oldfriend.memory.search.postings import Held
from oldfriend.memory.search.values import LEARNED, Floats, Ints, Question, Usual

Bools: TypeAlias = NDArray[np.bool_]

# The first weighing only has to bring the right messages among some hundred.
_WORDS_WEIGHT: Final = 3.0
_BEFORE_WEIGHT: Final = 0.3
_AFTER_WEIGHT: Final = 0.15
_TINY: Final = 1e-6
# What cosines of a question with messages are usually like. As long as there are few messages,
# theirs say little about what is close: one message alone is its own mean.
_USUAL_COSINE: Final = 0.2
_USUAL_DEVIATION: Final = 0.1
_WORTH_OF_USUAL: Final = 10  # messages
# In a history of one message every word would be common: as many others are imagined.
_IMAGINED_MESSAGES: Final = 20
_CELLS_AT_ONCE: Final = 1 << 18  # words × messages: so many stay in the processor's cache


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scan:
    """Scores of all messages. Each array has one place more, a zero, for "no neighbour"."""

    heard: Bools  # what may be found: not in view anyway; no place more than there are messages
    lexical: Floats  # BM25
    lexical_around: Floats  # BM25 of a message with its neighbours
    most_lexical: float
    most_around: float
    meaning: Floats  # cosine, as standard deviations above the person's mean
    cosine: Floats
    matching: Floats  # the first weighing of them all
    idf: Floats  # of each query word
    idf_sum: float
    word_is_known: tuple[bool, ...]  # does it stand anywhere?
    possible: float  # BM25 of a short message that holds every word
    meaning_weight: float  # 1 when vectors can say something, else 0
    mean_cosine: float


def scan(index: PersonIndex, question: Question, asked: Asked, heard: Bools) -> Scan:
    """Score every message; `heard` are those that may be found."""
    lexical, around, idf, known = _lexical(index, asked, heard)
    cosine, meaning, mean_cosine = _meaning(index, question, heard)
    has_meaning = bool(meaning.any())
    most_lexical, most_around, idf_sum = map(float, (lexical.max(), around.max(), idf.sum()))
    matching = lexical * np.float32(_WORDS_WEIGHT / max(most_lexical, _TINY))
    matching += around * np.float32(_WORDS_WEIGHT / max(most_around, _TINY))
    if has_meaning:
        matching += meaning
        matching[:-1] += np.float32(_BEFORE_WEIGHT) * meaning[index.previous]
        matching[:-1] += np.float32(_AFTER_WEIGHT) * meaning[index.following]
    return Scan(
        heard=heard,
        lexical=lexical,
        lexical_around=around,
        most_lexical=most_lexical,
        most_around=most_around,
        meaning=meaning,
        cosine=cosine,
        matching=matching,
        idf=idf,
        idf_sum=idf_sum,
        word_is_known=known,
        possible=idf_sum * (SATURATION + 1) + _TINY,
        meaning_weight=float(has_meaning),
        mean_cosine=mean_cosine,
    )


def _lexical(
    index: PersonIndex, asked: Asked, heard: Bools
) -> tuple[Floats, Floats, Floats, tuple[bool, ...]]:
    count = len(index)
    own = np.zeros(count + 1, np.float32)
    around = np.zeros(count + 1, np.float32)
    held = index.holding([word.terms for word in asked.words])
    holds = np.bincount(held.words, minlength=len(asked.words))
    weights = np.log1p((count + _IMAGINED_MESSAGES - holds + 0.5) / (holds + 0.5))
    factors = (weights * (SATURATION + 1)).astype(np.float32)
    messages, counts = held.messages, held.counts
    counts *= heard[messages]  # what is in view lends its neighbours nothing
    damping = index.damping[messages]
    np.add.at(own, messages, factors[held.words] * counts / (counts + damping))
    at_once = max(_CELLS_AT_ONCE // (count + 1), 1)
    for first in range(0, len(factors), at_once):
        _add_around(around, index, held.between(first, first + at_once), factors[first:])
    return own, around, weights.astype(np.float32), tuple((holds > 0).tolist())


def _add_around(around: Floats, index: PersonIndex, held: Held, factors: Floats) -> None:
    """Add what some words say for messages because they stand in them or in their neighbours."""
    width = len(around)
    table = np.zeros(width * (1 + int(held.words.max(initial=-1))), np.float32)
    row = held.words * width
    # "Nobody" is the last place of the row before.
    for messages in (held.messages, index.previous[held.messages], index.following[held.messages]):
        table[row + messages] += held.counts
    table[width - 1 :: width] = 0
    cells = np.flatnonzero(table > 0)
    word, message = np.divmod(cells, width)
    near = table[cells]
    damping = index.damping_around
    np.add.at(around, message, factors[word] * near / (near + damping[message]))


def _meaning(index: PersonIndex, question: Question, heard: Bools) -> tuple[Floats, Floats, float]:
    count = len(index)
    cosine = np.zeros(count + 1, np.float32)
    meaning = np.zeros(count + 1, np.float32)
    if question.language in CJK_LANGUAGES:
        return cosine, meaning, 0.0
    means: list[tuple[float, float]] = []
    known = index.understood * heard
    sense = question.sense
    exact = _exact_places(index, question)
    if sense is not None and index.vectors.dimension == len(sense.vector) and known.any():
        cosine[:-1] = index.vectors.cosines(sense.vector)
        cosine[exact[0]] = exact[1]
        means.append(_standardise(cosine[:-1], meaning[:-1], known, sense.usual))
    for model, former in index.former.items():
        sense, at = question.former.get(model), former.positions
        known = former.counting * heard[at]
        if sense is not None and former.vectors.dimension == len(sense.vector) and known.any():
            close, above = former.vectors.cosines(sense.vector), np.empty(len(at), np.float32)
            _, here, there = np.intersect1d(at, exact[0], return_indices=True)
            close[here] = exact[1][there]
            means.append(_standardise(close, above, known, sense.usual))
            cosine[at] += close
            meaning[at] += above
    weight = sum(count for count, _ in means)
    return cosine, meaning, sum(count * mean for count, mean in means) / max(weight, 1)


def _exact_places(index: PersonIndex, question: Question) -> tuple[Ints, Floats]:
    """Where cosines are known from whole vectors, and what they are."""
    known = question.exact
    places = np.flatnonzero(index.positions_mask(known)).astype(np.int32)
    seqs = index.columns.seq[places].tolist()
    return places, np.fromiter(map(known.__getitem__, seqs), np.float32, len(seqs))


def _standardise(
    cosine: Floats, meaning: Floats, known: Floats, usual: Usual
) -> tuple[float, float]:
    """Bring cosines to what the weights know; how many there are, and their mean."""
    if usual is not LEARNED:
        cosine -= np.float32(usual.mean)
        cosine *= np.float32(LEARNED.deviation / usual.deviation)
        cosine += np.float32(LEARNED.mean)
    cosine *= known
    count = float(known.sum()) + _WORTH_OF_USUAL
    mean = (float(cosine.sum()) + _WORTH_OF_USUAL * _USUAL_COSINE) / count
    spread = _WORTH_OF_USUAL * (_USUAL_COSINE**2 + _USUAL_DEVIATION**2)
    deviation = float(np.sqrt(max((float(cosine @ cosine) + spread) / count - mean * mean, _TINY)))
    np.multiply(cosine - np.float32(mean), known / np.float32(deviation), out=meaning)
    return count, mean
