"""What is told where somebody asks for what is known, not for words? Of them, of why, of then.

With what the receipt says of it: exactly the beliefs and the words that are told. Knows no
database: what is told was looked up.
"""

from collections.abc import Iterable, Sequence

from oldfriend.domain.memories import Known
from oldfriend.memory.notes import same_words
from oldfriend.memory.receipts import ReceiptItem
from oldfriend.prompts.phrasebook import Phrasebook
from oldfriend.turn.looking_up import Grounds, Then
from oldfriend.turn.outcome import Utterance
from oldfriend.turn.perceive import EDGES, Perception
from oldfriend.turn.quoting import moment_in
from oldfriend.turn.recall import KnownNote, Remembered
from oldfriend.turn.receipting import item_of, listed_item
from oldfriend.turn.recounting import (
    about_person,
    because,
    believed_at_that_time,
    forgetting,
    known_of_person,
    open_now,
    texts_of,
)
from oldfriend.turn.sight import Sight

Told = tuple[str, Sequence[ReceiptItem]]
"""What is told, and what the receipt says of it."""


def recounted(said: Utterance, perception: Perception, sight: Sight, book: Phrasebook) -> Told:
    """What is told of what is believed, where that was asked for; else nothing."""
    zone = said.message.zone
    match perception.intent:
        case "about_me":
            return all_about_me(said, sight, book)
        case "why_so":
            return because(sight.grounds, book, zone), items_of_grounds(sight.grounds)
        case "believed_then":
            return believed_at_that_time(sight.then, book, zone), items_of_then(sight.then)
        case "forget":
            return forgetting(sight.would_go, book), ()
        case "correct":
            return corrected(perception, sight, book), ()
        case _:
            return "", ()


def all_about_me(said: Utterance, sight: Sight, book: Phrasebook) -> Told:
    """Who the person is, what is open, and their notes."""
    known = about_person(sight, book, now=said.message.at, zone=said.message.zone)
    notes = all_notes(sight, book)
    told = among_familiar(sight, [*known_of_person(sight), *open_now(sight)])
    items = [*(item_of(each, used=True) for each in told), *items_of_notes(sight.notes)]
    return f"{known}\n\n{notes}" if known else notes, items


def among_familiar(sight: Sight, known: Iterable[Known]) -> list[Remembered]:
    """Some of what is known without a search, with the words behind it."""
    familiar = {each.known.memory.id: each for each in sight.familiar}
    return [familiar[each] for each in dict.fromkeys(each.memory.id for each in known)]


def items_of_notes(notes: Sequence[KnownNote]) -> list[ReceiptItem]:
    """Notes, and the words behind them."""
    items: list[ReceiptItem] = []
    for kept in notes:
        items.append(listed_item("memory", kept.memory.id, 1))
        items.append(listed_item("message", kept.evidence.message, kept.evidence.version))
    return items


def items_of_grounds(grounds: Grounds) -> list[ReceiptItem]:
    """What the reply before stood on, which this one tells again."""
    return [
        *(item_of(each, used=True) for each in grounds.beliefs),
        *(listed_item("message", each.id, each.version) for each in grounds.messages),
    ]


def items_of_then(then: Then | None) -> list[ReceiptItem]:
    """What was believed then, each wording once."""
    told = {} if then is None else texts_of(then)
    return [listed_item("memory", each.id, 1) for each in told.values()]


def corrected(perception: Perception, sight: Sight, book: Phrasebook) -> str:
    """The answer to being put right; to "no" where nothing was claimed, a word of thanks."""
    if sight.grounds.are_none:
        return book.say["acknowledgement"]
    only_denies = book.understand.wrong.fullmatch(perception.text.lower().strip(EDGES))
    return book.say["correct_bare" if only_denies else "correct"]


def noted(note: str, sight: Sight, book: Phrasebook) -> str:
    """The confirmation of a note; the shell sends it only once the note is kept."""
    again = any(same_words(kept.memory.text) == same_words(note) for kept in sight.notes)
    return book.say["noted_again" if again else "noted"].format(note=note)


def all_notes(sight: Sight, book: Phrasebook) -> str:
    """The notes, each with the day it was asked for."""
    rest = book.say["also_words"].format(count=sight.messages)
    if not sight.notes:
        return rest if sight.familiar else book.say["no_notes"]
    lines = [note_line(kept, book) for kept in sight.notes]
    return "\n".join([book.say["notes"], *lines, "", rest])


def note_line(kept: KnownNote, book: Phrasebook) -> str:
    """A note with when it was asked for, or when the person has written it as it reads."""
    set_so = kept.set_at is not None
    at = kept.evidence.said_at if kept.set_at is None else kept.set_at
    return book.say["note_set_line" if set_so else "note_line"].format(
        note=kept.memory.text, when=moment_in(book, at, kept.evidence.zone)
    )
