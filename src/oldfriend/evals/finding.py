"""Does it find the right messages? Conversations are left out of the learning they are asked on.

Knows no model: whoever measures hands in how texts become vectors.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from oldfriend.evals.learning import Doubles, Lesson, learn_fusion, learn_probability
from oldfriend.evals.material import LOCOMO, Conversation, Query
from oldfriend.memory.search import IndexRow, PersonIndex, Question, imprint_of, text_to_embed
from oldfriend.memory.search.features import Evidence, features_of
from oldfriend.memory.search.finding import gather
from oldfriend.memory.search.judgement import judged_by
from oldfriend.memory.search.values import Floats, Ints

Embed: TypeAlias = Callable[[Sequence[str]], Floats]

# Questions of LoCoMo are many and much alike; ours are few and of many kinds.
OWN_WEIGHT: Final = 2.0
_UNASKED: Final = "adversarial"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """How well messages were found, in percent of the evidence or of the questions."""

    at_1: float
    at_5: float
    at_10: float
    at_20: float
    session_at_1: float
    questions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A kind of conversation, found with what was learned from the others."""

    kind: str
    ours: Recall
    standardised_sum: Recall


@dataclass(frozen=True, slots=True, kw_only=True)
class Abstention:
    """Area under the curve: are questions with an answer told from those without?"""

    wrong_conversation: float
    no_answer_in_own: float
    answered: float  # share of answerable questions that are answered at the default threshold
    refused: float  # share of questions asked of the wrong conversation that are refused


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """One question asked of one conversation, with all that is known of the candidates."""

    conversation: str  # where it is asked
    home: str  # where it comes from
    kind: str
    query: Query
    answers: Doubles  # 1 for each candidate that answers
    sessions: Ints
    evidence_count: int
    evidence_sessions: frozenset[int]
    features: Floats
    names: tuple[str, ...]
    evidence: Evidence

    @property
    def lesson(self) -> Lesson:
        """What can be learned from it."""
        weight = 1.0 if self.kind == LOCOMO else OWN_WEIGHT
        return Lesson(features=self.features, answers=self.answers, weight=weight)


def index_of(conversation: Conversation, embed: Embed) -> PersonIndex:
    """A test conversation as one person's history; `seq` is the line's number."""
    rows = [
        IndexRow(
            seq=number,
            chat=conversation.name,
            session=line.session,
            said_at=line.said_at,
            speaker=line.speaker,
            role=line.role,
            language=line.language,
            imprint=imprint_of(line.text, language=line.language),
        )
        for number, line in enumerate(conversation.lines)
    ]
    texts = [text_to_embed(line.speaker, line.text) for line in conversation.lines]
    return PersonIndex.build(rows, embed(texts))


def answerable_cases(conversations: Sequence[Conversation], embed: Embed) -> list[Case]:
    """Every question that has an answer, asked of its own conversation."""
    cases: list[Case] = []
    for conversation in conversations:
        index = index_of(conversation, embed)
        for query in conversation.queries:
            if query.evidence and query.kind != _UNASKED:
                cases += _case(conversation, conversation, index, query, embed)
    return cases


def unanswerable_cases(conversations: Sequence[Conversation], embed: Embed) -> list[Case]:
    """Questions without an answer: our own ones, and each asked of one wrong conversation."""
    indexes = {given.name: index_of(given, embed) for given in conversations}
    cases: list[Case] = []
    for home in conversations:
        others = [
            other
            for other in conversations
            if other is not home
            and (other.kind == LOCOMO) == (home.kind == LOCOMO)
            and other.language == home.language
        ]
        for number, query in enumerate(home.queries):
            if query.kind == _UNASKED:
                continue
            if not query.evidence:
                cases += _case(home, home, indexes[home.name], query, embed)
            elif others:
                host = others[number % len(others)]
                asked = replace(query, text=_renamed(query.text, home, host), evidence=frozenset())
                cases += _case(host, home, indexes[host.name], asked, embed)
    return cases


def locomo_left_out(cases: Sequence[Case]) -> Recall:
    """LoCoMo, each conversation found with what was learned from all the others."""
    locomo = [case for case in cases if case.kind == LOCOMO]
    scores: dict[int, Floats] = {}
    for name in dict.fromkeys(case.conversation for case in locomo):
        fusion = learn_fusion([case.lesson for case in locomo if case.conversation != name])
        scores |= {id(case): case.features @ fusion for case in locomo if case.conversation == name}
    return recall_of(locomo, [scores[id(case)] for case in locomo])


def kinds_left_out(cases: Sequence[Case]) -> list[LeftOut]:
    """Our own conversations, each kind found with what was learned without it."""
    results: list[LeftOut] = []
    for kind in dict.fromkeys(case.kind for case in cases if case.kind != LOCOMO):
        fusion = learn_fusion([case.lesson for case in cases if case.kind != kind])
        left_out = [case for case in cases if case.kind == kind]
        results.append(
            LeftOut(
                kind=kind,
                ours=recall_of(left_out, [case.features @ fusion for case in left_out]),
                standardised_sum=recall_of(left_out, [_plain_sum(case) for case in left_out]),
            )
        )
    return results


def abstention(
    cases: Sequence[Case], without_answer: Sequence[Case], *, threshold: float
) -> Abstention:
    """How well "nothing good enough" is told, each conversation left out in its turn."""
    everything = [*cases, *without_answer]
    truth = np.array([bool(case.evidence_count) for case in everything])
    judged = np.zeros(len(everything))
    for name in dict.fromkeys(case.home for case in everything):
        known = [case for case in cases if case.conversation != name]
        fusion = learn_fusion([case.lesson for case in known])
        table = np.stack([judged_by(case.evidence, case.features @ fusion) for case in everything])
        kept = np.array([name not in (case.home, case.conversation) for case in everything])
        weights, shift = learn_probability(table[kept], truth[kept])
        at_home = np.array([case.home == name for case in everything])
        judged[at_home] = 1 / (1 + np.exp(-(table[at_home] @ weights + shift)))
    locomo = np.array([case.kind == LOCOMO for case in everything])
    own_none = np.array([case.home == case.conversation for case in everything]) & ~truth
    return Abstention(
        wrong_conversation=area_under_curve(judged[locomo], truth[locomo]),
        no_answer_in_own=area_under_curve(
            judged[~locomo & (truth | own_none)], truth[~locomo & (truth | own_none)]
        ),
        answered=float((judged[truth] >= threshold).mean()),
        refused=float((judged[~truth & ~own_none] < threshold).mean()),
    )


def recall_of(cases: Sequence[Case], scores: Sequence[Floats]) -> Recall:
    """What share of the evidence stands among the first."""
    found: dict[int, list[float]] = {1: [], 5: [], 10: [], 20: []}
    right_session: list[bool] = []
    for case, score in zip(cases, scores, strict=True):
        order = np.argsort(-score, kind="stable")
        for k, shares in found.items():
            shares.append(float(case.answers[order[:k]].sum()) / case.evidence_count)
        right_session.append(int(case.sessions[order[0]]) in case.evidence_sessions)
    share = {k: 100 * float(np.mean(shares)) for k, shares in found.items()}
    return Recall(
        at_1=share[1],
        at_5=share[5],
        at_10=share[10],
        at_20=share[20],
        session_at_1=100 * float(np.mean(right_session)),
        questions=len(cases),
    )


def area_under_curve(judged: Doubles, truth: NDArray[np.bool_]) -> float:
    """How often a true case is judged above a false one; ties count half."""
    values, at = np.unique(judged, return_inverse=True)
    false = np.bincount(at, ~truth, len(values))
    below = np.cumsum(false) - false
    wins = (below + false / 2)[at][truth].sum()
    return float(wins / max(int(truth.sum()) * int((~truth).sum()), 1))


def _case(
    host: Conversation, home: Conversation, index: PersonIndex, query: Query, embed: Embed
) -> Iterator[Case]:
    evidence = gather(
        index,
        Question(
            text=query.text,
            language=query.language,
            vector=embed([query.text])[0],
            asked_at=host.asked_at,
            zone_offset_s=host.zone_offset_s,
            owner=host.owner,
        ),
    )
    if evidence is None:
        return
    names, features = features_of(evidence)
    gold = {number for number, line in enumerate(host.lines) if line.id in query.evidence}
    seqs, sessions = index.columns.seq, index.columns.session
    is_gold = np.isin(seqs, np.fromiter(gold, np.int64, len(gold)))
    rows = evidence.near.rows
    yield Case(
        conversation=host.name,
        home=home.name,
        kind=home.kind,
        query=query,
        answers=is_gold[rows].astype(np.float64),
        sessions=sessions[rows],
        evidence_count=len(gold),
        evidence_sessions=frozenset(int(session) for session in sessions[is_gold]),
        features=features,
        names=names,
        evidence=evidence,
    )


def _renamed(text: str, home: Conversation, host: Conversation) -> str:
    """The question with the other conversation's speakers, so that names give nothing away."""
    ours, theirs = _speakers(home), _speakers(host)
    for number, name in enumerate(ours):
        border = r"\b" if name.isascii() else ""
        other = theirs[min(number, len(theirs) - 1)]
        text = re.sub(border + re.escape(name) + border, other, text)
    return text


def _speakers(conversation: Conversation) -> list[str]:
    spoken = list(dict.fromkeys(line.speaker for line in conversation.lines))
    return sorted(spoken, key=lambda name: name != conversation.owner)


def _plain_sum(case: Case) -> Floats:
    words = case.features[:, case.names.index("words")]
    meaning = case.features[:, case.names.index("meaning")]
    total: Floats = _standardised(words) + _standardised(meaning)
    return total


def _standardised(values: Floats) -> Floats:
    standardised: Floats = (values - values.mean()) / (values.std() + np.float32(1e-6))
    return standardised
