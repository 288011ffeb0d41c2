"""Later messages: what was said after recalled messages that may have changed what they say.

Reads the database; never writes.
"""

import math
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date
from itertools import islice
from typing import Final

from oldfriend.db.database import Database
from oldfriend.diary.diary_reader import read_entry
from oldfriend.domain.clock import from_micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import MessageId
from oldfriend.domain.messages import MAX_SENTENCE_CHARS, Message, Person
from oldfriend.lang.language_pack import get_traits
from oldfriend.lang.message_acts import classify_act
from oldfriend.lang.number_words import write_digits
from oldfriend.lang.update_detection import compute_update_logit
from oldfriend.memory.message_log import (
    get_message,
    list_messages_by_seq,
    list_recent_messages,
)
from oldfriend.memory.restatement_detection import (
    find_denied_value,
    has_correction_words,
    is_marked_correction,
)
from oldfriend.prompts.locale_phrases import choose_language, load_phrases
from oldfriend.search import Reason, ScoredMessage, list_later_links
from oldfriend.search.date_parser import DateSpan
from oldfriend.search.later_links import LaterLink, extract_link_terms, weigh_update
from oldfriend.search.message_scope import list_within_scope
from oldfriend.search.question_patterns import has_any_word
from oldfriend.search.score import give_score
from oldfriend.search.time_query import parse_query_spans
from oldfriend.turn.attribution.quoted_spans import blank_spans, find_borrowed_spans
from oldfriend.turn.attribution.spans import find_sentences
from oldfriend.turn.intent import (
    PUNCTUATION_FOLDING,
    Perception,
    find_words_behind_pleasantry,
    normalize_phrase,
)
from oldfriend.turn.message_subjects import is_of_other_subject
from oldfriend.turn.neighbors import is_asking, is_requesting
from oldfriend.turn.offline_ranking import compute_change_logit, compute_fused_score
from oldfriend.turn.recalled import (
    LaterMessage,
    RecalledBelief,
    RecalledItem,
    RecalledMessage,
    RecallQuery,
    RecallResult,
    SearchDeps,
    get_item_id,
)
from oldfriend.turn.retrieval import build_question
from oldfriend.turn.statement_detection import NAME_WITHIN
from oldfriend.turn.turn_outcome import Utterance

NUMBER: Final = re.compile(r"\d{1,18}")
MAX_LATER: Final = 2
"""The most later messages of one message."""
MAX_COMPARED: Final = 8
"""Later messages that are looked at for one message; some only ask, or do not tell of a change."""
MAX_COMPARED_FOR_PROMPT: Final = 2
"""The same, for a prompt, which shows more of what was said, and is wanted at once."""
MAX_FOLLOWED: Final = 5
"""The most messages, and the most beliefs, whose later messages are looked for."""
MIN_LOGIT: Final = -6.0
"""The least logit of a later message that may be told beside what it may have changed."""
NO_CHANGE_LOGIT: Final = -4.0
"""The logit that nothing said later changes a message: among few, an unlikely one may be it."""
MIN_SHARE: Final = 0.25
"""The least probability of a later message, among those compared and none, beside an answer."""
MIN_SHARE_OF_HIT: Final = 0.3
"""The same, beside a message that was searched for, where a wrong one would mislead."""
MIN_PROBABLE_LOGIT: Final = -1.2
"""The same, in a prompt, where every line costs."""
CORRECTION_LOGIT: Final = 0.0
"""The least logit of a message that says that something was wrong, soon after another."""
MIN_CORRECTION: Final = -1.5
"""The least logit, of an update, of what begins as a correction; all but 1 in 100 have it."""
MIN_CHANGE_OF_SURE: Final = -5.4
"""The logit of a change from which nothing is told as sure; lower than where it is told."""
MIN_UPDATE_OF_OTHER: Final = -1.5
"""The logit of an update, below which a message about another subject changes nothing; 1 of 1400
messages that changed one, of which 40 seem to be of another subject, had less."""
MAX_SUBJECT_CHARS: Final = 500
"""Of a longer message it is not asked whom and what it is about."""
MAX_BESIDE: Final = 2
"""Words with a matter behind thanks or a greeting that are no more than that: "most kind"."""
MAX_UPDATE_GAIN: Final = 2.0
"""By so much a message that reads like an update may be likelier than what both share says."""
MAX_BEFORE: Final = 4  # messages just before, of which one may say that something was wrong
MAX_BETWEEN: Final = 8
"""Messages just before a correction, of which one may be what it corrects."""
MIN_SHARED, MIN_SHARED_UNSPACED = 1, 3
"""Words, and characters where no space parts words, by which more a correction shares with what it
corrects than with another message. Twice as many tell without words of a correction. Of the 1,010
changes in `corrections/` two are so taken to be of something else."""


async def add_later_messages(
    search_deps: SearchDeps, person: Person, query: RecallQuery, result: RecallResult
) -> RecallResult:
    """Return the result with what was said after its best messages and its beliefs' evidence.

    A message is no sure answer if a later one may have changed what it says. Who asks about a past
    time is told what was said then.
    """
    if asks_about_past_time(person, query):
        return result
    ranked = sorted(result.messages, key=lambda each: -compute_fused_score(each))
    messages = await list_followed(search_deps, person, [*ranked, *result.beliefs])
    later = await list_later_messages(
        search_deps, person, messages, query, min_logit=MIN_LOGIT, min_share=MIN_SHARE
    )
    later, beside = await leave_out_beside(
        search_deps, person, query, [each.message for each in ranked[:MAX_FOLLOWED]], later
    )
    is_changed = any(
        each.changed == result.sure_message
        and compute_change_logit(each, result) >= MIN_CHANGE_OF_SURE
        for each in later
    )
    return replace(
        result,
        later_messages=later,
        beside=beside,
        sure_message=None if is_changed else result.sure_message,
    )


async def leave_out_beside(
    search_deps: SearchDeps,
    person: Person,
    query: RecallQuery,
    ranked: Sequence[Message],
    later: Sequence[LaterMessage],
) -> tuple[tuple[LaterMessage, ...], frozenset[MessageId]]:
    """Return later messages without those that put right another message than the best one.

    And the ids of these, and of what they put right: "no wait, it's Dr Bell! that's Greg's".
    """
    if not ranked:
        return (*later,), frozenset()
    best, *_ = ranked
    found = {each.recalled.message.id: each.recalled.message for each in later}
    found |= {each.id: each for each in ranked}
    beside: set[MessageId] = set()
    corrections = set[MessageId]()
    for each in found.values():
        if each.seq > best.seq and each.role == best.role:
            before = await list_just_before(search_deps, person, query, each, since=best)
            corrected = find_corrected_instead(each, best, before, query.text)
            if corrected is not None:
                beside |= {each.id, corrected.id}
                corrections.add(each.id)
    kept = (
        each
        for each in later
        if each.changed != best.id or each.recalled.message.id not in corrections
    )
    return tuple(kept), frozenset(beside)


async def list_just_before(
    search_deps: SearchDeps, person: Person, query: RecallQuery, message: Message, *, since: Message
) -> list[Message]:
    """List the few messages of the speaker's before one, and after another, the newest first."""
    async with search_deps.db.begin_read() as tx:
        index = await search_deps.index_cache.get_message_index(
            tx, person.id, exclude=query.answered_seqs
        )
        columns = index.columns
        is_between = (columns.seq > since.seq) & (columns.seq < message.seq) & ~columns.is_companion
        seqs: list[int] = columns.seq[is_between][-MAX_BETWEEN:].tolist()
        found = await list_messages_by_seq(tx, person.id, seqs)
    return sorted(found, key=lambda each: -each.seq)


def find_corrected_instead(
    message: Message, best: Message, before: Iterable[Message], question: str
) -> Message | None:
    """Return which of the messages before it a correction is rather of than of the best one.

    It shares more with that one. What is asked for is in all that the question finds, and so does
    not count.
    """
    language = message.language or ""
    is_marked = begins_as_correction(message.text, {language, best.language or ""})
    told, asked = (extract_link_terms(each, language) for each in (message.text, question))
    known = extract_link_terms(best.text, best.language or "")
    least = MIN_SHARED if get_traits(language).spaces else MIN_SHARED_UNSPACED
    least = least if is_marked else 2 * least
    for each in before:
        terms = extract_link_terms(each.text, each.language or "")
        own = (known & told) - terms - asked
        if len((terms & told) - known - asked) >= len(own) + least:
            return each
    return None


async def list_later_by_item(
    search_deps: SearchDeps, person: Person, query: RecallQuery, items: Sequence[RecalledItem]
) -> dict[str, tuple[Message, ...]]:
    """List by id for the best messages and beliefs what was said later and probably changed them.

    The newest is first. A belief is as old as its last evidence.
    """
    if asks_about_past_time(person, query):
        return {}
    followed = await list_followed(search_deps, person, items)
    later = await list_later_messages(
        search_deps,
        person,
        followed,
        query,
        min_logit=MIN_LOGIT,
        min_share=MIN_SHARE_OF_HIT,
    )
    found: dict[MessageId, list[Message]] = {}
    for each in sorted(later, key=lambda each: -each.recalled.message.at):
        found.setdefault(each.changed, []).append(each.recalled.message)
    messages = {get_item_id(each): find_last_message_id(each) for each in items}
    return {
        item: tuple(found[message])
        for item, message in messages.items()
        if message is not None and message in found
    }


def asks_about_past_time(person: Person, query: RecallQuery) -> bool:
    """Tell whether a query names a time that is over, and so asks for what was so then."""
    spans = parse_query_spans(build_question(query, person, None))
    return bool(spans) and are_over(spans, from_micros(query.at, person.zone).date())


def are_over(spans: Iterable[DateSpan], today: date) -> bool:
    """Tell whether all spans of time are over; a month of no named year may come again."""
    return all(each.end <= today and not each.is_any_year for each in spans)


async def add_later_to_ranking(
    search_deps: SearchDeps, person: Person, ranking: Sequence[RecalledItem], query: RecallQuery
) -> tuple[RecalledItem, ...]:
    """Return the ranking with what probably changed the best of it just after them."""
    messages = await list_followed(search_deps, person, ranking)
    later = await list_later_messages(
        search_deps,
        person,
        messages,
        query,
        min_logit=MIN_PROBABLE_LOGIT,
        limit=MAX_COMPARED_FOR_PROMPT,
    )
    if not later:
        return tuple(ranking)
    known = {get_item_id(each): each for each in ranking}
    changes: dict[MessageId | None, list[RecalledItem]] = {}
    for found in later:
        item = known.get(found.recalled.message.id, found.recalled)
        changes.setdefault(found.changed, []).append(item)
    completed: dict[str, RecalledItem] = {}
    for each in ranking:
        for item in (each, *changes.get(find_last_message_id(each), ())):
            completed.setdefault(get_item_id(item), item)
    return tuple(completed.values())


async def list_followed(
    search_deps: SearchDeps, person: Person, items: Sequence[RecalledItem]
) -> list[Message]:
    """Return the best messages, and the last evidence of the best beliefs."""
    messages = [each.message for each in items if isinstance(each, RecalledMessage)]
    told = messages[:MAX_FOLLOWED]
    beliefs = [each for each in items if isinstance(each, RecalledBelief)][:MAX_FOLLOWED]
    ids = dict.fromkeys(map(find_last_message_id, beliefs))
    async with search_deps.db.begin_read() as tx:
        for each in ids:
            if each is not None:
                with suppress(NotFound):  # deleted since
                    told.append(await get_message(tx, person.id, each))
    return told


def find_last_message_id(item: RecalledItem) -> MessageId | None:
    """Return the id of a message, or of the last evidence of a belief that has some."""
    if isinstance(item, RecalledMessage):
        return item.message.id
    return item.evidence[-1].message if item.evidence else None


async def list_later_messages(
    search_deps: SearchDeps,
    person: Person,
    messages: Iterable[Message],
    query: RecallQuery,
    *,
    min_logit: float,
    min_share: float = 0.0,
    limit: int = MAX_COMPARED,
) -> tuple[LaterMessage, ...]:
    """List the messages that may have changed what some say, of each the likeliest first.

    As many are looked at for each as the limit says, and those right after it.
    """
    followed = {each.seq: each for each in messages}
    hidden = {*query.excluded_seqs, *query.answered_seqs}
    async with search_deps.db.begin_read() as tx:
        index = await search_deps.index_cache.get_message_index(
            tx, person.id, exclude=query.answered_seqs
        )
        links = list_later_links(
            index,
            {each.seq: extract_link_terms(each.text, each.language) for each in followed.values()},
            excluded_seqs=hidden,
            limit=limit,
        )
        seqs = {
            link.seq
            for found in links.values()
            for link in found
            if link.logit >= min_logit - MAX_UPDATE_GAIN or link.is_next
        }
        if query.scope is not None:
            seqs = list_within_scope(index, query.scope, seqs)
        loaded = await list_messages_by_seq(tx, person.id, sorted(seqs))
    by_seq = {each.seq: each for each in loaded}
    likely = (
        LaterMessage(
            changed=followed[changed].id,
            recalled=build_later(message),
            logit=logit,
            among=link.among,
            shares_matter=has_common_terms(message, followed[changed], query.text),
        )
        for changed, found in links.items()
        for link in found
        if (message := by_seq.get(link.seq)) is not None
        # Three of four are unlikely, and reading the words of both takes far longer than the logit.
        and (logit := weigh_link(link, message, followed[changed], min_logit=min_logit))
        >= min_logit
        and not is_beside(message, followed[changed], query.text)
    )
    return tuple(select_likeliest(likely, min_share))


def has_common_terms(message: Message, changed: Message, question: str = "") -> bool:
    """Tell whether two messages have a content word in common that a question does not hold."""
    one, other = (extract_link_terms(each.text, each.language) for each in (message, changed))
    asked = extract_link_terms(question[:MAX_SUBJECT_CHARS], message.language)
    return not (one & other).issubset(asked)


def weigh_link(link: LaterLink, message: Message, changed: Message, *, min_logit: float) -> float:
    """Return the logit of a link: greater if the message soon after says that something was wrong.

    Such a correction often has no word of what it corrects, and is too short for its language to be
    recognized, or to read like an update: "wait, no, it's Regina".
    """
    may_reach = link.logit >= min_logit - MAX_UPDATE_GAIN
    entry = read_entry(message.text, message.language or "")
    text = message.text if entry is None or not entry.text else entry.text
    logit = weigh_update(link, text) if may_reach else link.logit
    return max(logit, CORRECTION_LOGIT) if is_correction_of(link, message, changed) else logit


def is_beside(message: Message, changed: Message, question: str) -> bool:
    """Tell whether a message only makes small talk, which shares no word with another.

    Or asks for something, or is about another subject, or puts right what the other does not say:
    "31, not 30", where it tells no 30.
    """
    languages = {message.language, changed.language}
    if denies_other_value(message, changed):
        return True
    if is_short_correction(message.text, languages):
        return False
    if is_requesting(message):
        return True
    if is_about_another(message, changed) and not has_common_terms(message, changed, question):
        return True
    if has_common_terms(message, changed):
        return False
    if NAME_WITHIN.search(message.text) and (get_traits(message.language).name_capitals != "nouns"):
        return False  # "thanks, but call me Lu"
    acts = classify_act(message.text)
    if acts["smalltalk"] > acts["statement"]:
        return True
    behind = find_words_behind_pleasantry(message.text, languages)
    terms = None if behind is None else extract_link_terms(behind, message.language)
    return terms is not None and len(terms) <= MAX_BESIDE


def is_about_another(message: Message, changed: Message) -> bool:
    """Tell whether a message is about another subject, and does not read like an update."""
    if max(len(message.text), len(changed.text)) > MAX_SUBJECT_CHARS:
        return False
    return compute_update_logit(message.text) < MIN_UPDATE_OF_OTHER and is_of_other_subject(
        message.text, message.language or "", changed.text, changed.language or ""
    )


def denies_other_value(message: Message, changed: Message) -> bool:
    """Tell whether a message denies a number or name that the earlier message does not hold."""
    denied = find_denied_value(message.text, message.language)
    if denied is None:
        return False
    told = write_digits(changed.text, changed.language).casefold()
    numbers = NUMBER.findall(denied)
    if numbers:  # a unit may be attached: "5pm", "10km", "30yo"
        return not {*map(int, numbers)} <= {*map(int, NUMBER.findall(told))}
    return not has_any_word(frozenset({denied}), told)


def is_correction_of(link: LaterLink, message: Message, changed: Message) -> bool:
    """Tell whether a message came soon after another in its chat, and says that it was wrong."""
    languages = {message.language, changed.language}
    is_after = link.is_next and message.chat == changed.chat
    return is_after and is_short_correction(message.text, languages)


def may_put_right(perception: Perception, before: Sequence[Message] = ()) -> bool:
    """Tell whether a message is no question and begins like a correction, or is marked as one.

    Or tells how it is, where the person's message just before it only says that it was wrong.
    """
    languages = {perception.language, perception.detected_language or perception.language}
    is_told = perception.intent == "statement" or perception.may_be_statement
    own = [each for each in before if each.role == "person"][-1:]
    is_after_denial = any(is_denial(each.text, each.language) for each in own)
    return perception.intent == "correct" or (
        is_told and (is_after_denial or begins_as_correction(perception.text, languages))
    )


async def is_putting_right(db: Database, utterance: Utterance, perception: Perception) -> bool:
    """Tell whether a message may put right what was said, in view of what was said just before."""
    if may_put_right(perception):
        return True
    person, message = utterance.person.id, utterance.message
    async with db.begin_read() as tx:
        before = await list_recent_messages(
            tx, person, message.chat, limit=MAX_BEFORE, before=message.seq
        )
    return may_put_right(perception, before)


def is_denial(text: str, language: str) -> bool:
    """Tell whether a text says that something was wrong, and nothing else."""
    plain = normalize_phrase(text[:MAX_SENTENCE_CHARS].translate(PUNCTUATION_FOLDING), "")
    return load_phrases(choose_language(language)).patterns.wrong.search(plain) is not None


def begins_as_correction(text: str, languages: Collection[str]) -> bool:
    """Tell whether a text begins like a correction, is marked as one, or denies a word."""
    text = text[:MAX_SENTENCE_CHARS]
    return (
        is_marked_correction(text)
        or any(has_correction_words(text, each) for each in languages)
        or any(find_denied_value(text, each) is not None for each in languages)
    )


def is_short_correction(text: str, languages: Iterable[str]) -> bool:
    """Tell whether a text is marked as a correction, or begins and reads like one.

    "No milk in the house" only begins so.
    """
    if is_marked_correction(text):
        return True
    begins_so = any(has_correction_words(text, each) for each in languages)
    return begins_so and compute_update_logit(text) >= MIN_CORRECTION


def select_likeliest(later: Iterable[LaterMessage], min_share: float) -> Iterator[LaterMessage]:
    """Yield the likeliest later messages of each message; one that only asks changes nothing."""
    by_changed: dict[MessageId, list[LaterMessage]] = {}
    for each in sorted(later, key=lambda each: -each.logit):
        by_changed.setdefault(each.changed, []).append(each)
    for found in by_changed.values():
        odds = [math.exp(each.logit) for each in found]
        least = min_share * (math.exp(NO_CHANGE_LOGIT) + sum(odds))
        telling = (
            each
            for each, own in zip(found, odds, strict=True)
            if own >= least and not is_only_asking(each.recalled.message)
        )
        yield from islice(telling, MAX_LATER)


def is_only_asking(message: Message) -> bool:
    """Tell whether a message asks, and does not tell something behind that without a mark.

    What is pasted below a question, such as the mail that it replies to, tells nothing.
    """
    if not is_asking(message):
        return False
    borrowed = find_borrowed_spans(message.text, message.language or "")
    pasted = [each for each in borrowed if each.kind == "pasted"]
    own = blank_spans(message.text, pasted).strip() or message.text
    *_, last = find_sentences(own) or (None,)
    return last is None or is_asking(replace(message, text=last.text))


def build_later(message: Message) -> RecalledMessage:
    """Return a later message as recalled."""
    reason = Reason(cause="session", strength=0.2)
    hit = ScoredMessage(seq=message.seq, score=give_score(0.0, reason))
    return RecalledMessage(message=message, hit=hit)
