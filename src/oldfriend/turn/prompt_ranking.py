"""Prompt ranking: selects and orders the recalled messages and beliefs worth showing to a model.

Reads embeddings; the token budget is applied elsewhere.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

import numpy as np

from oldfriend.domain.clock import Micros
from oldfriend.domain.ids import MessageId
from oldfriend.domain.memories import MemoryState
from oldfriend.domain.messages import Person
from oldfriend.llm.embedding import Vectors
from oldfriend.memory.vectors import load_belief_vectors, load_message_vectors
from oldfriend.search import ReasonCause, list_older_duplicates
from oldfriend.search.shared_topics import extract_content_terms
from oldfriend.turn.recalled import (
    RecalledBelief,
    RecalledItem,
    RecalledMessage,
    SearchDeps,
    get_item_id,
    get_score,
)
from oldfriend.turn.role_names import SAFETY_MENTION

MAX_ABOUT_NAMED = 8
"""The most beliefs about, or related to, the entities that a text names."""
MIN_RELEVANCE: Final = (0.001, 0.0025)
"""The least score of a message, and of a belief, as a share of the best score.

Chosen on seven lives: prompts became a tenth shorter and lost the evidence of 1 in 488 answers.
"""
MAX_RETOLD = 8
"""The best items, of which messages may tell with more words what beliefs tell."""
MIN_MESSAGES: Final = 8
"""The best messages, which are kept whatever their score."""
MAX_REACHED = 5
"""The most beliefs that were only reached through a relation."""
REPETITION_SHARE: Final = 0.75
"""A text with at least this share of another's content words, on the same evidence, repeats it."""


def drop_irrelevant(ranked: Sequence[RecalledItem]) -> tuple[RecalledItem, ...]:
    """Return the items without those that are far less likely to bear on the query than the best.

    The first messages are kept in any case, as is what concerns whom the query means.
    """
    best = max(map(get_score, ranked), default=0.0)
    messages = [get_item_id(each) for each in ranked if isinstance(each, RecalledMessage)]
    first = {*messages[:MIN_MESSAGES]}
    return tuple(
        each
        for each in ranked
        if get_item_id(each) in first
        or get_score(each) >= best * MIN_RELEVANCE[isinstance(each, RecalledBelief)]
        or concerns_meant(each)
    )


def concerns_meant(item: RecalledItem) -> bool:
    """Tell whether it is a belief about whom the query names, or the health of those it means."""
    if isinstance(item, RecalledBelief):
        return is_about_named(item)
    return SAFETY_MENTION in item.hit.reasons


async def move_near_duplicates_last(
    search_deps: SearchDeps, person: Person, ranked: Sequence[RecalledItem]
) -> tuple[RecalledItem, ...]:
    """Return the items with near duplicates of something newer moved to the end."""
    vectors = await load_item_vectors(search_deps, person, ranked)
    repeats = list_older_duplicates(
        vectors, [*map(get_last_said_at, ranked)], [*map(get_score, ranked)]
    )
    order = sorted(range(len(ranked)), key=lambda index: index in repeats)
    return tuple(ranked[index] for index in order)


async def load_item_vectors(
    search_deps: SearchDeps, person: Person, items: Sequence[RecalledItem]
) -> Vectors:
    """Return one vector per item, in their order; zeros where one is missing."""
    model = search_deps.index_cache.model or ""
    seqs = {
        each.message.seq: nth for nth, each in enumerate(items) if isinstance(each, RecalledMessage)
    }
    ids = {
        each.state.memory.id: nth
        for nth, each in enumerate(items)
        if isinstance(each, RecalledBelief)
    }
    async with search_deps.db.begin_read() as tx:
        message_vectors = await load_message_vectors(tx, person.id, model, list(seqs))
        belief_vectors = await load_belief_vectors(tx, person.id, model, list(ids))
    dimension = max(
        message_vectors.shape[1], *(len(vector) for vector in belief_vectors.values()), 0
    )
    vectors = np.zeros((len(items), dimension), np.float32)
    if message_vectors.shape[1] == dimension:
        vectors[list(seqs.values())] = message_vectors
    for each, vector in belief_vectors.items():
        if len(vector) == dimension:
            vectors[ids[each]] = vector
    return vectors


def get_last_said_at(item: RecalledItem) -> Micros:
    """Return when something was last said."""
    return item.state.stats.last_seen if isinstance(item, RecalledBelief) else item.message.at


def select_candidates(ranking: Sequence[RecalledItem]) -> list[RecalledItem]:
    """Return the items that may be shown, best first: few of those about somebody who is named."""
    reached = [get_item_id(each) for each in ranking if has_cause(each, "reached")]
    about_named = [
        get_item_id(each)
        for each in ranking
        if is_about_named(each) and get_item_id(each) not in reached[MAX_REACHED:]
    ]
    left_out = {*reached[MAX_REACHED:], *about_named[MAX_ABOUT_NAMED:]}
    return [each for each in ranking if get_item_id(each) not in left_out]


def is_about_named(item: RecalledItem) -> bool:
    """Tell whether it is a belief about, or related to, an entity that the text names."""
    return isinstance(item, RecalledBelief) and (
        has_cause(item, "mentions") or has_cause(item, "reached")
    )


def has_cause(item: RecalledItem, cause: ReasonCause) -> bool:
    """Tell whether it is a belief that was recalled for a cause."""
    return isinstance(item, RecalledBelief) and item.score.has_cause(cause)


def select_fitting_items(
    ranked: Sequence[RecalledItem],
    costs: Sequence[int],
    budget: int,
    title_costs: tuple[int, int],
    *,
    covered_ids: Collection[str] = (),
) -> list[RecalledItem]:
    """Return the best items that fit into a budget, in their order.

    Beliefs and messages have half of it each, with their title, and take what the other leaves.
    Left out is what is covered already, of a belief and the messages it rests on all but the best,
    and a belief that says in other words what another one does. One of the best messages is shown
    beside a belief about somebody named if it says more.
    """
    shown, kept = set(covered_ids), dict[int, RecalledItem]()
    resting: dict[MessageId, list[RecalledBelief]] = {}  # of those kept
    used = {True: 0, False: 0}
    for share in (budget // 2, budget):
        for index, (item, item_cost) in enumerate(zip(ranked, costs, strict=True)):
            if index in kept:
                continue
            is_belief, evidence_ids = isinstance(item, RecalledBelief), list_evidence_ids(item)
            cost = item_cost if used[is_belief] else item_cost + title_costs[not is_belief]
            fits = used[is_belief] + cost <= share and sum(used.values()) + cost <= budget
            is_covered = (
                get_item_id(item) in shown
                or bool(shown & evidence_ids)
                or is_told(item, resting, is_among_best=index < MAX_RETOLD)
            )
            if not fits or is_covered or is_reworded(item, kept.values()):
                continue
            kept[index] = item
            if isinstance(item, RecalledBelief):
                for each in evidence_ids:
                    resting.setdefault(each, []).append(item)
            used[is_belief] += cost
            shown.add(get_item_id(item))
    return [kept[index] for index in sorted(kept)]


def is_told(
    item: RecalledItem,
    resting: Mapping[MessageId, Sequence[RecalledBelief]],
    *,
    is_among_best: bool,
) -> bool:
    """Tell whether beliefs that rest on a message tell it, given those that rest on each message.

    One about somebody named is shown for the name: it does not stand for a message among the best
    unless it holds nearly all of its words.
    """
    beliefs = () if isinstance(item, RecalledBelief) else resting.get(item.message.id, ())
    if isinstance(item, RecalledBelief) or not beliefs:
        return False
    if not (is_among_best and all(map(is_about_named, beliefs))):
        return True
    told = " ".join(each.state.memory.text for each in beliefs)
    return holds_words(told, item.message.text, item.message.language)


def list_evidence_ids(item: RecalledItem) -> set[MessageId]:
    """Return the ids of the messages that a belief rests on, not of those that contradict it."""
    evidence = item.evidence if isinstance(item, RecalledBelief) else ()
    return {each.message for each in evidence if each.stance == "supports"}


def is_reworded(item: RecalledItem, others: Iterable[RecalledItem]) -> bool:
    """Tell whether one of other beliefs says what a belief does.

    One from the same message does if it holds nearly all of its words, any other if it repeats it.
    """
    if not isinstance(item, RecalledBelief):
        return False
    known, evidence_ids = item.state, list_evidence_ids(item)
    beliefs = [each for each in others if isinstance(each, RecalledBelief)]
    return is_repeated(known, (each.state for each in beliefs)) or any(
        holds_words(each.state.memory.text, known.memory.text, known.memory.language)
        for each in beliefs
        if not evidence_ids.isdisjoint(list_evidence_ids(each))
    )


def is_repeated(known: MemoryState, others: Iterable[MemoryState]) -> bool:
    """Tell whether one of others that is no older holds all content words of a belief."""
    memory = known.memory
    return any(
        each.stats.last_seen >= known.stats.last_seen
        and holds_words(each.memory.text, memory.text, memory.language, share=1.0)
        for each in others
    )


def drop_repeated(known: Iterable[MemoryState]) -> list[MemoryState]:
    """Return the beliefs without those that repeat one before them."""
    kept: list[MemoryState] = []
    for each in known:
        if not is_repeated(each, kept):
            kept.append(each)
    return kept


def holds_words(text: str, other: str, language: str, *, share: float = REPETITION_SHARE) -> bool:
    """Tell whether a text holds a share of the content words of another one."""
    words = extract_content_terms(other, language)
    told = words & extract_content_terms(text, language)
    return bool(words) and len(told) >= share * len(words)
