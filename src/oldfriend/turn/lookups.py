"""Lookups: exact reads for rule-made replies that need no search, with the evidence for each.

They cover the profile, open promises, the sources of the last reply, what a correction has changed
and past beliefs of a day. Reads and never writes.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import SECOND, Micros, to_micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import MemoryId, MessageId, ObjectId, PersonId
from oldfriend.domain.memories import Evidence, MemoryState, StoredBelief
from oldfriend.domain.messages import Message
from oldfriend.lang.detection import detect_language
from oldfriend.lang.message_acts import classify_act
from oldfriend.memory.belief_views import get_memory_state
from oldfriend.memory.core_blocks import CoreBlock, list_blocks
from oldfriend.memory.evidence import list_supported_objects
from oldfriend.memory.journal import list_journal_as_of
from oldfriend.memory.message_log import get_message, list_messages, list_recent_messages
from oldfriend.memory.receipts import Receipt, find_receipt
from oldfriend.memory.restatement_detection import tokenize_statement
from oldfriend.memory.segments import list_uncut_spans
from oldfriend.search.date_parser import DateSpan, parse_date_spans
from oldfriend.search.question_patterns import (
    RequestedAttribute,
    find_requested_attribute,
    has_any_word,
)
from oldfriend.search.shared_topics import extract_content_terms
from oldfriend.search.subject_query import is_only_about_kin
from oldfriend.search.synonyms import list_key_synonyms
from oldfriend.search.time_query import find_recap_spans, is_recap_query
from oldfriend.search.types import SearchQuery
from oldfriend.turn.later_messages import is_short_correction
from oldfriend.turn.quotes import SENTENCE_BREAK
from oldfriend.turn.recalled import RecalledBelief
from oldfriend.turn.receipt_items import CORE_BLOCK_KEY
from oldfriend.turn.retrieval import get_utc_offset_s, load_known_with_evidence
from oldfriend.turn.turn_outcome import Utterance

MIN_TERM_OVERLAP: Final = 0.6
"""A line answers a question if it holds at least this share of its content terms."""
WEEK: Final = timedelta(days=7)
MIN_TELLING: Final = 0.25
"""Probability of a message to state something, from which it belongs to what was told."""
MAX_TOLD_THEN: Final = 500
"""Messages of a time span that are looked at, the newest."""


def answer_from_core_block(question: str, language: str, blocks: Sequence[CoreBlock]) -> str:
    """Return the lines that answer the question, as they stand; empty if none does."""
    own = next((block.text for block in blocks if block.name == "user"), "")
    lines = [line for part in SENTENCE_BREAK.split(own) if (line := " ".join(part.split()))]
    requested = find_requested_attribute(question)
    if requested is not None and (requested.is_past or requested.is_promise):
        return ""
    return " ".join(line for line in lines if is_answer_line(line, question, requested, language))


def is_answer_line(
    line: str, question: str, matter: RequestedAttribute | None, language: str
) -> bool:
    """Tell whether a line answers: by words for a requested key, else by shared terms."""
    line_language = detect_language(line, fallback=language)
    if matter is not None and matter.is_own and not matter.is_favourite:
        return has_key_word(line, matter, line_language)
    asked = extract_content_terms(question, language)
    return bool(asked) and len(
        asked & extract_content_terms(line, line_language)
    ) >= MIN_TERM_OVERLAP * len(asked)


def has_key_word(line: str, matter: RequestedAttribute, language: str) -> bool:
    """Tell whether a person's line about themselves holds a word for the requested key."""
    if matter.required_words:
        return matter.can_match_text(line)
    synonyms = frozenset(word for key in matter.keys for word in list_key_synonyms(key, language))
    return has_any_word(synonyms, line) and not is_only_about_kin(line, language)


MAX_MESSAGES_BACK = 6
"""The most messages to go back for the last reply."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplySources:
    """What a reply rests on."""

    beliefs: tuple[RecalledBelief, ...] = ()
    messages: tuple[Message, ...] = ()
    core_block_text: str = ""  # what the person wrote about themselves, as quoted
    core_block_message_id: str = ""  # the message it answered

    @property
    def is_empty(self) -> bool:
        """Tell whether the reply rests on nothing remembered."""
        return not (self.beliefs or self.messages or self.core_block_text)


NO_REPLY_SOURCES = ReplySources()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldThen:
    """What was told at a time that is asked about."""

    messages: tuple[Message, ...]
    is_recap: bool  # it was asked what was said, rather than what happened


@dataclass(frozen=True, slots=True, kw_only=True)
class PastBeliefs:
    """What was believed at the end of a day or of another time span."""

    at: Micros
    memories: tuple[StoredBelief, ...]


async def load_previous_sources(tx: Transaction, utterance: Utterance) -> ReplySources:
    """Return what the last reply in this chat rests on: beliefs with evidence, and messages."""
    person = utterance.person.id
    recent = await list_recent_messages(tx, person, utterance.message.chat, limit=MAX_MESSAGES_BACK)
    replies = [message.id for message in recent if message.role == "companion"]
    receipt = await find_receipt(tx, person, replies[-1]) if replies else None
    if receipt is None:
        return NO_REPLY_SOURCES
    used = [item for item in receipt.items if item.used]
    states = [await find_known(tx, person, item.object) for item in used if item.kind == "memory"]
    beliefs = await load_known_with_evidence(
        tx, person, [each for each in states if each is not None]
    )
    messages = [
        await find_current_message(tx, person, item.object)
        for item in used
        if item.kind == "message"
    ]
    question = str(receipt.details.get(CORE_BLOCK_KEY) or "")
    return ReplySources(
        beliefs=beliefs,
        messages=tuple(each for each in messages if each is not None),
        core_block_text=await load_core_block_answer(tx, receipt, question),
        core_block_message_id=question,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PutRight:
    """What a message has put right."""

    beliefs: tuple[RecalledBelief, ...] = ()  # as they are believed since
    before: tuple[StoredBelief, ...] = ()  # what they replaced
    earlier: tuple[Evidence, ...] = ()  # what was said before it, and is read by it now
    is_understood: bool  # anything is believed because of it
    zone: str

    @property
    def has_changed(self) -> bool:
        """Tell whether anything is believed otherwise since."""
        return bool(self.beliefs and (self.before or self.earlier))


async def load_put_right(tx: Transaction, utterance: Utterance) -> PutRight | None:
    """Return what the message itself has put right of what was said or believed before.

    None if it is not read yet.
    """
    person, own = utterance.person.id, [each.id for each in utterance.messages]
    uncut = await list_uncut_spans(tx, person, session_id=utterance.message.session)
    if any(each.first_seq <= utterance.message.seq for each in uncut):
        return None
    resting = await list_supported_objects(tx, person, own)
    ids = sorted({each for found in resting.values() for each in found})
    states = [await find_known(tx, person, each) for each in ids]
    live = [each for each in states if each is not None and each.memory.is_live]
    understood = await load_known_with_evidence(tx, person, live)
    worded = tuple(each for each in understood if find_own_words(each, utterance))
    beliefs = worded or understood
    earlier = {each: list_changed_evidence(each, utterance) for each in beliefs}
    is_new = {
        each: bool(earlier[each]) or all(words.message in own for words in each.evidence)
        for each in beliefs
    }
    replaced = [
        await find_known(tx, person, link.target)
        for each in beliefs
        for link in each.state.memory.relations
        if link.kind == "supersedes" and is_new[each]
    ]
    return PutRight(
        beliefs=tuple(each for each in beliefs if is_new[each]),
        before=tuple(each.memory for each in replaced if each is not None),
        earlier=tuple(words for found in earlier.values() for words in found),
        is_understood=bool(understood),
        zone=utterance.message.zone,
    )


def find_own_words(belief: RecalledBelief, utterance: Utterance) -> set[str]:
    """Return the words of a belief that the message itself holds."""
    text, said = belief.state.memory.text, utterance.own_words
    told, own = ({each.word for each in tokenize_statement(words)} for words in (text, said))
    return told & own


def list_changed_evidence(belief: RecalledBelief, utterance: Utterance) -> list[Evidence]:
    """Return what was said earlier of a belief without a word that this message gives it.

    A message that gives it no word has put right what is written otherwise, such as its day.
    """
    own = {each.id for each in utterance.messages}
    told = find_own_words(belief, utterance)
    return [
        each
        for each in belief.evidence
        if each.message not in own
        and not (told and told <= {word.word for word in tokenize_statement(each.quote)})
    ]


async def load_core_block_answer(tx: Transaction, receipt: Receipt, question: str) -> str:
    """Return the core block lines that answer a message, as they read now."""
    message = await find_current_message(tx, receipt.person, question) if question else None
    if message is None:
        return ""
    blocks = await list_blocks(tx, receipt.person)
    return answer_from_core_block(message.text, str(receipt.details.get("language")), blocks)


async def find_known(tx: Transaction, person: PersonId, memory: str) -> MemoryState | None:
    """Return a belief if it still exists."""
    try:
        return await get_memory_state(tx, person, MemoryId(ObjectId(memory)))
    except NotFound:
        return None


async def find_current_message(tx: Transaction, person: PersonId, message: str) -> Message | None:
    """Return a message as it reads now, if it still exists."""
    try:
        return await get_message(tx, person, MessageId(message))
    except NotFound:
        return None


async def load_past_beliefs(tx: Transaction, utterance: Utterance) -> PastBeliefs | None:
    """Return what was believed at the end of the time the text names; None if it names none."""
    message = utterance.message
    offset_s = get_utc_offset_s(message.at, message.zone)
    spans = parse_date_spans(
        utterance.text, asked_at=message.at, zone_offset_s=offset_s, is_past=True
    )
    if not spans:
        return None
    at = get_span_end(spans[0], offset_s, now=message.at)
    decided = [change.after for change in await list_journal_as_of(tx, utterance.person.id, at)]
    live = [each for each in decided if isinstance(each, StoredBelief) and each.is_live]
    return PastBeliefs(at=at, memories=tuple(each for each in live if each.kind != "note"))


async def load_told_then(
    tx: Transaction, utterance: Utterance, question: SearchQuery, *, is_happening_known: bool
) -> ToldThen | None:
    """Return what was told at the time that is all that a question asks about, oldest first."""
    now, told = utterance.message.at, list[Message]()
    spans = find_recap_spans(question, is_happening_known=is_happening_known)
    for span in spans:
        found = await list_told(tx, utterance, question, span)
        if span.is_weekday and not found and lasts(span, question.zone_offset_s, now=now):
            week_before = replace(span, first=span.first - WEEK, end=span.end - WEEK)
            found = await list_told(tx, utterance, question, week_before)
        told += found
    unique = {each.id: each for each in told}.values()
    return (
        ToldThen(messages=tuple(unique), is_recap=is_recap_query(question, spans)) if told else None
    )


async def list_told(
    tx: Transaction, utterance: Utterance, question: SearchQuery, span: DateSpan
) -> list[Message]:
    """Return what the person told in a time span, oldest first."""
    now = utterance.message.at
    said = await list_messages(
        tx,
        utterance.person.id,
        since=get_span_start(span, question.zone_offset_s, now=now),
        until=get_span_end(span, question.zone_offset_s, now=now),
        limit=MAX_TOLD_THEN,
    )
    return [
        each for each in said if each.trust == "person" and is_telling(each.text, each.language)
    ]


def is_telling(text: str, language: str | None) -> bool:
    """Tell whether a message tells something, rather than only asks, orders or greets.

    What puts right tells, too, however short it is: "Mia, not Miso".
    """
    is_statement = classify_act(text)["statement"] >= MIN_TELLING
    return is_statement or is_short_correction(text, {language or ""})


def get_span_start(span: DateSpan, offset_s: int, *, now: Micros) -> Micros:
    """Return the first moment of a time span; of one to come, that of the year before."""
    first = to_micros(to_utc_midnight(span.first))
    first = first if first <= now else to_micros(to_utc_midnight(subtract_year(span.first)))
    return first - offset_s * SECOND


def get_span_end(span: DateSpan, offset_s: int, *, now: Micros) -> Micros:
    """Return the last moment of a past time span; now for one that still lasts."""
    end = span.end if to_micros(to_utc_midnight(span.first)) <= now else subtract_year(span.end)
    return min(now, to_micros(to_utc_midnight(end)) - offset_s * SECOND - 1)


def lasts(span: DateSpan, offset_s: int, *, now: Micros) -> bool:
    """Tell whether a time span has not ended yet."""
    return to_micros(to_utc_midnight(span.end)) - offset_s * SECOND > now


def to_utc_midnight(day: date) -> datetime:
    """Return the beginning of a day in UTC."""
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def subtract_year(day: date) -> date:
    """Return roughly the same day a year earlier."""
    return day - timedelta(days=365)
