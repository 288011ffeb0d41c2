"""Answer reading: lets the reader judge which recalled messages answer, and how sure that is.

Only for replies without a model. Reads the database and runs the reader; never writes.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.domain.messages import Message, Person
from oldfriend.lang.glossing import has_glossary
from oldfriend.lang.language_pack import get_traits
from oldfriend.llm.glosses import gloss_all
from oldfriend.llm.reading import COMPANION_SPEAKER, OWN_SPEAKER, Passage
from oldfriend.memory.message_log import list_messages_by_seq
from oldfriend.turn.offline_ranking import is_about_asked_person, list_later_answers
from oldfriend.turn.retrieval import (
    RecalledBelief,
    RecalledItem,
    RecalledMessage,
    RecallResult,
    SearchDeps,
)

READER_WEIGHT: Final = 2.0
"""Of the reader's logit, added to the logarithm of the search's score."""
MIN_SURE: Final = 0.6
"""Probability of the best message, among all that were read and none, to be told as an answer."""
MIN_SURE_SEARCH: Final = 0.4
"""Probability that anything answers, by the search, for an answer to be sure."""
MIN_SCORE: Final = 1e-6


async def read_answers(
    search_deps: SearchDeps, person: Person, question: str, language: str, result: RecallResult
) -> RecallResult:
    """Return the result with a reading of each message, by which its ranking orders them.

    Without a reader for the language, or where it cannot be loaded, the result is returned as it
    is: nothing in it is sure.
    """
    reader = search_deps.reader
    if reader is None or not get_traits(language).reader or not result.messages:
        return result
    messages = [each.message for each in result.messages]
    try:
        asked = await gloss_all([(question, language)])
        readings = await reader.read(asked[0], await build_passages(search_deps, person, messages))
    except EmbeddingFailed:
        return result
    read = tuple(
        replace(each, reading=reading)
        for each, reading in zip(result.messages, readings, strict=True)
    )
    ranked = sorted(read, key=lambda each: -compute_fused_score(each))
    return replace(
        result,
        messages=read,
        merged_ranking=tuple(put_in_order(replace(result, messages=read).ranking, ranked)),
        sure_message=ranked[0].message.id
        if get_traits(language).reader == "answers" and is_sure(ranked, result)
        else None,
        is_gloss_read=has_glossary(language),
        reader_probability=max(each.probability for each in readings),
    )


def put_in_order(
    ranking: Sequence[RecalledItem], ordered: Sequence[RecalledMessage]
) -> Iterator[RecalledItem]:
    """Yield a ranking with its messages in another order; beliefs keep their places."""
    following = iter(ordered)
    for each in ranking:
        yield each if isinstance(each, RecalledBelief) else next(following)


async def build_passages(
    search_deps: SearchDeps, person: Person, messages: Sequence[Message]
) -> list[Passage]:
    """Return messages as the reader takes them, each with the one before it in its chat.

    Raises EmbeddingFailed if they cannot be put into English.
    """
    async with search_deps.db.begin_read() as tx:
        earlier = await list_messages_by_seq(tx, person.id, [each.seq - 1 for each in messages])
    before = {each.seq + 1: each for each in earlier}
    previous = [find_previous(each, before) for each in messages]
    texts = await gloss_all([(each.text, each.language) for each in messages])
    texts_before = await gloss_all(
        [("", "") if each is None else (each.text, each.language) for each in previous]
    )
    return [
        Passage(text=text, speaker=name_speaker(each), before=text_before)
        for each, text, text_before in zip(messages, texts, texts_before, strict=True)
    ]


def find_previous(message: Message, before: Mapping[int, Message]) -> Message | None:
    """Return the message before another in its chat, of those that stand before some."""
    previous = before.get(message.seq)
    is_near = previous is not None and previous.chat == message.chat
    return previous if is_near and previous is not None and previous.role != "marker" else None


def name_speaker(message: Message) -> str:
    """Return what the reader calls the author of a message."""
    if message.role == "person":
        return OWN_SPEAKER
    return COMPANION_SPEAKER if message.role == "companion" else message.speaker


def compute_fused_score(recalled: RecalledMessage) -> float:
    """Return how well a message answers: by the search's score and the reader's."""
    logit = 0.0 if recalled.reading is None else recalled.reading.logit
    return math.log(max(recalled.hit.score, MIN_SCORE)) + READER_WEIGHT * logit


def is_sure(ranked: Sequence[RecalledMessage], result: RecallResult) -> bool:
    """Tell whether the first message is an answer: search and reader agree, and none is later."""
    return (
        result.answer_probability >= MIN_SURE_SEARCH
        and ranked[0] is max(ranked, key=lambda each: each.hit.score)
        and compute_shares(ranked)[0] >= MIN_SURE
        and is_about_asked_person(ranked[0], result)
        and not list_later_answers(ranked, ranked[0].message.at)
    )


def compute_shares(ranked: Sequence[RecalledMessage]) -> list[float]:
    """Return the probability of each message to be the answer, beside that of none."""
    odds = [0.0 if each.reading is None else math.exp(each.reading.logit) for each in ranked]
    return [each / (1 + sum(odds)) for each in odds]
