"""Recalled items: what a search of the memory is given, and what it finds."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from oldfriend.db.database import Database
from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MemoryId, MessageId
from oldfriend.domain.memories import Entity, Evidence, MemoryKind, MemoryState, StoredBelief
from oldfriend.domain.messages import Message
from oldfriend.llm.embedding import Embedder
from oldfriend.llm.reading import Reader, Reading
from oldfriend.memory.index_cache import IndexCache
from oldfriend.search import (
    Reason,
    Score,
    ScoredMessage,
    SearchResult,
)
from oldfriend.search.preference_intent import PreferenceIntent
from oldfriend.search.question_patterns import RequestedAttribute
from oldfriend.search.scorers import Scorer, typed_decay
from oldfriend.search.types import MessageScope


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledMessage:
    """A recalled message with its search hit."""

    message: Message
    hit: ScoredMessage
    reading: Reading | None = None  # how well it answers, if it was read


@dataclass(frozen=True, slots=True, kw_only=True)
class RecalledBelief:
    """A recalled belief with its score and evidence."""

    state: MemoryState
    score: Score  # comparable with that of a message
    evidence: tuple[Evidence, ...]  # oldest first; supports its current wording
    set_by_person_at: Micros | None = None  # when the person set its wording
    outdated_messages: frozenset[MessageId] = frozenset()  # evidence for its earlier wording

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """Return why it was found."""
        return self.score.reasons

    @property
    def is_requested_value(self) -> bool:
        """Tell whether it is a value of the requested attribute."""
        return self.score.has_cause("asked_for")


@dataclass(frozen=True, slots=True, kw_only=True)
class LaterMessage:
    """A message that may have changed what an earlier one says."""

    changed: MessageId
    recalled: RecalledMessage
    logit: float  # that it did
    among: int  # the later messages of which it is one
    shares_matter: bool = True  # a content word of both that the question does not hold


RecalledItem: TypeAlias = RecalledMessage | RecalledBelief


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """What was recalled for one question."""

    messages: tuple[RecalledMessage, ...]  # best first
    answer_probability: float  # probability that any message answers, 0 to 1
    is_answerable: bool
    is_degraded: bool  # searched by words alone, without an embedding
    reader_probability: float | None = None  # that the best answers, by the reader, if it read
    is_gloss_read: bool = False  # the reader read the question word by word in English
    question: str = ""  # what was asked
    sure_message: MessageId | None = None  # the one that is an answer beyond doubt, if any
    beliefs: tuple[RecalledBelief, ...] = ()  # best first
    belief_answer_probability: float = 0.0  # probability that any belief answers
    is_belief_answerable: bool = False  # good enough to answer from a belief
    named_entities: tuple[Entity, ...] = ()  # named in the question
    requested_attribute: RequestedAttribute | None = None  # the requested attribute
    # Its values at other times, if none held at the time asked about.
    values_at_other_times: tuple[RecalledBelief, ...] = ()
    has_unknown_role: bool = False  # it calls somebody by a role that nobody is known to play
    # What those whom the question means must not eat or must take, if it is about food or health.
    safety: tuple[RecalledBelief, ...] = ()
    is_about_past: bool = False  # the question is about the past
    is_about_before_now: bool = False  # about the past, without a named time
    preference_intent: PreferenceIntent | None = None  # it asks for likes or dislikes
    # It asks for the latest of something, or for a current state.
    is_asking_for_latest: bool = False
    later_messages: tuple[LaterMessage, ...] = ()  # than recalled messages and evidence
    # Messages and beliefs, best first; empty: by score.
    merged_ranking: tuple[RecalledItem, ...] = ()
    # The same for each part of a question that asks several things; empty if it asks one.
    part_rankings: tuple[tuple[RecalledItem, ...], ...] = ()

    @property
    def ranking(self) -> tuple[RecalledItem, ...]:
        """Return messages and beliefs, best first."""
        return self.merged_ranking or tuple(
            sorted([*self.beliefs, *self.messages], key=lambda each: -get_score(each))
        )

    @property
    def is_narrow(self) -> bool:
        """Tell whether it is known what is asked for: an attribute, or the latest of something."""
        return self.requested_attribute is not None or self.is_asking_for_latest

    @property
    def is_empty(self) -> bool:
        """Tell whether nothing was recalled."""
        return not (self.messages or self.beliefs)


NO_MESSAGE_HITS = SearchResult(hits=(), answer_probability=0.0)
EMPTY_RECALL = RecallResult(
    messages=(), answer_probability=0.0, is_answerable=False, is_degraded=False
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallQuery:
    """What to recall: a text and when it was said."""

    text: str
    language: str
    at: Micros
    excluded_seqs: Sequence[int] = ()  # messages in view anyway
    answered_seqs: Sequence[int] = ()  # those of them being answered
    kinds: Collection[MemoryKind] = ()  # of beliefs; empty: all
    max_beliefs: int | None = None  # None: as many as messages
    scope: MessageScope | None = None  # its times also hold for beliefs; None: everything
    belief_ids: Collection[MemoryId] | None = None  # the beliefs that may be found; None: all


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownNote:
    """A note with its first evidence."""

    memory: StoredBelief
    evidence: Evidence
    set_by_person_at: Micros | None = None  # when the person set its wording


def find_no_embedder(_model: str) -> Embedder | None:
    """Return None: no embedder but the current one is available."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchDeps:
    """What a search uses: the database, the index cache and the embedders."""

    db: Database
    index_cache: IndexCache
    embedder: Embedder | None
    # By name of a model used earlier.
    find_former_embedder: Callable[[str], Embedder | None] = find_no_embedder
    scorer: Scorer = typed_decay  # weighs the beliefs that answer
    reader: Reader | None = None  # judges which messages answer, in replies without a model


def get_score(item: RecalledItem) -> float:
    """Return how well an item answers, 0 to 1."""
    score = item.score if isinstance(item, RecalledBelief) else item.hit.score
    return score.value


def get_item_id(item: RecalledItem) -> str:
    """Return the id of the message or belief."""
    return item.state.memory.id if isinstance(item, RecalledBelief) else item.message.id
