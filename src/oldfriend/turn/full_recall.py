"""Full recall: recalled items with what changed them since, and with what stands beside them."""

from dataclasses import replace

from oldfriend.domain.messages import Person
from oldfriend.turn.later_messages import add_later_to_ranking
from oldfriend.turn.neighbors import add_neighbors
from oldfriend.turn.prompt_ranking import drop_irrelevant, move_near_duplicates_last
from oldfriend.turn.recalled import (
    RecalledItem,
    RecalledMessage,
    RecallQuery,
    RecallResult,
    SearchDeps,
    get_item_id,
)
from oldfriend.turn.retrieval import recall


async def recall_in_full(
    search_deps: SearchDeps,
    person: Person,
    query: RecallQuery,
    *,
    limit: int,
    is_selective: bool = False,
) -> RecallResult:
    """Recall with later changes and neighbors; repetitions of what is newer come last.

    Selective: without what is far less likely to bear on the query than the best.
    """
    result = await recall(search_deps, person, query, limit=limit)
    if result.is_empty:
        return result
    ranking = list_relevant(result) if is_selective else result.ranking
    ranking = await move_near_duplicates_last(search_deps, person, ranking)
    ranking = await add_later_to_ranking(search_deps, person, ranking, query)
    ranking = await add_neighbors(search_deps, person, ranking, query)
    messages = tuple(each for each in ranking if isinstance(each, RecalledMessage))
    return replace(result, merged_ranking=ranking, messages=messages)


def list_relevant(result: RecallResult) -> tuple[RecalledItem, ...]:
    """List what is relevant to the query, or to one of the parts that it asks, best first.

    Each part is measured by its own best: one may be answered far more surely than the other.
    """
    parts = result.part_rankings or (result.ranking,)
    relevant = {get_item_id(each) for part in parts for each in drop_irrelevant(part)}
    return tuple(each for each in result.ranking if get_item_id(each) in relevant)
