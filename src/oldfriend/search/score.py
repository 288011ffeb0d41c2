"""Score: how well a hit answers, as the result of its terms, which also say why it was found.

Nothing else sets a score: whatever raises, lowers or overrides one appends a term. What the ranking
saw in a message are parts of its rank, and are not multiplied again. How much each part gave is
measured by `oldfriend_evals.reason_gains`, by ranking without it; a search would take half as long
again to do that for its hits.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

ReasonCause = Literal[
    "words",  # the message contains these words of the question
    "words_near",  # … the message just before or after does
    "words_like",  # the message contains words that share most parts with these
    "meaning",  # the vectors are close
    "said_by",  # said by the speaker who is asked about
    "own_words",  # the question says "I", and the person said it
    "mentions",  # mentions the speaker or entity that is asked about
    "date",  # said at the time that is asked about
    "session",  # its session matches as a whole
    "answers",  # follows a message that asks the same question
    "asked_for",  # belief only: a value of the attribute that is asked for
    "reached",  # relation only: of a named entity or one of its neighbors
]
TermCause: TypeAlias = (
    ReasonCause
    | Literal[
        "answer_probability",  # the probability that any of the hits answers
        "rank",  # how close the learned ranking puts it to the best hit
        "newest_first",  # it takes the place of another, because the newest come first
        "belief_weight",  # kind, status, age and confidence of the belief
        "belief_time",  # it happened or held at the time that is asked about
        "emotion",  # its emotional weight
        "unasked_value",  # a value of now where that of before is asked for, or the reverse
        "given",  # not searched for
    ]
)
Operation = Literal["set", "multiply", "add", "at_least", "at_most", "part"]
"""What a term does to the score so far; a part does nothing, as the rank counts it already."""
_REASON_CAUSES: Final[Mapping[str, ReasonCause]] = {each: each for each in get_args(ReasonCause)}
MAX_SCORE: Final = 1.0

DATED_PROBABILITY: Final = 0.7
"""Probability that a message of the named time answers a question for that time alone."""
VALUE_CONFIDENCE: Final = 0.95
"""Probability that a value of the requested attribute answers."""
_NAMED_BONUS: Final = 0.2
_UNASKED_VALUE_FACTOR: Final = 0.5
_DATED_SPREAD: Final = 0.1
_UNDATED_PENALTY: Final = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One reason why a result was found."""

    cause: ReasonCause
    words: tuple[str, ...] = ()  # as in the question, with corrected spelling
    name: str | None = None  # of a speaker or entity: said_by, own_words, mentions, reached
    strength: float = 0.0  # 0…1


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreTerm:
    """One step towards a score, and what a person can check about it."""

    cause: TermCause
    operation: Operation = "part"
    gain: float = 1.0  # operand of the operation
    match: float = 0.0  # 0…1: how far the cause applies
    words: tuple[str, ...] = ()  # as in the question, with corrected spelling
    name: str | None = None  # of a speaker or entity

    def apply(self, value: float) -> float:
        """Return the score after this term."""
        match self.operation:
            case "part":
                return value
            case "set":
                value = self.gain
            case "multiply":
                value *= self.gain
            case "add":
                value += self.gain
            case "at_least":
                value = max(value, self.gain)
            case "at_most":
                value = min(value, self.gain)
        return min(value, MAX_SCORE)


@dataclass(frozen=True, slots=True)
class Score:
    """How well a hit answers, 0 to 1, by its terms in order."""

    terms: tuple[ScoreTerm, ...] = ()
    value: float = field(init=False)

    def __post_init__(self) -> None:
        """Compute the value."""
        value = 0.0
        for term in self.terms:
            value = term.apply(value)
        object.__setattr__(self, "value", value)

    def then(self, *terms: ScoreTerm) -> "Score":
        """Return the score after more terms."""
        return Score((*self.terms, *terms)) if terms else self

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Why it was found: the terms that a person can check, in order."""
        return tuple(
            Reason(cause=cause, words=term.words, name=term.name, strength=term.match)
            for term in self.terms
            if (cause := _REASON_CAUSES.get(term.cause)) is not None
        )

    def has_cause(self, cause: ReasonCause) -> bool:
        """Tell whether a term has this cause."""
        return any(term.cause == cause for term in self.terms)


NAME_MENTION: Final = Reason(cause="mentions", strength=0.3)
NAMED: Final = ScoreTerm(
    cause=NAME_MENTION.cause, operation="add", gain=_NAMED_BONUS, match=NAME_MENTION.strength
)
"""A belief is about an entity that the question names."""
REQUESTED_VALUE: Final = ScoreTerm(
    cause="asked_for", operation="set", gain=VALUE_CONFIDENCE, match=1.0
)
"""A belief is a value of the requested attribute."""
CURRENT_WHERE_FORMER_ASKED: Final = ScoreTerm(
    cause="unasked_value", operation="multiply", gain=_UNASKED_VALUE_FACTOR
)
LISTED: Final = Score((ScoreTerm(cause="given", operation="set", gain=MAX_SCORE),))
"""The score of what was listed, not searched for."""


def give_score(value: float, *reasons: Reason) -> Score:
    """Return a score that does not come from a search, for given reasons."""
    return Score((ScoreTerm(cause="given", operation="set", gain=value),)).then(
        *(
            ScoreTerm(cause=each.cause, words=each.words, name=each.name, match=each.strength)
            for each in reasons
        )
    )


def score_message(
    answer_probability: float, share: float, evidence: Sequence[ScoreTerm], *, by_date: bool = False
) -> Score:
    """Return the score of a ranked message; `by_date`: the share is that of its place."""
    return Score(
        (
            ScoreTerm(cause="answer_probability", operation="set", gain=answer_probability),
            ScoreTerm(
                cause="newest_first" if by_date else "rank", operation="multiply", gain=share
            ),
            *evidence,
        )
    )


def score_reached(similarity: float, name: str | None) -> Score:
    """Return the score of a relation before it is weighed; `name`: where it was reached."""
    return Score(
        (ScoreTerm(cause="reached", operation="set", gain=similarity, match=similarity, name=name),)
    )


def weigh_score(score: Score, *, weight: float, time_boost: float, emotion_boost: float) -> Score:
    """Return the score of a belief by its weight; a boost of 1 changes nothing."""
    terms = [ScoreTerm(cause="belief_weight", operation="multiply", gain=weight)]
    if time_boost != 1:
        terms.append(ScoreTerm(cause="belief_time", operation="multiply", gain=time_boost))
    if emotion_boost != 1:
        terms.append(ScoreTerm(cause="emotion", operation="multiply", gain=emotion_boost))
    return score.then(*terms)


def move_to_place(score: Score, other: Score) -> Score:
    """Return a score with the value of the hit whose place this one takes in an order by date."""
    return score.then(ScoreTerm(cause="newest_first", operation="set", gain=other.value))


def raise_to_value(score: Score, value: float) -> Score:
    """Return the score of evidence for a requested value, at least that of the value."""
    return score.then(ScoreTerm(cause="asked_for", operation="at_least", gain=value, match=1.0))


def lower_below_values(score: Score, values: Iterable[float]) -> Score:
    """Return the score of evidence for a former value, well below those of current ones."""
    limit = _UNASKED_VALUE_FACTOR * min(values)
    return score.then(ScoreTerm(cause="unasked_value", operation="at_most", gain=limit))


def find_match(terms: Iterable[ScoreTerm], cause: ReasonCause) -> float:
    """Return how far a cause applies, 0 if it does not."""
    return max((term.match for term in terms if term.cause == cause), default=0.0)


def compute_shares(ranked: NDArray[np.float32], decay: float) -> list[float]:
    """Return each hit's share of the score of the best, which is the first of those ranked."""
    shares: list[float] = np.exp(decay * (ranked - ranked[0])).tolist()
    return shares


def boost_dated(ranked: NDArray[np.float32], date_mask: NDArray[np.bool_]) -> NDArray[np.float32]:
    """Lift the rank of messages of the named time to nearly the best, and sink all others."""
    best = float(ranked[date_mask].max())
    compressed = best + _DATED_SPREAD * (ranked - best)
    return np.where(date_mask, compressed, best - _UNDATED_PENALTY).astype(np.float32)
