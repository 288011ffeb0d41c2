"""Neighbors: the messages just before and after a hit that belong to what it says."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.domain.messages import Message, Person
from oldfriend.lang.message_acts import classify_act
from oldfriend.memory.message_log import list_messages_by_seq, list_surrounding_messages
from oldfriend.search import Reason, ScoredMessage
from oldfriend.search.message_scope import list_within_scope
from oldfriend.search.score import give_score
from oldfriend.turn.recalled import (
    RecalledItem,
    RecalledMessage,
    RecallQuery,
    SearchDeps,
    get_item_id,
)

NEIGHBORS_EACH_SIDE: Final = 3
"""Messages on each side that show what a message was about."""
MAX_COMPLETED: Final = 5
"""The most messages that get their neighbors, the best first."""
MAX_SHORT_CHARS: Final = 60
"""A message of at most so many characters says little without the one before it."""
MIN_ASKING: Final = 0.5
"""Probability that a message without a mark asks."""
MIN_REQUESTING: Final = 0.9
"""Probability that a message only asks for something to be done."""
QUESTION_MARKS: Final = ("?", "\uff1f")
REPLY: Final = Reason(cause="answers", strength=0.5)
CONTEXT: Final = Reason(cause="session", strength=0.2)


async def list_neighbors(
    search_deps: SearchDeps, message: Message, *, each_side: int = NEIGHBORS_EACH_SIDE
) -> tuple[Message, ...]:
    """Return the messages just before and after a message."""
    async with search_deps.db.begin_read() as tx:
        return tuple(await list_surrounding_messages(tx, message, each_side=each_side))


async def add_neighbors(
    search_deps: SearchDeps, person: Person, ranking: Sequence[RecalledItem], query: RecallQuery
) -> tuple[RecalledItem, ...]:
    """Return the ranking with what answers the best messages, or they answer, just after them."""
    recalled = {each.message.seq: each for each in ranking if isinstance(each, RecalledMessage)}
    async with search_deps.db.begin_read() as tx:
        index = await search_deps.index_cache.get_message_index(
            tx, person.id, exclude=query.answered_seqs
        )
        around = index.find_neighbors([*recalled][:MAX_COMPLETED])
        new = {seq for pair in around.values() for seq in pair if seq is not None}
        new -= recalled.keys() | set(query.excluded_seqs)
        if query.scope is not None:
            new = list_within_scope(index, query.scope, new)
        messages = await list_messages_by_seq(tx, person.id, sorted(new))
    by_seq = {each.seq: each for each in messages}
    by_seq |= {seq: each.message for seq, each in recalled.items()}
    completed: dict[str, RecalledItem] = {}
    for each in ranking:
        completed.setdefault(get_item_id(each), each)
        if isinstance(each, RecalledMessage) and each.message.seq in around:
            for neighbor in list_completing(each, around[each.message.seq], by_seq):
                found = recalled.get(neighbor.message.seq, neighbor)
                completed.setdefault(neighbor.message.id, found)
    return tuple(completed.values())


def list_completing(
    hit: RecalledMessage, pair: tuple[int | None, int | None], by_seq: Mapping[int, Message]
) -> Iterator[RecalledMessage]:
    """Yield what replies to a hit that asks, and what a hit answers or is too short without."""
    before, after = (by_seq.get(seq) if seq is not None else None for seq in pair)
    if after is not None and is_asking(hit.message):
        yield build_neighbor(after, hit, REPLY)
    if before is not None and (is_asking(before) or len(hit.message.text) <= MAX_SHORT_CHARS):
        yield build_neighbor(before, hit, CONTEXT)


def is_asking(message: Message) -> bool:
    """Tell whether a message asks something."""
    has_mark = any(mark in message.text for mark in QUESTION_MARKS)
    return has_mark or classify_act(message.text)["question"] >= MIN_ASKING


def is_requesting(message: Message) -> bool:
    """Tell whether a message only asks for something to be done, a reminder or a list's entry."""
    return classify_act(message.text)["command"] >= MIN_REQUESTING


def build_neighbor(message: Message, hit: RecalledMessage, reason: Reason) -> RecalledMessage:
    """Return a neighbor as recalled, with the score of its hit."""
    scored = ScoredMessage(seq=message.seq, score=give_score(hit.hit.score.value, reason))
    return replace(hit, message=message, hit=scored, reading=None)
