"""Search hits: the messages that answer a query, and why they were found."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from typing_extensions import override

from oldfriend.domain.belief_times import get_told_zone
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import Message
from oldfriend.presenters.base_schema import Schema, describe, format_time
from oldfriend.presenters.belief_schemas import BeliefHit
from oldfriend.presenters.message_schemas import StoredMessage, build_words_fields, evidence_as_json
from oldfriend.search import Reason, ReasonCause
from oldfriend.turn.reason_texts import format_reason, format_reasons
from oldfriend.turn.recalled import RecalledBelief, RecalledMessage, RecallResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ReasonSchema(Schema):
    """A reason why something was recalled."""

    cause: ReasonCause
    words: tuple[str, ...] = field(metadata=describe("The matching words."))
    name: str = field(metadata=describe("The name of the entity it mentions; empty if none."))
    text: str = field(metadata=describe("The reason as a phrase.", examples=["it says “boat”"]))

    @classmethod
    def from_domain(cls, reason: Reason) -> Self:
        """Present a search reason to the API."""
        return cls(
            cause=reason.cause,
            words=reason.words,
            name=reason.name or "",
            text=format_reason(reason),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit(StoredMessage):
    """A message that answers a query; ``score`` ranges from 0 to 1."""

    kind: str = "message"
    score: float
    why: tuple[str, ...]  # in plain words, the strongest reason first
    around: tuple[StoredMessage, ...] = ()  # neighboring messages, if requested
    later: tuple[StoredMessage, ...] = ()  # what probably changed it since, the newest first

    @classmethod
    def from_recalled(
        cls,
        recalled: RecalledMessage,
        around: Sequence[Message] = (),
        later: Sequence[Message] = (),
    ) -> Self:
        """Present a recalled message, with its neighbors and what probably changed it since."""
        hit = cls.from_message(
            recalled.message, recalled.hit.score.value, recalled.hit.reasons, around
        )
        return replace(hit, later=tuple(StoredMessage.from_domain(each) for each in later))

    @classmethod
    def from_message(
        cls,
        message: Message,
        score: float,
        reasons: tuple[Reason, ...],
        around: Sequence[Message] = (),
    ) -> Self:
        """Present a message that was found, with its neighbors."""
        return cls(
            **build_words_fields(message),
            score=score,
            why=tuple(format_reasons(reasons)),
            around=tuple(StoredMessage.from_domain(each) for each in around),
        )

    @override
    def as_json(self) -> dict[str, JsonValue]:
        """Return it as JSON."""
        around: list[JsonValue] = [each.as_json() for each in self.around]
        later: list[JsonValue] = [each.as_json() for each in self.later]
        return {
            "kind": self.kind,
            **StoredMessage.as_json(self),
            "score": round(self.score, 4),
            "why": [*self.why],
            **({"around": around} if around else {}),
            **({"later": later} if later else {}),
        }


class RecalledHits(list[Hit | BeliefHit]):
    """What a query found, best first, and whether any of it is likely to answer.

    A query that nothing fits still finds what is nearest: ``has_answer`` is False then.
    ``answer_probability`` is how likely it seemed that any of the hits answers, from 0 to 1.
    """

    answer_probability: float
    has_answer: bool

    @classmethod
    def from_ranking(cls, recall_result: RecallResult, zone: str) -> Self:
        """Present all that was recalled."""
        hits = [
            BeliefHit.from_recalled(each, zone)
            if isinstance(each, RecalledBelief)
            else Hit.from_recalled(each)
            for each in recall_result.ranking
        ]
        return cls.from_recalled(hits, recall_result)

    @classmethod
    def from_recalled(cls, hits: Iterable[Hit | BeliefHit], recall_result: RecallResult) -> Self:
        """Present the hits that are shown of a recall."""
        shown = cls(hits)
        parts = (
            (Hit, recall_result.answer_probability, recall_result.is_answerable),
            (
                BeliefHit,
                recall_result.belief_answer_probability,
                recall_result.is_belief_answerable,
            ),
        )
        judged = [
            (probability, is_answerable)
            for shape, probability, is_answerable in parts
            if any(isinstance(each, shape) for each in shown)
        ]
        shown.answer_probability = max((probability for probability, _ in judged), default=0.0)
        shown.has_answer = any(is_answerable for _, is_answerable in judged)
        return shown


def belief_hit_as_json(
    recalled_belief: RecalledBelief, zone: str, later: Sequence[Message] = ()
) -> dict[str, JsonValue]:
    """Return a found belief as JSON, with its evidence and what probably changed it since."""
    since: list[JsonValue] = [StoredMessage.from_domain(each).as_json() for each in later]
    memory, stats = recalled_belief.state.memory, recalled_belief.state.stats
    told_zone = get_told_zone(memory, zone)
    return {
        "kind": memory.kind,
        "memory": memory.id,
        "text": memory.text,
        "key": memory.key,
        "value": memory.value,
        "status": memory.status,
        "trust": memory.trust,
        "confidence": stats.confidence,
        "times_seen": stats.times_seen,
        "at": format_time(stats.last_seen, zone),
        "happened_at": format_time(memory.happened_at, told_zone),
        "due_at": format_time(memory.due_at, told_zone),
        "until": format_time(memory.holds_until, told_zone) or format_time(memory.ended_at, zone),
        "score": round(recalled_belief.score.value, 4),
        "why": [*format_reasons(recalled_belief.reasons)],
        "evidence": [evidence_as_json(each) for each in recalled_belief.evidence],
        **({"later": since} if since else {}),
    }
