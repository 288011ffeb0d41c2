"""Retrieval: each question is asked with weights that were learned from other kinds.

A fold is what is left out together: all lives of a kind and language, or our own conversations of a
kind.

Knows no model: whoever measures hands in how texts become vectors.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from oldfriend.lang.glossing import gloss
from oldfriend.search import (
    IndexRow,
    PersonIndex,
    QueryEmbedding,
    SearchQuery,
    build_embedding_text,
    decode_vectors,
    encode_document_terms,
    encode_vectors,
)
from oldfriend.search.features import RankingContext, compute_features
from oldfriend.search.fusion import FusionModel, compute_answerability_features
from oldfriend.search.message_search import compute_chat_types, prepare_ranking
from oldfriend.search.types import Floats, Ints
from oldfriend_evals.datasets import Conversation, Query
from oldfriend_evals.fusion_training import Lesson, learn_fusion, learn_probability
from oldfriend_evals.lbfgs import Doubles

Embed: TypeAlias = Callable[[Sequence[str]], Floats]

Learned: TypeAlias = Mapping[str, FusionModel]

# A lesson shows the most promising candidates and some of the others, who stand for the rest.
_PROMISING: Final = 150
_OTHERS: Final = 100
_WORTH_OF_SMALL: Final = 0.5
UNASKED: Final = "adversarial"


@dataclass(frozen=True, slots=True, kw_only=True)
class Recall:
    """How well messages were found, in percent of the evidence or of the questions."""

    at_1: float
    at_5: float
    at_10: float
    at_20: float
    session_at_1: float
    whole_at_10: int  # questions with all of the answer among ten
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
    small_histories: float  # of a dozen messages at most
    answered: float  # share of answerable questions that are answered at the default threshold
    refused: float  # share of questions asked of the wrong conversation that are refused


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Case:
    """One question asked of one conversation, with all that is known of the candidates."""

    conversation: str  # where it is asked
    home: str  # where it comes from
    kind: str
    fold: str
    query: Query
    line_ids: tuple[str, ...]  # of the candidates
    answers: Doubles  # 1 for each candidate that answers
    sessions: Ints
    evidence_count: int
    evidence_sessions: frozenset[int]
    features: Floats
    names: tuple[str, ...]
    evidence: RankingContext
    is_small: bool = False  # asked of a few messages only

    @property
    def chat(self) -> Floats:
        """Which kind of chat it is asked of."""
        return compute_chat_types(self.evidence)

    @property
    def lesson(self) -> Lesson:
        """What can be learned from it; the same each time."""
        order = np.argsort(-self.features[:, self.names.index("matching")], kind="stable")
        shown, rest = order[:_PROMISING], order[_PROMISING:]
        others = np.random.default_rng(len(self.query.text)).permutation(rest)[:_OTHERS]
        answering = np.setdiff1d(np.flatnonzero(self.answers), np.append(shown, others))
        kept = np.concatenate([shown, others, answering])
        stands_for = np.ones(len(kept), np.float32)
        stands_for[len(shown) : len(shown) + len(others)] = len(rest) / max(len(others), 1)
        return Lesson(
            features=self.features[kept],
            answers=self.answers[kept],
            chat=self.chat,
            stands_for=stands_for,
            weight=_WORTH_OF_SMALL if self.is_small else 1.0,
        )


def build_index(conversation: Conversation, embed: Embed) -> PersonIndex:
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
            imprint=encode_document_terms(line.text, language=line.language),
        )
        for number, line in enumerate(conversation.lines)
    ]
    texts = [
        build_embedding_text(line.speaker, gloss(line.text, line.language))
        for line in conversation.lines
    ]
    return PersonIndex.build(rows, decode_vectors(encode_vectors(embed(texts))))


def list_answerable_cases(conversations: Sequence[Conversation], embed: Embed) -> list[Case]:
    """Every question that has an answer, asked of its own conversation."""
    cases: list[Case] = []
    for conversation in conversations:
        index = build_index(conversation, embed)
        for query in conversation.queries:
            if query.evidence and query.kind != UNASKED:
                cases += build_case(
                    conversation, conversation, index, query, embed_query(query, embed)
                )
    return cases


def list_unanswerable_cases(conversations: Sequence[Conversation], embed: Embed) -> list[Case]:
    """Questions without an answer: our own ones, and each asked of one wrong conversation."""
    indexes = {given.name: build_index(given, embed) for given in conversations}
    cases: list[Case] = []
    for home in conversations:
        others = [
            other
            for other in conversations
            if other is not home and other.language == home.language
        ]
        for number, query in enumerate(home.queries):
            if query.kind == UNASKED:
                continue
            if not query.evidence:
                cases += build_case(
                    home, home, indexes[home.name], query, embed_query(query, embed)
                )
            elif others:
                host = others[number % len(others)]
                asked = replace(
                    query, text=_swap_speakers(query.text, home, host), evidence=frozenset()
                )
                vector = embed_query(asked, embed)
                cases += build_case(host, home, indexes[host.name], asked, vector)
    return cases


def learn_by_fold(cases: Sequence[Case]) -> Learned:
    """For each fold, what is learned from all the others."""
    lessons = [(case.fold, case.lesson) for case in cases if case.answers.any()]
    return {
        name: learn_fusion([lesson for fold, lesson in lessons if fold != name], seeds=(1,))
        for name in dict.fromkeys(case.fold for case in cases)
    }


def compute_recall_with(cases: Sequence[Case], fusion: FusionModel) -> Recall:
    """All cases, found with the same weights."""
    return compute_recall(cases, [fusion.score(case.features, case.chat) for case in cases])


def list_kinds_left_out(cases: Sequence[Case], learned: Learned) -> list[LeftOut]:
    """Each kind of conversation, found with what the others taught."""
    results: list[LeftOut] = []
    for kind in dict.fromkeys(case.kind for case in cases):
        left_out = [case for case in cases if case.kind == kind]
        results.append(
            LeftOut(
                kind=kind,
                ours=compute_recall(left_out, [compute_scores(case, learned) for case in left_out]),
                standardised_sum=compute_recall(
                    left_out, [_compute_plain_sum(case) for case in left_out]
                ),
            )
        )
    return results


def compute_scores(case: Case, learned: Learned) -> Floats:
    """The candidates' scores by what was learned without the question's kind of conversation."""
    return learned[case.fold].score(case.features, case.chat)


def build_judgement_inputs(cases: Sequence[Case], learned: Learned) -> Floats:
    """What the judgement of each case rests on."""
    return np.stack(
        [
            compute_answerability_features(case.evidence, compute_scores(case, learned))
            for case in cases
        ]
    )


def judge_left_out(cases: Sequence[Case], judged: Floats) -> Doubles:
    """How likely an answer is, judged by what was learned without the question's conversation."""
    truth = np.array([bool(case.evidence_count) for case in cases])
    likely = np.zeros(len(cases))
    for name in dict.fromkeys(case.home for case in cases):
        kept = np.array([name not in (case.home, case.conversation) for case in cases])
        weights, shift = learn_probability(judged[kept], truth[kept])
        at_home = np.array([case.home == name for case in cases])
        likely[at_home] = 1 / (1 + np.exp(-(judged[at_home] @ weights + shift)))
    return likely


def compute_abstention(
    answerable: Sequence[Case],
    others: Sequence[Case],
    *,
    threshold: float,
    learned: Learned,
) -> Abstention:
    """How well "nothing good enough" is told; the others are wrongly asked, or of a few."""
    cases = [*answerable, *others]
    likely = judge_left_out(cases, build_judgement_inputs(cases, learned))
    truth = np.array([bool(case.evidence_count) for case in cases])
    small = np.array([case.is_small for case in cases])
    in_own = np.array([case.home == case.conversation for case in cases]) & ~truth & ~small
    wrong = ~truth & ~in_own & ~small
    whole = truth & ~small
    return Abstention(
        wrong_conversation=compute_auc(likely[whole | wrong], truth[whole | wrong]),
        no_answer_in_own=compute_auc(likely[whole | in_own], truth[whole | in_own]),
        small_histories=compute_auc(likely[small], truth[small]),
        answered=float((likely[whole] >= threshold).mean()),
        refused=float((likely[wrong] < threshold).mean()),
    )


def compute_recall(cases: Sequence[Case], scores: Sequence[Floats]) -> Recall:
    """What share of the evidence stands among the first."""
    found: dict[int, list[float]] = {1: [], 5: [], 10: [], 20: []}
    right_session: list[bool] = []
    whole = 0
    for case, score in zip(cases, scores, strict=True):
        order = np.argsort(-score, kind="stable")
        for k, shares in found.items():
            shares.append(float(case.answers[order[:k]].sum()) / case.evidence_count)
        whole += case.query.is_found({case.line_ids[at] for at in order[:10]})
        right_session.append(int(case.sessions[order[0]]) in case.evidence_sessions)
    share = {k: 100 * float(np.mean(shares)) for k, shares in found.items()}
    return Recall(
        at_1=share[1],
        at_5=share[5],
        at_10=share[10],
        at_20=share[20],
        session_at_1=100 * float(np.mean(right_session)),
        whole_at_10=whole,
        questions=len(cases),
    )


def compute_auc(judged: Doubles, truth: NDArray[np.bool_]) -> float:
    """How often a true case is judged above a false one; ties count half."""
    values, at = np.unique(judged, return_inverse=True)
    false = np.bincount(at, ~truth, len(values))
    below = np.cumsum(false) - false
    wins = (below + false / 2)[at][truth].sum()
    return float(wins / max(int(truth.sum()) * int((~truth).sum()), 1))


def build_case(
    host: Conversation, home: Conversation, index: PersonIndex, query: Query, vector: Floats | None
) -> Iterator[Case]:
    """A question asked of an index of `host`, unless it asks nothing."""
    evidence = prepare_ranking(
        index,
        SearchQuery(
            text=query.text,
            language=query.language,
            embedding=None if vector is None else QueryEmbedding(vector=vector),
            asked_at=host.asked_at,
            zone_offset_s=host.zone_offset_s,
        ),
    )
    if evidence is None:
        return
    names, features = compute_features(evidence)
    gold = {number for number, line in enumerate(host.lines) if line.id in query.evidence}
    seqs, sessions = index.columns.seq, index.columns.session
    is_gold = np.isin(seqs, np.fromiter(gold, np.int64, len(gold)))
    rows = evidence.candidates.rows
    yield Case(
        conversation=host.name,
        home=home.name,
        kind=home.kind,
        fold=home.fold,
        query=query,
        line_ids=tuple(host.lines[seq].id for seq in seqs[rows]),
        answers=is_gold[rows].astype(np.float64),
        sessions=sessions[rows],
        evidence_count=len(gold),
        evidence_sessions=frozenset(int(session) for session in sessions[is_gold]),
        features=features,
        names=names,
        evidence=evidence,
    )


def embed_query(query: Query, embed: Embed) -> Floats:
    """The question's vector."""
    vector: Floats = embed([gloss(query.text, query.language)])[0]
    return vector


def _swap_speakers(text: str, home: Conversation, host: Conversation) -> str:
    """The question with the other conversation's speakers, so that names give nothing away."""
    ours, theirs = _list_speakers(home), _list_speakers(host)
    for number, name in enumerate(ours):
        border = r"\b" if name.isascii() else ""
        other = theirs[min(number, len(theirs) - 1)]
        text = re.sub(border + re.escape(name) + border, other, text)
    return text


def _list_speakers(conversation: Conversation) -> list[str]:
    spoken = list(dict.fromkeys(line.speaker for line in conversation.lines))
    return sorted(spoken, key=lambda name: name != conversation.owner)


def _compute_plain_sum(case: Case) -> Floats:
    words = case.features[:, case.names.index("words")]
    meaning = case.features[:, case.names.index("meaning")]
    total: Floats = _standardize(words) + _standardize(meaning)
    return total


def _standardize(values: Floats) -> Floats:
    standardised: Floats = (values - values.mean()) / (values.std() + np.float32(1e-6))
    return standardised
