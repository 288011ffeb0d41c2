"""Offline acknowledgement: what is said to a statement, a command or small talk without a model."""

from collections.abc import Sequence
from typing import Final

from oldfriend.lang.message_acts import MessageAct, classify_act
from oldfriend.lang.unlearned_languages import find_unlearned_language
from oldfriend.prompts.locale_phrases import LocalePhrases
from oldfriend.turn.intent import Perception
from oldfriend.turn.offline_ranking import is_close_in_meaning
from oldfriend.turn.quotes import format_quote
from oldfriend.turn.retrieval import RecalledItem, RecalledMessage, RecallResult

MAX_SHORT_CHARS: Final = 120
"""Characters; a longer message tells something, whatever else it does."""
MIN_COMMAND: Final = 0.6
MIN_SMALL_TALK: Final = 0.9
"""A chore such as "buy milk" may seem to be small talk; "All right." would promise it."""
MIN_UNASKED_ANSWERABLE: Final = 0.8
"""A memory is brought up unasked only if its probability of answering is at least this."""


def acknowledge_statement(
    perception: Perception, recall_result: RecallResult, book: LocalePhrases
) -> tuple[str, Sequence[RecalledItem]]:
    """Acknowledge a statement; without a related memory if the person seems stressed.

    What is told to be done is not thanked for as if it were, and of a language that nothing was
    trained to read only the words are said to be kept.
    """
    if perception.signal == "stressed":
        return book.phrases["acknowledgement_hard"], ()
    if is_good_news(perception.text, book):
        return book.phrases["acknowledgement_glad"], ()
    if is_short_act(perception.text, "command", MIN_COMMAND):
        return book.phrases["cannot_do"], ()
    if is_short_act(perception.text, "smalltalk", MIN_SMALL_TALK):
        return book.phrases["assent"], ()
    if find_unlearned_language(perception.text):
        return book.phrases["kept_words"], ()
    return acknowledge_with_related(recall_result, book)


def is_good_news(text: str, book: LocalePhrases) -> bool:
    """Tell whether a short message tells something good beyond doubt."""
    patterns = book.patterns
    return (
        len(text) <= MAX_SHORT_CHARS
        and patterns.good_news.search(text) is not None
        and patterns.imagined.search(text) is None
    )


def acknowledge_with_related(
    recall_result: RecallResult, book: LocalePhrases
) -> tuple[str, Sequence[RecalledItem]]:
    """Acknowledge a statement, with a related memory if one is very close."""
    if recall_result.messages and recall_result.answer_probability >= MIN_UNASKED_ANSWERABLE:
        related = recall_result.messages[0]
        if is_close_in_meaning(related):
            return book.phrases["related"].format(quoted=format_recalled_quote(related, book)), [
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
