"""Offline texts: acknowledgements, and lists of what is known, for replies without a model.

Each list comes with its receipt items: exactly the beliefs and messages listed. A statement, a
command or small talk is acknowledged. Formats what was looked up already; does not read the
database.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Final

from oldfriend.domain.errors import InstallationDamaged
from oldfriend.domain.memories import MemoryState
from oldfriend.lang.glossing import gloss
from oldfriend.lang.language_pack import get_traits
from oldfriend.lang.message_acts import MessageAct, classify_act
from oldfriend.lang.unlearned_languages import find_unlearned_language
from oldfriend.memory.notes import normalize_note
from oldfriend.memory.receipts import ReceiptItem
from oldfriend.prompts.locale_phrases import LocalePhrases
from oldfriend.search.shared_topics import GLOSSED
from oldfriend.search.tokenizer import tokenize
from oldfriend.turn.attribution.cues import load_cues, load_cues_for
from oldfriend.turn.belief_texts import (
    format_belief_sentence,
    format_dated_memory,
    format_evidence_quote,
    format_past_beliefs,
    format_profile,
    format_why,
    index_by_text,
    list_open_promises,
)
from oldfriend.turn.intent import (
    EDGE_PUNCTUATION,
    Perception,
    find_words_behind_pleasantry,
)
from oldfriend.turn.later_messages import is_short_correction
from oldfriend.turn.lookups import PastBeliefs, PutRight, ReplySources
from oldfriend.turn.neighbors import QUESTION_MARKS
from oldfriend.turn.offline_ranking import is_close_in_meaning
from oldfriend.turn.profile_facts import list_profile_facts
from oldfriend.turn.quotes import format_moment, format_quote
from oldfriend.turn.recalled import (
    KnownNote,
    RecalledBelief,
    RecalledItem,
    RecalledMessage,
    RecallResult,
)
from oldfriend.turn.receipt_items import build_listed_item, build_recalled_item
from oldfriend.turn.reply_context import ReplyContext
from oldfriend.turn.statement_detection import NAME_WITHIN
from oldfriend.turn.turn_outcome import Utterance

TextWithItems = tuple[str, Sequence[ReceiptItem]]
"""A reply text with its receipt items."""

MAX_SHORT_CHARS: Final = 120
"""Characters; a longer message tells something, whatever else it does."""
MIN_COMMAND: Final = 0.6
MIN_SMALL_TALK: Final = 0.9
"""A chore such as "buy milk" may seem to be small talk; "All right." would promise it."""
INDEFINITE: Final = re.compile(r"\b(?:an?|one|some)\b")
"""Before something that is not known yet, in the language of the glossaries."""
MIN_UNASKED_ANSWERABLE: Final = 0.8
"""A memory is brought up unasked only if its probability of answering is at least this."""
MAX_PUT_RIGHT: Final = 3
"""Beliefs that are told after a correction."""
MIN_ASKING = 0.9
MIN_REPEATED = 0.75
"""Of the words of an earlier question, those that stand in the new one."""


def answer_about_beliefs(
    utterance: Utterance, perception: Perception, context: ReplyContext, book: LocalePhrases
) -> TextWithItems:
    """Answer a request for beliefs; empty for any other intent."""
    zone = utterance.message.zone
    match perception.intent:
        case "about_me":
            return answer_about_me(utterance, context, book)
        case "why_so":
            return format_why(context.previous_sources, book, zone), build_source_items(
                context.previous_sources
            )
        case "believed_then":
            return format_past_beliefs(context.past_beliefs, book, zone), build_past_items(
                context.past_beliefs
            )
        case "correct" if context.put_right is not None and context.put_right.has_changed:
            text, told = tell_put_right(context.put_right, book)
            return text, [build_recalled_item(each, used=True) for each in told]
        case "correct":
            return format_correction_answer(perception, context, book), ()
        case _:
            return "", ()


def answer_about_me(
    utterance: Utterance, context: ReplyContext, book: LocalePhrases
) -> TextWithItems:
    """Answer with the profile, open promises and notes."""
    profile = format_profile(context, book, now=utterance.message.at, zone=utterance.message.zone)
    notes = format_notes(context, book)
    beliefs = select_known_beliefs(
        context,
        [*list_profile_facts(context.user_context.profile), *list_open_promises(context)],
    )
    items = [
        *(build_recalled_item(each, used=True) for each in beliefs),
        *build_note_items(context.notes),
    ]
    return f"{profile}\n\n{notes}" if profile else notes, items


def select_known_beliefs(
    context: ReplyContext, known: Iterable[MemoryState]
) -> list[RecalledBelief]:
    """Return some of the known beliefs with their evidence, each once."""
    known_by_id = {each.state.memory.id: each for each in context.known_beliefs}
    return [known_by_id[each] for each in dict.fromkeys(each.memory.id for each in known)]


def build_note_items(notes: Sequence[KnownNote]) -> list[ReceiptItem]:
    """Return receipt items for notes and the messages behind them."""
    items: list[ReceiptItem] = []
    for note in notes:
        items.append(build_listed_item("memory", note.memory.id, 1))
        items.append(build_listed_item("message", note.evidence.message, note.evidence.version))
    return items


def build_source_items(sources: ReplySources) -> list[ReceiptItem]:
    """Return receipt items for the sources of the previous reply, which this one repeats."""
    return [
        *(build_recalled_item(each, used=True) for each in sources.beliefs),
        *(build_listed_item("message", each.id, each.version) for each in sources.messages),
    ]


def build_past_items(past_beliefs: PastBeliefs | None) -> list[ReceiptItem]:
    """Return receipt items for past beliefs, each wording once."""
    by_text = {} if past_beliefs is None else index_by_text(past_beliefs)
    return [build_listed_item("memory", each.id, 1) for each in by_text.values()]


def format_correction_answer(
    perception: Perception, context: ReplyContext, book: LocalePhrases
) -> str:
    """Answer a correction; if nothing was claimed before, just acknowledge it."""
    if context.previous_sources.is_empty:
        return book.phrases["acknowledgement"]
    is_bare_denial = book.patterns.wrong.fullmatch(perception.text.lower().strip(EDGE_PUNCTUATION))
    return book.phrases["correct_bare" if is_bare_denial else "correct"]


def format_note_confirmation(note: str, context: ReplyContext, book: LocalePhrases) -> str:
    """Confirm a note; the caller sends this only once the note is stored."""
    is_known = any(
        normalize_note(known_note.memory.text) == normalize_note(note)
        for known_note in context.notes
    )
    return book.phrases["noted_again" if is_known else "noted"].format(note=note)


def format_notes(context: ReplyContext, book: LocalePhrases) -> str:
    """List the notes, each with the day it was asked for."""
    rest = book.phrases["also_words"].format(count=context.message_count)
    if not context.notes:
        return rest if context.known_beliefs else book.phrases["no_notes"]
    lines = [format_note_entry(note, book) for note in context.notes]
    return "\n".join([book.phrases["notes"], *lines, "", rest])


def format_note_entry(note: KnownNote, book: LocalePhrases) -> str:
    """Format a note with when it was asked for, or when the person set its wording."""
    is_set_by_person = note.set_by_person_at is not None
    at = note.evidence.said_at if note.set_by_person_at is None else note.set_by_person_at
    return book.phrases["note_set_line" if is_set_by_person else "note_line"].format(
        note=note.memory.text, when=format_moment(book, at, note.evidence.zone)
    )


def acknowledge_statement(
    perception: Perception, context: ReplyContext, book: LocalePhrases
) -> tuple[str, Sequence[RecalledItem]]:
    """Acknowledge a statement; without a related memory if the person seems stressed.

    Of what something was done for, that was told already, nothing more is said.

    What is told to be done is not thanked for as if it were, and of a language that nothing was
    trained to read only the words are said to be kept.
    """
    if perception.signal == "stressed":
        return book.phrases["acknowledgement_hard"], ()
    if is_good_news(perception.text, book):
        return book.phrases["acknowledgement_glad"], ()
    if any(each.changes and each.text for each in context.handled):
        return "", ()
    if context.put_right is not None and context.put_right.has_changed:
        return tell_put_right(context.put_right, book)
    if act := find_act_phrase(perception):
        return book.phrases[act], ()
    phrase = choose_phrase(perception, context.put_right)
    return acknowledge_with_related(context.recall_result, book, phrase)


def find_act_phrase(perception: Perception) -> str | None:
    """Return what answers a message that only orders or makes small talk, or cannot be read."""
    if asks_for_creation(perception):
        return "needs_model"
    if is_short_act(perception.text, "command", MIN_COMMAND):
        return "cannot_do"
    if is_short_act(perception.text, "smalltalk", MIN_SMALL_TALK):
        return "assent"
    return "kept_words" if find_unlearned_language(perception.text) else None


def choose_phrase(perception: Perception, put_right: PutRight | None) -> str:
    """Choose what is said of a memory close to a statement, of which nothing was put right."""
    languages = {perception.language, perception.detected_language or perception.language}
    if not is_short_correction(perception.text, languages):
        return "related"
    if put_right is None:
        return "put_right"
    return "related" if put_right.is_understood else "put_right_unclear"


def tell_put_right(put_right: PutRight, book: LocalePhrases) -> tuple[str, Sequence[RecalledItem]]:
    """Tell what a correction has changed: what was told or believed before, and what is now."""
    was = (
        *(format_dated_memory(each, book, put_right.zone) for each in put_right.before),
        *(format_evidence_quote(each, book) for each in put_right.earlier),
    )
    by_text = {each.state.memory.text: each for each in reversed(put_right.beliefs)}
    told = [each for each in put_right.beliefs if each in by_text.values()][:MAX_PUT_RIGHT]
    now = [format_belief_sentence(each.state, book, put_right.zone) for each in told]
    return "\n".join([book.phrases["put_right"].format(quoted=was[0]), *now]), told


def asks_for_creation(perception: Perception) -> bool:
    """Tell whether a short message wants words made up for the person: "tell me a joke".

    Whoever names somebody, or asks of "the wedding" or of their own things, wants to hear what is
    remembered. Word by word in English, too, in which orders are known best.
    """
    language = perception.detected_language or perception.language
    text = glossed = perception.text
    with suppress(InstallationDamaged):
        glossed = gloss(text, language)
    is_unspaced = get_traits(language).is_cjk
    is_of_known = NAME_WITHIN.search(text if is_unspaced else glossed) is not None
    is_any = is_unspaced or INDEFINITE.search(glossed) is not None
    own = [*load_cues(GLOSSED).self.finditer(glossed.lower())]
    is_plain = len(own) == 1 and is_any and not is_of_known
    return (
        is_plain
        and any(map(names_words, (text, glossed), (language, GLOSSED)))
        and any(is_short_act(each, "command", MIN_COMMAND) for each in (text, glossed))
    )


def names_words(text: str, language: str) -> bool:
    """Tell whether a text names something that is made of words: a poem, a letter, a joke."""
    cues = load_cues_for(text, language)[:1]
    kinds = (kind for each in cues for kind in (each.joke, each.text, each.work))
    return any(kind.search(text.lower()) for kind in kinds)


def is_good_news(text: str, book: LocalePhrases) -> bool:
    """Tell whether a short message tells something good beyond doubt."""
    patterns = book.patterns
    return (
        len(text) <= MAX_SHORT_CHARS
        and patterns.good_news.search(text) is not None
        and patterns.imagined.search(text) is None
    )


def acknowledge_with_related(
    recall_result: RecallResult, book: LocalePhrases, phrase: str
) -> tuple[str, Sequence[RecalledItem]]:
    """Acknowledge a statement, with a memory that is very close, in this phrase."""
    if recall_result.messages and recall_result.answer_probability >= MIN_UNASKED_ANSWERABLE:
        related = recall_result.messages[0]
        if is_close_in_meaning(related):
            return book.phrases[phrase].format(quoted=format_recalled_quote(related, book)), [
                related
            ]
    return book.phrases["acknowledgement"], ()


def is_short_act(text: str, act: MessageAct, min_probability: float) -> bool:
    """Tell whether a short message does no more than this."""
    return len(text) <= MAX_SHORT_CHARS and classify_act(text)[act] >= min_probability


def format_recalled_quote(recalled: RecalledMessage, book: LocalePhrases) -> str:
    """Return a sentence that quotes a recalled message."""
    words = [word for reason in recalled.hit.reasons for word in reason.words]
    return format_quote(recalled.message, book, words=words)


def is_same_question(recalled: RecalledMessage, question: str) -> bool:
    """Tell whether a message asked the same before, with or without a greeting: no answer."""
    asked = set(tokenize(question.casefold()))
    words = tokenize(recalled.message.text.casefold())
    shared = sum(word in asked for word in words)
    is_repeated = shared >= MIN_REPEATED * len(words)
    text = recalled.message.text
    text = find_words_behind_pleasantry(text, {recalled.message.language or ""}) or text
    is_asking = text.rstrip().endswith(QUESTION_MARKS) and len(text) <= MAX_SHORT_CHARS
    return is_repeated and (is_asking or is_short_act(text, "question", MIN_ASKING))
