"""Offline ranking: selects the recalled messages and beliefs that answer a question.

For the offline companion, which quotes nothing rather than something beside the point.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import date
from typing import Final

from oldfriend.domain.belief_kinds import FUTURE_KINDS
from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.ids import MessageId
from oldfriend.domain.memories import Entity, StoredBelief
from oldfriend.domain.messages import Message
from oldfriend.domain.relations import RELATION_KEY, RELATION_KEY_SUFFIX
from oldfriend.lang.language_pack import get_traits
from oldfriend.memory.restatement_detection import find_restatement
from oldfriend.search import list_named_entities
from oldfriend.search.attribute_lookup import list_kin_names
from oldfriend.search.name_index import has_lookalike_only
from oldfriend.search.preference_intent import is_opposite_text
from oldfriend.search.question_patterns import RequestedAttribute, has_any_word
from oldfriend.search.shared_topics import extract_content_terms
from oldfriend.search.subject_query import is_only_about_kin
from oldfriend.search.synonyms import ROLE_KEYS, list_key_synonyms
from oldfriend.search.tense import is_about_past, strip_past_words
from oldfriend.search.tokenizer import is_unspaced, tokenize
from oldfriend.turn.message_subjects import is_of_another_subject
from oldfriend.turn.recalled import (
    LaterMessage,
    RecalledBelief,
    RecalledItem,
    RecalledMessage,
    RecallResult,
    get_score,
)

BETTER_RATIO = 0.75
"""Messages win over beliefs whose probability of answering is below this share of theirs."""
MATCHING_CAUSES: Final = frozenset(
    {"words", "words_like", "meaning", "date", "said_by", "mentions", "answers"}
)
"""Reasons for which a message itself matches, and not only what is around it."""
CERTAIN_LOGIT: Final = 3.0
"""The reader's logit from which a message is shown whatever the rules say of it."""
CERTAIN_SCORE: Final = 0.9
"""The search's score from which a message with words of the question is close."""
CLOSE_LOGIT: Final = -1.0
"""The reader's logit from which a message is close, whatever its score."""
MIN_SCORE_OF_TIME: Final = 1e-12
"""The search's score, below which a message is not of the time that alone is asked about."""
MIN_SHARED_TERMS: Final = 0.1
"""Of the content words of the shorter of two messages, from which they may be about the same."""
FAR_LOGIT: Final = -5.0
"""The reader's logit below which a message is not close, whatever its score; those that answered
questions of three lives had -2.5 and more."""
READER_WEIGHT: Final = 2.0
"""Of the reader's logit, added to the logarithm of the search's score."""
MIN_SCORE: Final = 1e-6
CHANGE_LOGIT: Final = -2.0
"""The reader's logit from which a later message may tell another answer than a message."""
BELIEF_CHANGE_LOGIT: Final = 0.0
"""The same, of a belief: it was read out of its message, and is wrong less often."""
MAX_BEHIND: Final = 10.0
"""By how much of the fused score a later answer may stand behind the best one. What stood further
behind told 1 of 100 changes, and answered 1 of 100 questions."""
MAX_CLOSE_BEHIND: Final = 12.0  # the same, from which a message is not close beside the best one
READING_WEIGHT: Final = 0.2
"""Of the reader's logit of a later message, added to the logit that it changes another."""
UNREAD_LOGIT: Final = -6.0
"""The reader's logit of a later message that the search did not even find."""
MIN_CHANGE: Final = -4.4
"""The logit of a change, among all later messages, from which it is told beside what it may have
changed: 93 to 99 of 100 corrections are, and 11 or 12 of 100 other messages of a short history."""
MAX_LATER: Final = 2
"""Later messages that are told beside what they may have changed."""
RANK_PENALTY: Final = 1.0
"""Taken from the logit of a later message for each message that is better than what it changes."""
MIN_CLOSE: Final = 0.3
"""The search's probability of an answer, from which what is close is shown."""
MIN_READER: Final = 0.03
MIN_SEARCH_ALONE: Final = 0.6
"""The same, where the reader's probability is below MIN_READER."""
MIN_READER_ALONE: Final = 0.5
MIN_SEARCH_BESIDE: Final = 0.1
"""The same, where the reader's probability is at least MIN_READER_ALONE."""
MAX_STATEMENT_CHARS = 160
"""Characters; a longer message says more than what is corrected."""


def list_rewritten_beliefs(recall_result: RecallResult) -> list[RecalledBelief]:
    """Return the beliefs that the person rewrote after the best answering message."""
    if not (recall_result.is_answerable and recall_result.messages):
        return []
    best = recall_result.messages[0].message.id
    return [each for each in recall_result.beliefs if best in each.outdated_messages]


def can_answer(belief: RecalledBelief, matter: RequestedAttribute | None) -> bool:
    """Tell whether a belief that is no value of the requested attribute may answer."""
    memory = belief.state.memory
    if memory.is_plain_quote:  # its message is found, too
        return False
    return matter is None or not (memory.key or memory.kind in FUTURE_KINDS)


def is_only_relation(belief: RecalledBelief) -> bool:
    """Tell whether a belief only tells who somebody is, matched by their name alone."""
    is_relation = belief.state.memory.key.endswith(RELATION_KEY_SUFFIX)
    return is_relation and has_only_names(belief)


def tells_role(belief: RecalledBelief) -> bool:
    """Tell whether a belief only tells who plays a role: a daughter, or a dog."""
    bare = belief.state.memory.key.rpartition(":")[2]
    return bare == RELATION_KEY or bare in ROLE_KEYS


def has_named_entity(recalled: RecalledMessage, recall_result: RecallResult) -> bool:
    """Tell whether a message mentions somebody whom the question names."""
    return bool(list_named_entities(recalled.message.text, recall_result.named_entities))


def can_answer_past(recalled: RecalledMessage, recall_result: RecallResult) -> bool:
    """Tell whether a message is about the past, or from the time asked about."""
    if recall_result.is_about_before_now:
        return is_about_past(recalled.message.text) and has_more_than_past(recalled)
    return any(reason.cause == "date" for reason in recalled.hit.reasons)


def has_more_than_past(recalled: RecalledMessage) -> bool:
    """Tell whether a message matches more of the question than that it is about the past.

    A question about a former home is not answered by a former saxophone.
    """
    folded_text = recalled.message.text.casefold()
    rest = strip_past_words(folded_text)
    words = [word for each in recalled.hit.reasons if each.cause == "words" for word in each.words]
    is_close = any(each.cause == "meaning" for each in recalled.hit.reasons)
    return is_close or any(word in rest or word not in folded_text for word in words)


def has_better_messages(recall_result: RecallResult) -> bool:
    """Tell whether messages answer so much better that no belief should be given."""
    if not (recall_result.is_answerable and recall_result.messages):
        return False
    by_messages = recall_result.answer_probability
    by_beliefs = recall_result.belief_answer_probability
    if has_only_names(recall_result.beliefs[0], recall_result.named_entities):
        if any(is_close_by_reader(each) for each in recall_result.messages):
            return True
        return by_messages > by_beliefs * BETTER_RATIO
    return by_messages * BETTER_RATIO > by_beliefs


def compute_fused_score(recalled: RecalledMessage) -> float:
    """Return how well a message answers: by the search's score and the reader's."""
    logit = 0.0 if recalled.reading is None else recalled.reading.logit
    return math.log(max(recalled.hit.score.value, MIN_SCORE)) + READER_WEIGHT * logit


def list_later_answers(
    messages: Sequence[RecalledMessage], since: Micros, min_logit: float = CHANGE_LOGIT
) -> list[RecalledMessage]:
    """List the messages after a time that answer nearly as well as the best, the newest first.

    What the companion said changes nothing.
    """
    best = max(map(compute_fused_score, messages), default=0.0)
    later = (
        each
        for each in messages
        if each.message.at > since
        and each.message.role != "companion"
        and each.reading is not None
        and each.reading.logit >= min_logit
        and compute_fused_score(each) >= best - MAX_BEHIND
    )
    return sorted(later, key=lambda each: -each.message.at)


def list_possible_changes(
    beliefs: Iterable[RecalledBelief], recall_result: RecallResult
) -> list[RecalledMessage]:
    """List the messages that may tell another state than beliefs, which the person did not set."""
    known = [*beliefs]
    if recall_result.is_about_past or any(each.state.memory.is_by_person for each in known):
        return []
    since = max(each.state.stats.last_seen for each in known)
    later = list_later_answers(recall_result.messages, since, BELIEF_CHANGE_LOGIT)
    return [each for each in later if not is_of_another_subject(each, recall_result)]


def list_later_than_beliefs(
    used: Sequence[RecalledItem], recall_result: RecallResult
) -> list[RecalledMessage]:
    """List the messages that may have changed what an answer's beliefs tell, the newest first.

    The likeliest by what they share with the evidence, and by the reader. None where the past is
    asked about, or the answer rests on messages.
    """
    beliefs = [each for each in used if isinstance(each, RecalledBelief)]
    known = [each for each in beliefs if may_have_changed(each.state.memory)]
    believed = {quote.message for each in beliefs for quote in each.evidence}
    if not known or len(beliefs) < len(used) or recall_result.is_about_past:
        return []
    told = max(each.state.stats.last_seen for each in beliefs)
    evidence = [each.evidence[-1].message for each in known if each.evidence]
    ranked = rank_later(evidence, recall_result)
    far = {each.message.id for each in recall_result.messages if is_far_by_reader(each)}
    linked = [each for each in ranked if each.message.at > told and each.message.id not in far]
    read = [
        each
        for each in list_later_answers(recall_result.messages, told)
        if not is_of_another_subject(each, recall_result)
    ]
    unread = [
        each for each in merge_linked_and_read(linked, read) if each.message.id not in believed
    ]
    return list_newest(unread, limit=MAX_LATER)


def list_newest_first(
    closest: Sequence[RecalledMessage], recall_result: RecallResult
) -> list[RecalledMessage]:
    """List messages that may answer with what may have changed what they say, the newest first.

    What is about something else, and was put right, is last.
    """
    ids = [each.message.id for each in closest]
    linked = rank_later(ids, recall_result)
    read = [
        each
        for each in list_later_answers(recall_result.messages, closest[0].message.at)
        if may_be_change(each, recall_result)
    ]
    others = [each for each in merge_linked_and_read(linked, read) if each.message.id not in ids]
    later = list_newest(others, limit=MAX_LATER)
    told = list_newest([*closest, *later], limit=len(closest) + len(later))
    return sorted(told, key=lambda each: each.message.id in recall_result.beside)


def merge_linked_and_read(
    linked: Sequence[RecalledMessage], read: Iterable[RecalledMessage]
) -> list[RecalledMessage]:
    """Merge what is linked with what the reader takes for an answer, the likeliest first."""
    surest = sorted(read, key=lambda each: 0.0 if each.reading is None else -each.reading.logit)
    return [*linked[:1], *surest[:1], *linked[1:], *surest[1:]]


def rank_later(changed: Sequence[MessageId], recall_result: RecallResult) -> list[RecalledMessage]:
    """Rank what may have changed some messages, given the best first, by how likely it did."""
    ranked = sorted(
        (
            each
            for each in recall_result.later_messages
            if each.changed in changed
            and compute_change_logit(each, recall_result) >= MIN_CHANGE
            and may_be_change(each.recalled, recall_result)
            and (each.shares_matter or not is_of_another_subject(each.recalled, recall_result))
        ),
        key=lambda each: RANK_PENALTY * changed.index(each.changed) - each.logit,
    )
    return [each.recalled for each in ranked]


def compute_change_logit(later: LaterMessage, recall_result: RecallResult) -> float:
    """Return the logit that a later message changes another, by their link and by the reader.

    The more messages came later, the likelier it is that one of them only seems to. That it seems
    to answer nothing counts no more than that it was not found: 3 of 100 changes seem so.
    """
    readings = (
        each.reading.logit
        for each in recall_result.messages
        if each.message.id == later.recalled.message.id and each.reading is not None
    )
    reading = max(next(readings, UNREAD_LOGIT), UNREAD_LOGIT)
    return later.logit + READING_WEIGHT * reading - math.log(max(later.among, 1))


def may_have_changed(memory: StoredBelief) -> bool:
    """Tell whether a belief holds still, and not because the person has worded it."""
    return memory.ended_at is None and not memory.is_by_person


def may_be_change(recalled: RecalledMessage, recall_result: RecallResult) -> bool:
    """Tell whether a later message may change an answer: about whom and what is asked.

    Another promise changes none.
    """
    matter = recall_result.requested_attribute
    return (
        (matter is None or not matter.is_promise)
        and is_about_asked_person(recalled, recall_result)
        and not has_opposite_preference(recalled, recall_result)
    )


def list_newest(messages: Iterable[RecalledMessage], limit: int) -> list[RecalledMessage]:
    """List the first messages, each once, the newest of them first."""
    by_id = {each.message.id: each for each in messages}
    return sorted([*by_id.values()][:limit], key=lambda each: -each.message.at)


def has_shared_terms(one: RecalledMessage, other: RecalledMessage) -> bool:
    """Tell whether two messages share so many content words that they may be about the same."""
    terms, others = (
        extract_content_terms(each.message.text, each.message.language or "")
        for each in (one, other)
    )
    return len(terms & others) >= MIN_SHARED_TERMS * max(1, min(len(terms), len(others)))


def has_newer_message(recall_result: RecallResult) -> bool:
    """Tell whether a message is newer than all beliefs and may tell another state.

    That is, if the reader finds so, or it is the best one and a current state is asked for.
    """
    if list_possible_changes(recall_result.beliefs, recall_result):
        return True
    if not (recall_result.is_asking_for_latest and recall_result.is_answerable):
        return False
    newest = recall_result.messages[0].message.at
    return all(each.state.stats.last_seen < newest for each in recall_result.beliefs)


def has_opposite_preference(recalled: RecalledMessage, recall_result: RecallResult) -> bool:
    """Tell whether a message tells dislikes where likes are asked for, or the reverse."""
    preference = recall_result.preference_intent
    return preference is not None and is_opposite_text(recalled.message.text, preference)


def is_corrected_later(recalled: RecalledMessage, recall_result: RecallResult) -> bool:
    """Tell whether its author corrected a message later; the newer message tells both."""
    old = recalled.message
    return len(old.text) <= MAX_STATEMENT_CHARS and any(
        each.message.at > old.at
        and each.message.author == old.author
        and len(each.message.text) <= MAX_STATEMENT_CHARS
        and find_restatement(each.message.text, old.text, old.language or "") is not None
        for each in recall_result.messages
    )


def has_only_names(belief: RecalledBelief, named: Sequence[Entity] = ()) -> bool:
    """Tell whether a belief about somebody matched no word of the question but their name.

    The names of ``named`` entities count, too.
    """
    words = {word for reason in belief.reasons if reason.cause == "words" for word in reason.words}
    subject, _, _ = belief.state.memory.key.lower().rpartition(":")
    names = set(subject.split())
    for entity in named:
        names.update(word for name in (entity.name, *entity.aliases) for word in tokenize(name))
    return bool(names) and all(
        word in names or (is_unspaced(word) and word in subject) for word in words
    )


def is_close_in_meaning(recalled: RecalledMessage) -> bool:
    """Tell whether a message is similar in meaning."""
    return any(each.cause == "meaning" for each in recalled.hit.reasons)


def can_answer_requested(recalled: RecalledMessage, recall_result: RecallResult) -> bool:
    """Tell whether a message is about what is asked for, or whom: "Eva" for "my sister"."""
    matter, text = recall_result.requested_attribute, recalled.message.text
    if matter is None or matter.can_match_text(text):
        return (
            matter is None
            or bool(matter.required_words)
            or has_more_than_one_character(recalled, matter)
        )
    if matter.is_of_third_party or (matter.is_own and not matter.is_promise):
        return False
    kin_names = list_kin_names((each.state for each in recall_result.beliefs), matter)
    return has_any_word(kin_names, text) or has_named_entity(recalled, recall_result)


def has_more_than_one_character(recalled: RecalledMessage, matter: RequestedAttribute) -> bool:
    """Tell whether a match is more than one character of a script without spaces.

    The 天 of 哪天 does not match a birthday; 住 is enough for a home, since it is a word for
    what is asked.
    """
    language = recalled.message.language or ""
    words = [word for each in recalled.hit.reasons if each.cause == "words" for word in each.words]
    if not get_traits(language).is_cjk or any(len(word) > 1 for word in words):
        return True
    synonyms = frozenset(word for key in matter.keys for word in list_key_synonyms(key, language))
    return has_any_word(synonyms, recalled.message.text)


def is_about_asked_person(recalled: RecalledMessage, recall_result: RecallResult) -> bool:
    """Tell whether a message is about, or by, the person of whom a fact is asked."""
    matter, named, message = (
        recall_result.requested_attribute,
        recall_result.named_entities,
        recalled.message,
    )
    if has_lookalike_only(message.text, message.language or "", named):
        return False
    if matter is not None and matter.is_own and not matter.required_words:
        return not is_only_about_kin(message.text, message.language or "")
    if matter is None or matter.is_own or not named:
        return True
    return has_named_entity(recalled, recall_result) or bool(
        list_named_entities(message.speaker, named)
    )


def is_likely_known(recall_result: RecallResult) -> bool:
    """Tell whether anything recalled may answer: by the search, by the reader, or by both."""
    by_search, by_reader = recall_result.answer_probability, recall_result.reader_probability
    if by_reader is None:
        return by_search >= MIN_CLOSE
    if by_reader < MIN_READER:
        return by_search >= MIN_SEARCH_ALONE
    return by_search >= (MIN_CLOSE if by_reader < MIN_READER_ALONE else MIN_SEARCH_BESIDE)


def is_about_requested(recalled: RecalledMessage, recall_result: RecallResult) -> bool:
    """Tell whether a message is about what is asked for, by the rules or beyond doubt."""
    matter = recall_result.requested_attribute
    may_be_read = matter is None or not matter.is_promise
    return (may_be_read and has_certain_reading(recalled, recall_result)) or can_answer_requested(
        recalled, recall_result
    )


def fits_question(recalled: RecalledMessage, recall_result: RecallResult) -> bool:
    """Tell whether a message is about whom is asked, and still holds."""
    is_about = has_certain_reading(recalled, recall_result) or is_about_asked_person(
        recalled, recall_result
    )
    return is_about and not is_corrected_later(recalled, recall_result)


def has_certain_reading(recalled: RecalledMessage, recall_result: RecallResult) -> bool:
    """Tell whether the reader has hardly a doubt about a message; it always has of glosses."""
    return (
        recalled.reading is not None
        and recalled.reading.logit >= CERTAIN_LOGIT
        and not recall_result.is_gloss_read
    )


def select_close(fitting: Sequence[RecalledMessage], min_score: float) -> list[RecalledMessage]:
    """Return the messages that may answer, and what else scores well and is about the same."""
    best = max(map(compute_fused_score, fitting), default=0.0)
    near = [each for each in fitting if compute_fused_score(each) >= best - MAX_CLOSE_BEHIND]
    close = [each for each in near if is_close(each, min_score)]
    return [
        each
        for each in near
        if each in close
        or (
            get_score(each) >= min_score
            and not is_far_by_reader(each)
            and any(has_shared_terms(each, other) for other in close)
        )
    ]


def is_close(recalled: RecalledMessage, min_score: float) -> bool:
    """Tell whether a message may answer, by the search's score or the reader.

    By its score alone it must match itself, and not only stand near what does.
    """
    if is_close_by_reader(recalled):
        return True
    is_found = get_score(recalled) >= min_score and has_own_match(recalled)
    return is_found and (not is_far_by_reader(recalled) or is_found_by_words(recalled))


def is_found_by_words(recalled: RecalledMessage) -> bool:
    """Tell whether the search is sure of a message by several words.

    It knows that "my sister" is Eva, which the reader does not.
    """
    words = {word for each in recalled.hit.reasons if each.cause == "words" for word in each.words}
    return len(words) > 1 and get_score(recalled) >= CERTAIN_SCORE


def is_close_by_reader(recalled: RecalledMessage) -> bool:
    """Tell whether the reader finds that a message may answer, of the time that is asked about."""
    is_of_time = get_score(recalled) >= MIN_SCORE_OF_TIME
    return is_of_time and recalled.reading is not None and recalled.reading.logit >= CLOSE_LOGIT


def is_far_by_reader(recalled: RecalledMessage) -> bool:
    """Tell whether the reader finds that a message answers nothing of what is asked."""
    return recalled.reading is not None and recalled.reading.logit < FAR_LOGIT


def has_own_match(recalled: RecalledMessage) -> bool:
    """Tell whether a message itself matches the question, and not only what is around it."""
    return not MATCHING_CAUSES.isdisjoint(reason.cause for reason in recalled.hit.reasons)


def select_told(told: Sequence[Message], limit: int) -> list[Message]:
    """Return some messages of a time span in their order, the longest of each day before others."""
    by_day: defaultdict[date, list[Message]] = defaultdict(list)
    for each in sorted(told, key=lambda each: -len(each.text)):
        by_day[from_micros(each.at, each.zone).date()].append(each)
    ranked = sorted(
        (rank, -len(each.text), each.at, each.id)
        for day in by_day.values()
        for rank, each in enumerate(day)
    )
    chosen = {each for *_, each in ranked[:limit]}
    return [each for each in told if each.id in chosen]


def is_context_only(recalled: RecalledMessage) -> bool:
    """Tell whether a message matches only by its context; then it is quoted after others."""
    return not any(reason.cause in {"words", "meaning"} for reason in recalled.hit.reasons)
