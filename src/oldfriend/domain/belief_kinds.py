"""Belief kinds: one record per kind of belief, which says all that other modules ask about it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

MemoryKind = Literal[
    "note",
    "event",
    "fact",
    "preference",
    "pattern",
    "commitment",
    "expectation",
    "triple",
    "thought",
    "opinion",
]
Subject = Literal["person", "companion", "shared", "other"]
"""Whom a memory is about; "other" is a person or thing that the person has spoken of."""

KeyForm = Literal["attribute", "category", "relation", "topic"]
"""What a key is: an attribute's name, a Category, a RelationType, or a topic in free words."""
ClaimField = Literal[
    "key",
    "value",
    "pattern",
    "impact",
    "tags",
    "arousal",
    "cues",
    "relational",
    "happened_at",
    "happened_until",
    "holds_from",
    "holds_until",
    "due_at",
]
OwnWordsRule = Literal["promise", "view"]
"""What the companion's own words must be to support a claim about it."""
ResolutionRule = Literal["fact", "preference", "event", "pattern", "due", "topic", "correction"]
"""How a claim is compared with what is known; see ``learning.resolution.claim_resolution``."""
ScoreRule = Literal["constant", "attribute", "event", "pattern", "confidence"]
"""How the weight of a belief is computed; see ``search.belief_weight``."""
ListOrder = Literal["said", "happened", "strength", "due"]
ProfilePart = Literal["facts", "preferences", "promises"]
ALL_SUBJECTS: Final[frozenset[Subject]] = frozenset({"person", "companion", "shared", "other"})
OWN_SUBJECTS: Final = ALL_SUBJECTS - {"other"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractionSpec:
    """How a model yields claims of a kind."""

    list_name: str  # the list of such claims in its answer
    in_first_pass: bool = False  # of two
    fields: tuple[ClaimField, ...]  # beyond those that all claims have
    from_small_talk: bool = False  # also read from talk of which a model reads nothing else
    max_new: int | None = None  # claims of one segment; None: any number


@dataclass(frozen=True, slots=True, kw_only=True)
class TopicSection:
    """A prompt section that shows the beliefs whose topic the message mentions."""

    name: str  # of the section in a receipt
    title: str  # the part of the reply prompt that heads it
    max_tokens: int
    max_beliefs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BeliefKind:
    """A kind of belief."""

    name: MemoryKind
    # What it consists of
    subjects: frozenset[Subject] = ALL_SUBJECTS  # whom it may be about
    key: KeyForm | None = None
    is_verbatim: bool = False  # stays in the person's words, whatever they are
    may_be_quote: bool = False  # its text may be nothing but a quote of its evidence
    is_occurrence: bool = False  # happens at a time, rather than holding for a while
    is_future: bool = False  # is still to come: has a due time, can be kept, put off and fulfilled
    # Extraction and validation
    extraction: ExtractionSpec | None = None  # None: no model yields it
    own_words: OwnWordsRule | None = None  # a claim about the companion rests on such words
    may_be_claimed: bool = True  # False: it comes from elsewhere than from a segment's claims
    may_change: tuple[MemoryKind, ...] = ()  # kinds that a claim may change or contradict
    may_rest_on_others: bool = False  # on what other people say about themselves
    may_be_retold: bool = False  # may report what somebody else has said, if it names them
    needs_condition_met: bool = False  # is not true until the condition that it is said under is
    is_refuted_by_doubt: bool = False
    is_refuted_by_denial: bool = False
    must_be_certain: bool = False  # in languages without rules, a word of doubt refutes it
    is_personal: bool = False  # what is said of somebody else does not hold of the person
    is_lasting: bool = False  # holds whenever it is said, under whichever circumstances
    must_be_usual: bool = False  # a measured amount must be said to be the usual one
    steers_companion: bool = False  # would change how the companion acts
    length: tuple[int, int] = (4, 300)  # characters of the text, at least and at most
    wide_length: tuple[int, int] = (3, 180)  # in scripts whose characters are words
    # Learning
    resolution: ResolutionRule | None = None
    is_ongoing: bool = False  # claims of any later segment may concern it
    known_limit: int = 0  # such beliefs that a segment is read with …
    known_rank: int = 0  # … after those of a lower rank
    confusable_with: tuple[MemoryKind, ...] = ()  # by extractors, for the same words
    is_merged: bool = False  # duplicates are merged, and the least valuable are dropped
    decays: bool = False  # is deprecated if it was seen once, unsurely and long ago
    is_reflected_on: bool = False
    # Recall and display
    score: ScoreRule = "constant"
    is_found_on_request: bool = False  # is an answer only where the caller asks for the kind
    profile: ProfilePart | None = None  # the part of the person's profile that it belongs to
    section: TopicSection | None = None
    list_rank: int  # place of its group in lists; kinds of one rank form a group
    list_order: ListOrder = "said"  # within its group

    @property
    def is_attribute(self) -> bool:
        """Whether it is a value under a key."""
        return self.key in {"attribute", "category"}

    @property
    def is_relation(self) -> bool:
        """Whether it connects two named entities; it is found by them, and never by its words."""
        return self.key == "relation"

    @property
    def is_companions(self) -> bool:
        """Whether it is the companion's own, and can be nobody else's."""
        return self.subjects == {"companion"}


NOTE: Final = BeliefKind(  # what the person asked to remember, in their words
    name="note",
    is_verbatim=True,
    resolution="correction",
    is_ongoing=True,
    known_limit=10,
    known_rank=7,
    list_rank=7,
)
EVENT: Final = BeliefKind(  # what happened once
    name="event",
    may_be_quote=True,
    is_occurrence=True,
    extraction=ExtractionSpec(
        list_name="events",
        fields=(
            "impact",
            "tags",
            "arousal",
            "cues",
            "relational",
            "happened_at",
            "happened_until",
        ),
        max_new=3,
    ),
    may_change=("event",),
    may_rest_on_others=True,
    may_be_retold=True,
    needs_condition_met=True,
    is_refuted_by_doubt=True,
    is_refuted_by_denial=True,
    must_be_certain=True,
    length=(10, 500),
    wide_length=(4, 300),
    resolution="event",
    known_limit=10,
    known_rank=6,
    is_merged=True,
    decays=True,
    score="event",
    list_rank=1,
    list_order="happened",
)
FACT: Final = BeliefKind(  # what is true for a while
    name="fact",
    key="attribute",
    extraction=ExtractionSpec(
        list_name="facts",
        in_first_pass=True,
        fields=("key", "value", "holds_from", "holds_until"),
    ),
    may_change=("fact",),
    may_rest_on_others=True,
    needs_condition_met=True,
    is_refuted_by_doubt=True,
    is_refuted_by_denial=True,
    must_be_certain=True,
    is_personal=True,
    is_lasting=True,
    resolution="fact",
    is_ongoing=True,
    known_limit=40,
    known_rank=1,
    confusable_with=("preference", "pattern"),
    decays=True,
    is_reflected_on=True,
    score="attribute",
    profile="facts",
    list_rank=0,
)
PREFERENCE: Final = BeliefKind(  # what they like, need or dislike; one of twelve categories
    name="preference",
    subjects=OWN_SUBJECTS,
    key="category",
    extraction=ExtractionSpec(
        list_name="preferences",
        in_first_pass=True,
        fields=("key", "value"),
    ),
    may_change=("preference", "pattern"),
    needs_condition_met=True,
    must_be_certain=True,
    is_personal=True,
    must_be_usual=True,
    steers_companion=True,
    resolution="preference",
    is_ongoing=True,
    known_limit=20,
    known_rank=2,
    confusable_with=("fact", "pattern"),
    decays=True,
    is_reflected_on=True,
    score="attribute",
    profile="preferences",
    list_rank=0,
)
PATTERN: Final = BeliefKind(  # what recurs or persists
    name="pattern",
    may_be_quote=True,
    extraction=ExtractionSpec(list_name="patterns", fields=("pattern",), max_new=5),
    may_change=("pattern", "preference"),
    may_rest_on_others=True,
    is_refuted_by_denial=True,
    is_personal=True,
    is_lasting=True,
    must_be_usual=True,
    steers_companion=True,
    length=(10, 200),
    wide_length=(4, 120),
    resolution="pattern",
    is_ongoing=True,
    known_limit=20,
    known_rank=3,
    confusable_with=("fact", "preference"),
    is_merged=True,
    decays=True,
    is_reflected_on=True,
    score="pattern",
    list_rank=2,
    list_order="strength",
)
COMMITMENT: Final = BeliefKind(  # what somebody has promised
    name="commitment",
    is_occurrence=True,
    is_future=True,
    extraction=ExtractionSpec(list_name="commitments", fields=("due_at",)),
    own_words="promise",
    may_change=("commitment", "expectation"),
    may_rest_on_others=True,
    is_refuted_by_denial=True,
    steers_companion=True,
    resolution="due",
    is_ongoing=True,
    known_limit=10,
    known_rank=4,
    confusable_with=("expectation",),
    is_reflected_on=True,
    profile="promises",
    list_rank=3,
    list_order="due",
)
EXPECTATION: Final = BeliefKind(  # what is going to happen
    name="expectation",
    is_occurrence=True,
    is_future=True,
    extraction=ExtractionSpec(list_name="expectations", fields=("due_at",)),
    may_change=("expectation", "commitment"),
    may_rest_on_others=True,
    may_be_retold=True,
    needs_condition_met=True,
    is_refuted_by_denial=True,
    steers_companion=True,
    resolution="due",
    is_ongoing=True,
    known_limit=10,
    known_rank=5,
    confusable_with=("commitment",),
    is_reflected_on=True,
    profile="promises",
    list_rank=3,
    list_order="due",
)
TRIPLE: Final = BeliefKind(  # how two named entities relate
    name="triple",
    key="relation",
    may_be_claimed=False,
    may_rest_on_others=True,
    is_personal=True,
    is_ongoing=True,
    score="confidence",
    list_rank=6,
)
THOUGHT: Final = BeliefKind(  # a conclusion of the companion from other memories
    name="thought",
    may_be_claimed=False,
    score="event",
    list_rank=4,
)
OPINION: Final = BeliefKind(  # what the companion thinks of a topic
    name="opinion",
    subjects=frozenset({"companion"}),
    key="topic",
    extraction=ExtractionSpec(list_name="opinions", fields=("key",), from_small_talk=True),
    own_words="view",
    may_change=("opinion",),
    steers_companion=True,
    resolution="topic",
    is_ongoing=True,
    known_limit=10,
    known_rank=8,
    is_found_on_request=True,
    section=TopicSection(name="opinions", title="opinions", max_tokens=120, max_beliefs=3),
    list_rank=5,
)

BELIEF_KINDS: Final[tuple[BeliefKind, ...]] = (
    NOTE,
    EVENT,
    FACT,
    PREFERENCE,
    PATTERN,
    COMMITMENT,
    EXPECTATION,
    TRIPLE,
    THOUGHT,
    OPINION,
)
"""The registered kinds."""
KINDS_BY_NAME: Final = {kind.name: kind for kind in BELIEF_KINDS}


def list_kinds(is_wanted: Callable[[BeliefKind], object]) -> tuple[MemoryKind, ...]:
    """Return the names of the kinds whose record fulfils a condition, in the order of the table."""
    return tuple(kind.name for kind in BELIEF_KINDS if is_wanted(kind))


ATTRIBUTE_KINDS: Final = frozenset(list_kinds(lambda kind: kind.is_attribute))
KEYED_KINDS: Final = ATTRIBUTE_KINDS.union(list_kinds(lambda kind: kind.is_relation))
OCCURRENCE_KINDS: Final = frozenset(list_kinds(lambda kind: kind.is_occurrence))
FUTURE_KINDS: Final = frozenset(list_kinds(lambda kind: kind.is_future))
