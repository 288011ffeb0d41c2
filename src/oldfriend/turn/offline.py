"""What does the offline companion say? Exact words from memory, and honesty without them.

It never makes anything up: besides its own few sentences it only quotes. Writes nothing.
"""

from collections.abc import Sequence
from dataclasses import replace

from oldfriend.memory.notes import same_words
from oldfriend.memory.receipts import ReceiptItem
from oldfriend.memory.search import named_in
from oldfriend.prompts.phrasebook import Phrasebook, phrasebook
from oldfriend.turn.outcome import Reply, Utterance
from oldfriend.turn.perceive import EDGES, RULES, Perception
from oldfriend.turn.quoting import moment_in, quoted
from oldfriend.turn.recall import KnownNote, Recalled, Recollection, Remembered, Thing
from oldfriend.turn.receipting import item_of, listed_item
from oldfriend.turn.recounting import (
    about_named,
    about_person,
    because,
    believed,
    believed_at_that_time,
    forgetting,
    how_tied,
    listed,
    of_another_time,
    only_named,
    promised,
    with_words,
)
from oldfriend.turn.sight import Sight
from oldfriend.turn.worth_telling import (
    has_newer_words,
    in_place_of_words,
    is_beside,
    is_better_said,
    is_close_in_meaning,
    is_of_whom_is_asked,
    is_put_right,
    is_spoken_of,
    is_telling,
    may_answer,
    may_tell_of_then,
    may_tell_what_is_asked,
    tells_who,
)

MOST_QUOTES = 3
MOST_BELIEFS = 2
MOST_ASKED_FOR = 8
WORTH_ADDING = 0.5
"""A further quote needs this share of the best one's score."""
CLOSE_ENOUGH = 0.8
"""How sure a memory must be to be brought up unasked."""


def offline_reply(said: Utterance, perception: Perception, sight: Sight) -> Reply:
    """The reply to one message, from memory alone."""
    book = phrasebook(perception.language)
    book = book if said.is_kept else book.while_nothing_is_kept()
    recollection = sight.recollection
    text, used = worded(said, perception, sight, book)
    if recollection.degraded and perception.intent == "question":
        text = f"{text}\n\n{book.say['degraded']}"
    return Reply(
        text=text,
        language=perception.language,
        items=(
            *(item_of(each, used=each in used) for each in recollection.ranking),
            *items_listed(perception, sight),
            *(item_of(each, used=True) for each in used if each in sight.familiar),
        ),
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
) -> tuple[str, Sequence[Thing]]:
    """The words of the reply, and the memories that they quote."""
    match perception.intent:
        case "question":
            return answered(said, perception, sight, book)
        case "statement":
            return acknowledged(perception, sight.recollection, book)
        case "remember":
            return noted(perception.note or "", sight, book), ()
        case "promises":
            return what_is_open(said, sight, book)
        case "greeting" if not said.first_in_chat:
            return book.say["greeting_again"], ()
        case intent:
            told = recounted(said, perception, sight, book)
            return told or book.say[intent].format(name=said.companion.name), ()


def recounted(said: Utterance, perception: Perception, sight: Sight, book: Phrasebook) -> str:
    """What is told of what is believed, where that was asked for; else nothing."""
    now, zone = said.message.at, said.message.zone
    match perception.intent:
        case "about_me":
            known = about_person(sight, book, now=now, zone=zone)
            return f"{known}\n\n{all_notes(sight, book)}" if known else all_notes(sight, book)
        case "why_so":
            return because(sight.grounds, book, zone)
        case "believed_then":
            return believed_at_that_time(sight.then, book, zone)
        case "forget":
            return forgetting(sight.would_go, book)
        case "correct":
            return corrected(perception, sight, book)
        case _:
            return ""


def corrected(perception: Perception, sight: Sight, book: Phrasebook) -> str:
    """The answer to being put right; to "no" where nothing was claimed, a word of thanks."""
    if sight.grounds.are_none:
        return book.say["acknowledgement"]
    only_denies = book.understand.wrong.fullmatch(perception.text.lower().strip(EDGES))
    return book.say["correct_bare" if only_denies else "correct"]


def what_is_open(
    said: Utterance, sight: Sight, book: Phrasebook
) -> tuple[str, Sequence[Thing]]:  # fmt: skip
    """What is promised or expected; before that is denied, the words that tell of it."""
    told = promised(sight, book, now=said.message.at, zone=said.message.zone)
    if told:
        return told, ()
    text, used = from_words(sight.recollection, book)
    return (text, used) if used else (book.say["nothing_open"], ())


def answered(
    said: Utterance, perception: Perception, sight: Sight, book: Phrasebook
) -> tuple[str, Sequence[Thing]]:
    """The answer to a question, after the confirmation of a note that came with it."""
    asked = (perception.question or said.text).lower().strip(EDGES)
    asks_who = book.understand.who_is.search(asked)
    zone, are_two = said.message.zone, len(sight.acquaintance.about) > 1
    if are_two and book.understand.how_tied.search(asked):
        text, used = how_they_are_tied(sight, book, zone)
    elif asks_who and sight.acquaintance.about and sight.recollection.matter is None:
        text, used = who_it_is(sight, book, zone)
    else:
        text, used = answer(sight.recollection, book, zone)
    if perception.note is not None:
        text = f"{noted(perception.note, sight, book)}\n\n{text}"
    return text, used


def how_they_are_tied(sight: Sight, book: Phrasebook, zone: str) -> tuple[str, Sequence[Thing]]:
    """How two are tied whom the words name."""
    between = {each.memory.id for each in sight.acquaintance.between}
    used = [each for each in sight.familiar if each.known.memory.id in between]
    return how_tied(sight, book, zone), used


def who_it_is(sight: Sight, book: Phrasebook, zone: str) -> tuple[str, Sequence[Thing]]:
    """What is known of whom the words name; where that is the name alone, what was said of them."""
    if told := about_named(sight, book, zone):
        return told, about_whom(sight)
    named = [about.entity for about in sight.acquaintance.about]
    spoken_of = [each for each in sight.recollection.found if named_in(each.message.text, named)]
    if not spoken_of:
        return only_named(sight, book), ()
    return quoting(spoken_of, book)


def about_whom(sight: Sight) -> Sequence[Thing]:
    """The beliefs that were told of who is named."""
    told = {each.memory.id for about in sight.acquaintance.about for each in about.told}
    return [each for each in sight.familiar if each.known.memory.id in told]


def acknowledged(
    perception: Perception, recollection: Recollection, book: Phrasebook
) -> tuple[str, Sequence[Thing]]:
    """A word of thanks for something told; without any cleverness when it was hard to tell."""
    if perception.signal == "stressed":
        return book.say["acknowledgement_hard"], ()
    return acknowledgement(recollection, book)


def answer(recollection: Recollection, book: Phrasebook, zone: str) -> tuple[str, Sequence[Thing]]:
    """The best beliefs or words there are, or that there are none."""
    if any(each.is_asked_for for each in recollection.beliefs):
        return what_is_asked_for(recollection, book, zone)
    if recollection.other_times:
        then_or_now = not_known_then if recollection.asks_of_past else known_to_be_over
        return then_or_now(recollection, book, zone)
    if rewritten := in_place_of_words(recollection):
        return from_beliefs(rewritten, book, zone)
    beliefs = [each for each in recollection.beliefs if may_answer(each, recollection.matter)]
    is_known = recollection.is_known and beliefs[:1] == [*recollection.beliefs[:1]]
    if is_known and tells_who(beliefs[0]):  # which was not asked
        spoken_of = [each for each in recollection.found if is_spoken_of(each, recollection)]
        return quoting(spoken_of, book) if spoken_of else from_beliefs(beliefs, book, zone)
    if is_known and not (is_better_said(recollection) or has_newer_words(recollection)):
        return from_beliefs(beliefs, book, zone)
    return from_words(recollection, book)


def what_is_asked_for(
    recollection: Recollection, book: Phrasebook, zone: str
) -> tuple[str, Sequence[Thing]]:
    """The values of what is asked for; many of them as a list."""
    values = [each for each in recollection.beliefs if each.is_asked_for][:MOST_ASKED_FOR]
    if len(values) <= MOST_BELIEFS:
        return "\n\n".join(believed(each, book, zone) for each in values), values
    lines = (with_words(each, book, zone) for each in values)
    return listed(book.say["known"].format(text="").strip(), lines), values


def known_to_be_over(
    recollection: Recollection, book: Phrasebook, zone: str
) -> tuple[str, Sequence[Thing]]:
    """What was so until when, where one asks whether it is; and what has ended it, if told."""
    values = recollection.other_times[:MOST_ASKED_FOR]
    over = {each.known.memory.id for each in values}
    ended_by = [
        each
        for each in recollection.beliefs
        if any(link.kind == "supersedes" and link.other in over
               for link in each.known.memory.relations)
    ]  # fmt: skip
    lines = [
        *(of_another_time(each, book, zone) for each in values),
        *(with_words(each, book, zone) for each in ended_by),
    ]
    return listed(book.say["known"].format(text="").strip(), lines), [*values, *ended_by]


def not_known_then(
    recollection: Recollection, book: Phrasebook, zone: str
) -> tuple[str, Sequence[Thing]]:
    """That it is not known how it was then; words of that time, if any, tell it better.

    What is known of other times is told where a time was named: of "before" it is no answer.
    """
    behind = {words.message for each in recollection.other_times for words in each.words}
    left = [
        each
        for each in recollection.found
        if each.message.id not in behind and may_tell_of_then(each, recollection)
    ]
    text, used = from_words(replace(recollection, found=tuple(left)), book)
    if recollection.asks_before:
        said = [f"{book.say['perhaps']}\n{text}"] if used else []
        return "\n\n".join([book.say["not_known_before"], *said]), used
    if used:
        return text, used
    values = recollection.other_times[:MOST_ASKED_FOR]
    lines = (of_another_time(each, book, zone) for each in values)
    known = listed(book.say["of_another_time"], lines)
    return f"{book.say['not_known_then']}\n\n{known}", values


def from_beliefs(
    beliefs: Sequence[Remembered], book: Phrasebook, zone: str
) -> tuple[str, Sequence[Thing]]:
    """The best beliefs, each with the words it rests on."""
    best = beliefs[0].score
    used = [each for each in beliefs if each.score >= WORTH_ADDING * best][:MOST_BELIEFS]
    return "\n\n".join(believed(each, book, zone) for each in used), used


def from_words(recollection: Recollection, book: Phrasebook) -> tuple[str, Sequence[Thing]]:
    """The best words there are; of what has a key, only those that speak of it, or of whom."""
    speaking = [each for each in recollection.found if may_tell_what_is_asked(each, recollection)]
    best = max((each.hit.score for each in speaking), default=0.0)
    worth = [
        each
        for each in speaking
        if each.hit.score >= WORTH_ADDING * best
        and is_telling(each, book.language)
        and is_of_whom_is_asked(each, recollection)
        and not is_put_right(each, recollection)
    ]
    if not recollection.is_good_enough or not worth:
        return book.say["nothing_found"], ()
    return quoting(worth, book)


def quoting(recalled: Sequence[Recalled], book: Phrasebook) -> tuple[str, Sequence[Thing]]:
    """The first of these words, each wording once, quoted."""
    used = sorted(without_repeats(recalled)[:MOST_QUOTES], key=is_beside)
    first, *others = [quote_of(each, book) for each in used]
    if not others:
        return first, used
    listed = "\n".join(f"• {line}" for line in others)
    return f"{first}\n\n{book.say['also']}\n{listed}", used


def acknowledgement(recollection: Recollection, book: Phrasebook) -> tuple[str, Sequence[Thing]]:
    """A short word of thanks, with a related memory if one is really close."""
    if recollection.found and recollection.answerable >= CLOSE_ENOUGH:
        related = recollection.found[0]
        if is_close_in_meaning(related, book.language):
            return book.say["related"].format(quoted=quote_of(related, book)), [related]
    return book.say["acknowledgement"], ()


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


def without_repeats(recalled: Sequence[Recalled]) -> list[Recalled]:
    """The same, each wording once."""
    first = {" ".join(each.message.text.casefold().split()): each for each in reversed(recalled)}
    return [each for each in recalled if each in first.values()]


def quote_of(recalled: Recalled, book: Phrasebook) -> str:
    """A recalled message as a sentence that quotes it."""
    words = [word for reason in recalled.hit.why for word in reason.words]
    return quoted(recalled.message, book, words=words)


def items_listed(perception: Perception, sight: Sight) -> tuple[ReceiptItem, ...]:
    """What the receipt says of what was listed, and of the words behind it."""
    listed: list[ReceiptItem] = []
    if perception.intent in {"about_me", "promises"}:
        listed += [item_of(each, used=True) for each in sight.familiar]
    if perception.intent == "about_me":
        for kept in sight.notes:
            evidence = kept.evidence
            listed.append(listed_item("memory", kept.memory.id, 1))
            listed.append(listed_item("message", evidence.message, evidence.version))
    return tuple(listed)
