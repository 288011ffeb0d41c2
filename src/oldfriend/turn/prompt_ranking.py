"""Prompt ranking: selects and orders the recalled messages and beliefs worth showing to a model.

Reads embeddings; the token budget is applied elsewhere.
"""

from collections.abc import Collection, Sequence

import numpy as np

from oldfriend.domain.clock import Micros
from oldfriend.domain.people import Person
from oldfriend.llm.embedding import Vectors
from oldfriend.memory.belief_embeddings import load_belief_vectors
from oldfriend.memory.vectors import load_message_vectors
from oldfriend.search import diversify
from oldfriend.turn.retrieval import (
    RecalledBelief,
    RecalledItem,
    RecalledMessage,
    RecallResult,
    SearchDeps,
    get_item_id,
    get_score,
)

MAX_UNSURE = 5
MAX_REACHED = 5
"""The most beliefs that were only reached through a relation."""


async def move_near_duplicates_last(
    search_deps: SearchDeps, person: Person, ranked: Sequence[RecalledItem]
) -> tuple[RecalledItem, ...]:
    """Return the items with near duplicates of something newer moved to the end."""
    vectors = await load_item_vectors(search_deps, person, ranked)
    order = diversify(
        [get_score(each) for each in ranked],
        vectors,
        [*map(get_last_said_at, ranked)],
        limit=len(ranked),
    )
    repeats = sorted(set(range(len(ranked))).difference(order))
    return tuple(ranked[index] for index in [*order, *repeats])


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


def select_candidates(
    recall_result: RecallResult, *, max_unsure: int = MAX_UNSURE
) -> list[RecalledItem]:
    """Return the recalled items that may be shown, best first.

    Beliefs that do not seem to answer are shown only if pinned or about somebody named.
    """
    beliefs = [each for each in recall_result.ranking if isinstance(each, RecalledBelief)]
    beliefs = limit_reached(beliefs)
    messages = [each for each in recall_result.ranking if not isinstance(each, RecalledBelief)]
    if not recall_result.is_belief_answerable:
        beliefs = [each for each in beliefs if each.state.memory.is_pinned or is_about_named(each)]
    if not recall_result.is_answerable:
        messages = messages[:max_unsure]
    shown = {*map(get_item_id, beliefs), *map(get_item_id, messages)}
    return [each for each in recall_result.ranking if get_item_id(each) in shown]


def is_about_named(belief: RecalledBelief) -> bool:
    """Tell whether the text names an entity that a belief is about or related to."""
    return any(reason.cause in {"mentions", "reached"} for reason in belief.why)


def limit_reached(ranked: Sequence[RecalledBelief]) -> list[RecalledBelief]:
    """Return the beliefs with only the best MAX_REACHED of those reached through a relation."""
    reached = [get_item_id(each) for each in ranked if each.why and each.why[0].cause == "reached"]
    left_out = set(reached[MAX_REACHED:])
    return [each for each in ranked if get_item_id(each) not in left_out]


def drop_covered(
    ranked: Sequence[RecalledItem], covered_ids: Collection[str]
) -> list[RecalledItem]:
    """Drop what is shown already, and a belief or message whose counterpart is shown."""
    kept: list[RecalledItem] = []
    covered: set[str] = set(covered_ids)
    for each in ranked:
        evidence = (
            {evidence.message for evidence in each.evidence}
            if isinstance(each, RecalledBelief)
            else set()
        )
        if get_item_id(each) not in covered and covered.isdisjoint(evidence):
            kept.append(each)
            covered |= {get_item_id(each), *evidence}
    return kept
