"""What does the offline companion say? Exact words from memory, and honesty without them.

It never makes anything up: besides its own few sentences it only quotes. Writes nothing.
"""

from collections.abc import Sequence
from dataclasses import replace

from oldfriend.memory.receipts import ReceiptItem
from oldfriend.memory.search import named_in
from oldfriend.prompts.phrasebook import Phrasebook, phrasebook
from oldfriend.turn.outcome import Reply, Utterance
from oldfriend.turn.perceive import EDGES, RULES, Perception
from oldfriend.turn.quoting import quoted
from oldfriend.turn.recall import Recalled, Recollection, Remembered, Thing, id_of
from oldfriend.turn.receipting import WRITTEN, item_of
from oldfriend.turn.recounting import (
    about_named,
    believed,
    how_tied,
    listed,
    of_another_time,
    only_named,
    open_now,
    promised,
    told_about_named,
    with_words,
)
from oldfriend.turn.sight import Sight
from oldfriend.turn.telling import among_familiar, noted, recounted
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
    says_the_opposite,
    tells_who,
)
from oldfriend.turn.written import written_about

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
    text, told = worded(said, perception, sight, book)
    wrote = written_instead(said, perception, sight, told)
    if wrote:
        text, told = book.say["you_wrote"].format(text=wrote), ()
    used = {each.object for each in told}
    if recollection.degraded and perception.intent == "question":
        text = f"{text}\n\n{book.say['degraded']}"
    return Reply(
        text=text,
        language=perception.language,
        items=(
            *told,
            *(
                item_of(each, used=False)
                for each in recollection.ranking
                if id_of(each) not in used
            ),
        ),
        details={
            "intent": perception.intent,
            "language": perception.language,
            "author": RULES,
            "signal": perception.signal,
            "risk": perception.suspicion.risk,
            "answerable": round(recollection.answerable, 3) if perception.looks_back else None,
            "degraded": recollection.degraded,
            WRITTEN: said.message.id if wrote else repeated(perception, sight),
        },
    )


def repeated(perception: Perception, sight: Sight) -> str:
    """The message that was answered by what they have written, where "why?" tells that again."""
    return sight.grounds.written_for if perception.intent == "why_so" else ""


def written_instead(
    said: Utterance, perception: Perception, sight: Sight, told: Sequence[ReceiptItem]
) -> str:
    """What they have written of themselves, where no belief and no surer words tell it."""
    if perception.intent != "question" or perception.note is not None:
        return ""
    matter = sight.recollection.matter
    is_own = matter is not None and matter.is_own
    if any(item.kind == "memory" or not is_own for item in told):
        return ""
    asked = perception.question or said.text
    return written_about(asked, perception.language, sight.acquaintance.blocks)


def worded(
    said: Utterance, perception: Perception, sight: Sight, book: Phrasebook
) -> tuple[str, Sequence[ReceiptItem]]:
    """The words of the reply, and the memories that it tells: these and no others."""
    match perception.intent:
        case "question":
            return standing_on(*answered(said, perception, sight, book))
        case "statement":
            return standing_on(*acknowledged(perception, sight.recollection, book))
        case "remember":
            return noted(perception.note or "", sight, book), ()
        case "promises":
            return standing_on(*what_is_open(said, sight, book))
        case "greeting" if not said.first_in_chat:
            return book.say["greeting_again"], ()
        case intent:
            told, items = recounted(said, perception, sight, book)
            return told or book.say[intent].format(name=said.companion.name), items


def standing_on(text: str, used: Sequence[Thing]) -> tuple[str, Sequence[ReceiptItem]]:
    """Words, with what the receipt says of the memories in them."""
    return text, [item_of(each, used=True) for each in used]


def what_is_open(
    said: Utterance, sight: Sight, book: Phrasebook
) -> tuple[str, Sequence[Thing]]:  # fmt: skip
    """What is promised or expected; before that is denied, the words that tell of it."""
    told = promised(sight, book, now=said.message.at, zone=said.message.zone)
    if told:
        return told, among_familiar(sight, open_now(sight))
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
    return how_tied(sight, book, zone), among_familiar(sight, sight.acquaintance.between)


def who_it_is(sight: Sight, book: Phrasebook, zone: str) -> tuple[str, Sequence[Thing]]:
    """What is known of whom the words name; where that is the name alone, what was said of them."""
    if told := about_named(sight, book, zone):
        return told, among_familiar(sight, told_about_named(sight))
    named = [about.entity for about in sight.acquaintance.about]
    spoken_of = [each for each in sight.recollection.found if named_in(each.message.text, named)]
    if not spoken_of:
        return only_named(sight, book), ()
    return quoting(spoken_of, book)


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
    speaking = [
        each
        for each in recollection.found
        if may_tell_what_is_asked(each, recollection) and not says_the_opposite(each, recollection)
    ]
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


def without_repeats(recalled: Sequence[Recalled]) -> list[Recalled]:
    """The same, each wording once."""
    first = {" ".join(each.message.text.casefold().split()): each for each in reversed(recalled)}
    return [each for each in recalled if each in first.values()]


def quote_of(recalled: Recalled, book: Phrasebook) -> str:
    """A recalled message as a sentence that quotes it."""
    words = [word for reason in recalled.hit.why for word in reason.words]
    return quoted(recalled.message, book, words=words)
