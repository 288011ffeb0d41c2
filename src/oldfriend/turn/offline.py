"""What does the offline companion say? Exact words from memory, and honesty without them.

It never makes anything up: besides its own few sentences it only quotes. Writes nothing.
"""

from collections.abc import Sequence
from typing import Literal

from oldfriend.memory.notes import same_words
from oldfriend.memory.receipts import ReceiptItem
from oldfriend.prompts.phrasebook import Phrasebook, phrasebook
from oldfriend.turn.outcome import Reply, Utterance
from oldfriend.turn.perceive import RULES, Perception
from oldfriend.turn.quoting import moment_in, quoted
from oldfriend.turn.recall import Recalled, Recollection
from oldfriend.turn.sight import Sight

MOST_QUOTES = 3
WORTH_ADDING = 0.5
"""A further quote needs this share of the best one's score."""
BLURRED = frozenset({"es", "fr"})
"""Spoken languages in which the embedder that ships finds everything alike."""
TELLING = frozenset({"words", "date", "said_by", "mentions", "answers"})
CLOSE_ENOUGH = 0.8
"""How sure a memory must be to be brought up unasked."""


def offline_reply(said: Utterance, perception: Perception, sight: Sight) -> Reply:
    """The reply to one message, from memory alone."""
    book = phrasebook(perception.language)
    recollection = sight.recollection
    text, used = worded(said, perception, sight, book)
    if recollection.degraded and perception.intent == "question":
        text = f"{text}\n\n{book.say['degraded']}"
    return Reply(
        text=text,
        language=perception.language,
        items=(*items_of_messages(recollection, used), *items_of_notes(perception, sight)),
        details={
            "intent": perception.intent,
            "language": perception.language,
            "author": RULES,
            "signal": perception.signal,
            "risk": perception.suspicion.risk,
            "answerable": round(recollection.answerable, 3) if perception.looks_back else None,
            "degraded": recollection.degraded,
        },
    )


def worded(
    said: Utterance, perception: Perception, sight: Sight, book: Phrasebook
) -> tuple[str, Sequence[Recalled]]:
    """The words of the reply, and the memories that they quote."""
    match perception.intent:
        case "question":
            return answered(perception, sight, book)
        case "statement":
            return acknowledged(perception, sight.recollection, book)
        case "remember":
            return noted(perception.note or "", sight, book), ()
        case "about_me":
            return all_notes(sight, book), ()
        case "greeting" if not said.first_in_chat:
            return book.say["greeting_again"], ()
        case intent:
            return book.say[intent].format(name=said.companion.name), ()


def answered(
    perception: Perception, sight: Sight, book: Phrasebook
) -> tuple[str, Sequence[Recalled]]:
    """The answer to a question, after the confirmation of a note that came with it."""
    text, used = answer(sight.recollection, book)
    if perception.note is not None:
        text = f"{noted(perception.note, sight, book)}\n\n{text}"
    return text, used


def acknowledged(
    perception: Perception, recollection: Recollection, book: Phrasebook
) -> tuple[str, Sequence[Recalled]]:
    """A word of thanks for something told; without any cleverness when it was hard to tell."""
    if perception.signal == "stressed":
        return book.say["acknowledgement_hard"], ()
    return acknowledgement(recollection, book)


def answer(recollection: Recollection, book: Phrasebook) -> tuple[str, Sequence[Recalled]]:
    """The best words there are, or that there are none."""
    telling = [each for each in recollection.found if is_telling(each, book.language)]
    if not recollection.is_good_enough or not telling:
        return book.say["nothing_found"], ()
    best = telling[0].hit.score
    used = [each for each in telling if each.hit.score >= WORTH_ADDING * best]
    used = sorted(without_repeats(used)[:MOST_QUOTES], key=is_beside)
    first, *others = [quote_of(each, book) for each in used]
    if not others:
        return first, used
    listed = "\n".join(f"• {line}" for line in others)
    return f"{first}\n\n{book.say['also']}\n{listed}", used


def is_telling(recalled: Recalled, language: str) -> bool:
    """Whether a message may be quoted as an answer.

    Where everything is close in meaning, closeness tells nothing: there it must hold a word of
    the question, or be what the question asks for by name or date.
    """
    causes = {reason.cause for reason in recalled.hit.why}
    return language not in BLURRED or bool(causes & TELLING)


def is_beside(recalled: Recalled) -> bool:
    """Whether only what stands around a message speaks for it; then it is quoted after that."""
    return not any(reason.cause in {"words", "meaning"} for reason in recalled.hit.why)


def acknowledgement(recollection: Recollection, book: Phrasebook) -> tuple[str, Sequence[Recalled]]:
    """A short word of thanks, with a related memory if one is really close."""
    if recollection.found and recollection.answerable >= CLOSE_ENOUGH:
        related = recollection.found[0]
        if any(reason.cause == "meaning" for reason in related.hit.why):
            return book.say["related"].format(quoted=quote_of(related, book)), [related]
    return book.say["acknowledgement"], ()


def noted(note: str, sight: Sight, book: Phrasebook) -> str:
    """The confirmation of a note; the shell sends it only once the note is kept."""
    again = any(same_words(kept.memory.text) == same_words(note) for kept in sight.notes)
    return book.say["noted_again" if again else "noted"].format(note=note)


def all_notes(sight: Sight, book: Phrasebook) -> str:
    """The notes, each with the day it was asked for."""
    if not sight.notes:
        return book.say["no_notes"]
    lines = [
        book.say["note_line"].format(
            note=kept.memory.text, when=moment_in(book, kept.evidence.said_at, kept.evidence.zone)
        )
        for kept in sight.notes
    ]
    rest = book.say["also_words"].format(count=sight.messages)
    return "\n".join([book.say["notes"], *lines, "", rest])


def without_repeats(recalled: Sequence[Recalled]) -> list[Recalled]:
    """The same, each wording once."""
    first = {" ".join(each.message.text.casefold().split()): each for each in reversed(recalled)}
    return [each for each in recalled if each in first.values()]


def quote_of(recalled: Recalled, book: Phrasebook) -> str:
    """A recalled message as a sentence that quotes it."""
    words = [word for reason in recalled.hit.why for word in reason.words]
    return quoted(recalled.message, book, words=words)


def items_of_messages(
    recollection: Recollection, used: Sequence[Recalled]
) -> tuple[ReceiptItem, ...]:
    """What the receipt says of the messages that came to mind."""
    return tuple(
        ReceiptItem(
            kind="message", object=each.message.id, version=each.message.version,
            used=each in used, score=each.hit.score, why=each.hit.why,
        )
        for each in recollection.found
    )  # fmt: skip


def items_of_notes(perception: Perception, sight: Sight) -> tuple[ReceiptItem, ...]:
    """What the receipt says of the notes that were listed, and of the words behind them."""
    if perception.intent != "about_me":
        return ()
    return tuple(
        item
        for kept in sight.notes
        for item in (
            listed_item("memory", kept.memory.id, 1),
            listed_item("message", kept.evidence.message, kept.evidence.version),
        )
    )


def listed_item(kind: Literal["message", "memory"], object_id: str, version: int) -> ReceiptItem:
    """Something that was named because it was asked for, not because it was searched."""
    return ReceiptItem(kind=kind, object=object_id, version=version, used=True, score=1.0, why=())
