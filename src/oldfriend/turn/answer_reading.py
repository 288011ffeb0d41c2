"""Answer reading: lets the reader judge which recalled messages answer, and how sure that is.

Sure is only what speaks of the one whom the question asks about. Only for replies without a model.
Reads the database and runs the reader; never writes.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.domain.messages import Message, Person
from oldfriend.lang.glossing import has_glossary
from oldfriend.lang.language_pack import get_traits
from oldfriend.llm.glosses import gloss_all
from oldfriend.llm.reading import COMPANION_SPEAKER, OWN_SPEAKER, Passage
from oldfriend.memory.message_log import list_messages_by_seq
from oldfriend.search import list_named_entities
from oldfriend.search.spelling import find_lexicon
from oldfriend.turn.attribution.quoted_spans import is_passed_on
from oldfriend.turn.message_subjects import (
    has_all_words,
    has_common_role,
    has_same_frame,
    is_of_another_subject,
    list_meant_roles,
    speaks_of_self,
)
from oldfriend.turn.neighbors import is_requesting
from oldfriend.turn.offline_ranking import (
    compute_fused_score,
    is_about_asked_person,
    is_close_by_reader,
    list_later_answers,
)
from oldfriend.turn.recalled import (
    RecalledBelief,
    RecalledItem,
    RecalledMessage,
    RecallResult,
    SearchDeps,
)

MIN_SURE: Final = 0.6
"""Probability of the best message, among all that were read and none, to be told as an answer."""
MIN_SURE_LOGIT: Final = 4.5
"""The reader's logit from which a message is one, too, if no other comes close.

Of 713 questions of English lives 34 are answered as sure, 29 of them rightly.
"""
MAX_RIVAL_BEHIND: Final = 6.0
"""In scores, so far behind the best message any other is where that is far ahead."""
MIN_PLAIN_LOGIT: Final = 3.5
"""The same, of what only says all that the question is about, in other languages."""
MAX_PLAIN_CHARS: Final = 120
"""Of a message that says it in one clear sentence."""
MIN_FRAME_LOGIT: Final = 0.0
"""The reader's logit from which what says the question's own words is an answer."""
MIN_SURE_SEARCH: Final = 0.4
"""Probability that anything answers, by the search, for an answer to be sure."""
MIN_NAME_SURPRISAL: Final = 17.0
"""Bits of surprisal from which the first word of a message is likely a name."""
WORD: Final = re.compile(r"[^\W\d_]+")


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
        sure_message=leave_out_requests(ranked)[0].message.id
        if is_sure(ranked, result)
        and (
            get_traits(language).reader == "answers"
            or says_all_that_is_asked(leave_out_requests(ranked)[0], result)
        )
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


def is_sure(ranked: Sequence[RecalledMessage], result: RecallResult) -> bool:
    """Tell whether the first message is an answer.

    Search and reader agree, it speaks of whom is asked about, and no later one answers as well.
    """
    telling = leave_out_requests(ranked)
    ranked = [
        each for each in telling if each is telling[0] or not is_of_another_subject(each, result)
    ]
    return (
        result.answer_probability >= MIN_SURE_SEARCH
        and ranked[0] is max(ranked, key=lambda each: each.hit.score.value)
        and (
            compute_shares(ranked)[0] >= MIN_SURE
            or is_far_ahead(ranked)
            or says_what_is_asked(ranked[0], result)
        )
        and is_about_asked_person(ranked[0], result)
        and not is_of_somebody_else(ranked[0], result)
        and not is_of_another_role(ranked[0], result)
        and not list_later_answers(ranked, ranked[0].message.at)
    )


def is_far_ahead(ranked: Sequence[RecalledMessage]) -> bool:
    """Tell whether the reader takes the first message for an answer, and no other comes close."""
    first, *others = ranked
    best = compute_fused_score(first)
    return (
        first.reading is not None
        and first.reading.logit >= MIN_SURE_LOGIT
        and all(compute_fused_score(each) < best - MAX_RIVAL_BEHIND for each in others)
    )


def leave_out_requests(messages: Iterable[RecalledMessage]) -> list[RecalledMessage]:
    """Return the messages without what was only asked for, if one that tells something answers."""
    found = [*messages]
    telling = [each for each in found if not is_requesting(each.message)]
    return telling if any(map(is_close_by_reader, telling)) else found


def says_all_that_is_asked(recalled: RecalledMessage, result: RecallResult) -> bool:
    """Tell whether a short message says all that a question is about, and reads like an answer.

    So the reader's word counts in languages, too, that it only reads word by word in English.
    """
    message, asked = recalled.message, result.question
    is_read = recalled.reading is not None and recalled.reading.logit >= MIN_PLAIN_LOGIT
    is_short = len(message.text) <= MAX_PLAIN_CHARS
    return is_read and is_short and has_all_words(message.text, asked, message.language or "")


def says_what_is_asked(recalled: RecalledMessage, result: RecallResult) -> bool:
    """Tell whether a message says a question's own words, and reads like an answer."""
    message = recalled.message
    return (
        recalled.reading is not None
        and recalled.reading.logit >= MIN_FRAME_LOGIT
        and has_same_frame(message.text, result.question, message.language or "")
    )


def compute_shares(ranked: Sequence[RecalledMessage]) -> list[float]:
    """Return the probability of each message to be the answer, beside that of none."""
    odds = [0.0 if each.reading is None else math.exp(each.reading.logit) for each in ranked]
    return [each / (1 + sum(odds)) for each in odds]


def is_of_somebody_else(recalled: RecalledMessage, result: RecallResult) -> bool:
    """Tell whether a message seems to speak of somebody else than a question asks about.

    "Ana lives in Porto." does not tell where the one who said it lives, nor does what they have
    passed on; of Ana tells what names her, or what she said.
    """
    message = recalled.message
    language = message.language or ""
    if result.named_entities:
        named = (*result.named_entities,)
        return not (
            list_named_entities(message.text, named) or list_named_entities(message.speaker, named)
        )
    if message.role != "person" or not is_asked_of_self(result, language):
        return False
    return is_passed_on(message.text, language) or is_told_of_a_name(message.text, language)


def is_of_another_role(recalled: RecalledMessage, result: RecallResult) -> bool:
    """Tell whether a message only speaks of others in one's life than a question asks about.

    "My dog is called Rex" does not tell what the cat is called.
    """
    language = recalled.message.language or ""
    if list_named_entities(recalled.message.text, result.named_entities):
        return False
    asked = list_meant_roles(result.question, language)
    told = list_meant_roles(recalled.message.text, language)
    return bool(asked and told) and not has_common_role(asked, told)


def is_asked_of_self(result: RecallResult, language: str) -> bool:
    """Tell whether a question asks something of the one who asks it."""
    if result.requested_attribute is not None:
        return result.requested_attribute.is_own
    return speaks_of_self(result.question, language)


def is_told_of_a_name(text: str, language: str) -> bool:
    """Tell whether a text begins with what is likely a name, and its author is not in it."""
    first = WORD.search(text)
    lexicon = find_lexicon(language)
    if first is None or lexicon is None or get_traits(language).is_cjk:
        return False
    is_name = lexicon.compute_surprisal(first[0].casefold()) >= MIN_NAME_SURPRISAL
    return is_name and not speaks_of_self(text, language)
