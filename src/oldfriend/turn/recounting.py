"""How does the offline companion tell what it believes? In the belief's words, and those behind it.

Knows no database: what is told was looked up.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from oldfriend.domain.clock import Micros, from_micros
from oldfriend.domain.ids import EntityId
from oldfriend.domain.memories import Evidence, Known, Memory
from oldfriend.memory.search.past import held
from oldfriend.prompts.phrasebook import Phrasebook
from oldfriend.turn.looking_up import Grounds, Then, WouldGo
from oldfriend.turn.quoting import day_in, days_in, excerpt, moment_in, quoted
from oldfriend.turn.recall import Remembered
from oldfriend.turn.sight import Sight

_QUOTE: Final = re.compile(r"\w+\s?:\s?[“„«].+[”“»]")
"""How a belief reads that rules have put in no other words: that somebody says this."""
MOST_WORDS = 2
"""So many quotes are shown for one belief: the first and the last words for it."""
MOST_ABOUT = 8
MOST_LISTED = 40
LAST_MINUTE = (23, 59)
"""What is due then is due on that day."""


def believed(remembered: Remembered, book: Phrasebook, zone: str) -> str:
    """A belief, how sure it is, and what it rests on: the person's own word, or exact words."""
    grounds = grounds_of(remembered, book, zone)
    if grounds and only_quotes(remembered):
        return "\n".join(grounds)
    return "\n".join([sentence_of(remembered.known, book, zone), *grounds])


def only_quotes(remembered: Remembered) -> bool:
    """Whether a belief says nothing beside the words that it rests on; these are their sayer's."""
    is_quote = _QUOTE.fullmatch(remembered.known.memory.text) is not None
    return is_quote and remembered.known.memory.kind in {"event", "pattern"}


def sentence_of(known: Known, book: Phrasebook, zone: str) -> str:
    """A belief, with whether it is over, unsure, or only read somewhere."""
    memory = known.memory
    text = dated(memory, book, zone)
    if memory.ended_at is not None and memory.holds_until is None:
        return book.say["known_over"].format(text=text)
    if memory.ended_at is not None and memory.holds_until is not None:
        until = day_in(book, memory.holds_until, zone)
        return book.say["known_past"].format(until=until, text=text)
    if memory.trust == "outside":
        return book.say["known_read"].format(text=text)
    part = "known" if memory.status == "active" else "known_unsure"
    return book.say[part].format(text=text)


def dated(memory: Memory, book: Phrasebook, zone: str) -> str:
    """What is believed; what happened with its days, and what is so with its first, if known."""
    if (days := memory.happened_during) is not None:
        return f"{memory.text} ({days_in(book, *days, zone)})"
    if memory.holds_from is not None and memory.kind not in {"commitment", "expectation"}:
        since = day_in(book, memory.holds_from, zone)
        return book.say["since_day"].format(text=memory.text, since=since)
    return memory.text


def of_another_time(remembered: Remembered, book: Phrasebook, zone: str) -> str:
    """A belief on one line, with since when at least, and until when."""
    memory, (since, until) = remembered.known.memory, held(remembered.known)
    text = dated(memory, book, zone)
    if memory.holds_from is None and since is not None:
        text = book.say["first_said"].format(text=text, since=day_in(book, since, zone))
    if until is not None:
        text = book.say["known_past"].format(text=text, until=day_in(book, until, zone))
    return f"• {text}"


def grounds_of(remembered: Remembered, book: Phrasebook, zone: str) -> list[str]:
    """That the person has set it so, and the words for it as it reads now."""
    words = [said_so(each, book) for each in first_and_last(remembered.words)]
    if remembered.set_at is None:
        return words
    when = moment_in(book, remembered.set_at, zone)
    return [book.say["set_then"].format(when=when), *words]


def first_and_last(words: Sequence[Evidence]) -> list[Evidence]:
    """The newest words for a belief, and the oldest where they are others."""
    newest_first = [*words[-1:], *words[:1]]
    return list({each.quote: each for each in newest_first}.values())[:MOST_WORDS]


def said_so(words: Evidence, book: Phrasebook) -> str:
    """The words that a belief rests on: who, when, what."""
    part = {"person": "said_then", "companion": "said_then_self"}.get(words.trust, "said_then_by")
    when = moment_in(book, words.said_at, words.zone)
    return book.say[part].format(when=when, who=words.author, quote=excerpt(words.quote, ()))


def about_person(sight: Sight, book: Phrasebook, *, now: Micros, zone: str) -> str:
    """Who the person is: facts, likes, whom they spoke of, what is open."""
    familiar = {each.known.memory.id: each for each in sight.familiar}
    known = sight.acquaintance
    parts = [
        listed(
            book.say["profile"],
            (with_words(familiar[each.memory.id], book, zone) for each in known_of_person(sight)),
        ),
        listed(
            book.say["open"],
            (open_line(each, book, now=now, zone=zone) for each in open_now(sight)),
        ),
    ]
    names = [each.name for each in known.entities if each.status == "confirmed"]
    if names:
        parts.insert(1, book.say["people"].format(names=", ".join(names[:MOST_LISTED])))
    return "\n\n".join(part for part in parts if part)


def known_of_person(sight: Sight) -> Sequence[Known]:
    """What is told of the person: facts, then likes."""
    profile = sight.acquaintance.profile
    return (*profile.facts, *profile.preferences)[:MOST_LISTED]


def open_now(sight: Sight) -> Sequence[Known]:
    """What is told of as promised or expected, what is due first, first."""
    return sight.acquaintance.profile.promises[:MOST_LISTED]


def told_about_named(sight: Sight) -> Sequence[Known]:
    """What is told of those whom the words name."""
    return [each for about in sight.acquaintance.about for each in about.told[:MOST_ABOUT]]


def about_named(sight: Sight, book: Phrasebook, zone: str) -> str:
    """Who somebody is whom the words name; empty where nothing is known of them but the name."""
    familiar = {each.known.memory.id: each for each in sight.familiar}
    parts: list[str] = []
    for about in sight.acquaintance.about:
        lines = [f"• {about.entity.description}"] if about.entity.description else []
        through = {each.known.memory.id: each for each in about.ties if each.step > 1}
        for each in about.told[:MOST_ABOUT]:
            line = with_words(familiar[each.memory.id], book, zone)
            reached = through.get(each.memory.id)
            name = "" if reached is None else name_of(reached.through, sight)
            lines.append(book.say["reached"].format(line=line, name=name) if name else line)
        parts.append(listed(book.say["about_them"].format(name=about.entity.name), lines))
    return "\n\n".join(filter(None, parts))


def name_of(entity: EntityId, sight: Sight) -> str:
    """What somebody is called."""
    known = sight.acquaintance.entities
    return next((each.name for each in known if each.id == entity), "")


def how_tied(sight: Sight, book: Phrasebook, zone: str) -> str:
    """How the two are tied whom the words name, or that it is not known."""
    familiar = {each.known.memory.id: each for each in sight.familiar}
    known = sight.acquaintance
    lines = [tie_line(familiar[each.memory.id], book, zone) for each in known.between]
    one, other = (about.entity.name for about in known.about[:2])
    title = book.say["tied"].format(one=one, other=other)
    return listed(title, lines) or book.say["not_tied"].format(one=one, other=other)


def tie_line(tie: Remembered, book: Phrasebook, zone: str) -> str:
    """A tie with its words; one that is no more, with its time."""
    tell = with_words if tie.known.memory.ended_at is None else of_another_time
    return tell(tie, book, zone)


def only_named(sight: Sight, book: Phrasebook) -> str:
    """That of whom the words name nothing is known but the name."""
    names = (about.entity.name for about in sight.acquaintance.about)
    return "\n".join(book.say["nobody"].format(name=name) for name in names)


def promised(sight: Sight, book: Phrasebook, *, now: Micros, zone: str) -> str:
    """What is open, what is due first, first; empty where nothing is."""
    lines = (open_line(each, book, now=now, zone=zone) for each in open_now(sight))
    return listed(book.say["open"], lines)


def open_line(known: Known, book: Phrasebook, *, now: Micros, zone: str) -> str:
    """A promise or an expectation, with its time; one whose time has passed says so."""
    text, due = known.memory.text, known.memory.due_at
    if due is None:
        return f"• {text}"
    when = due_in(book, due, zone)
    if due < now:
        when = book.say["overdue"].format(when=when)
    elif when in text:
        return f"• {text}"
    return book.say["open_line"].format(text=text, when=when)


def due_in(book: Phrasebook, due: Micros, zone: str) -> str:
    """When something is due; only the day, where its end is meant."""
    local = from_micros(due, zone)
    is_whole_day = (local.hour, local.minute) == LAST_MINUTE
    return (day_in if is_whole_day else moment_in)(book, due, zone)


def with_words(remembered: Remembered, book: Phrasebook, zone: str) -> str:
    """A belief on one line with the last words for it, or that the person has set it so."""
    text = dated(remembered.known.memory, book, zone)
    if remembered.words:
        last = remembered.words[-1]
        if only_quotes(remembered):
            return f"• {said_so(last, book)}"
        when, quote = moment_in(book, last.said_at, last.zone), excerpt(last.quote, ())
        return book.say["about_you_words"].format(text=text, when=when, quote=quote)
    if remembered.set_at is not None:
        when = moment_in(book, remembered.set_at, zone)
        return book.say["about_you_set"].format(text=text, when=when)
    return f"• {text}"


def because(grounds: Grounds, book: Phrasebook, zone: str) -> str:
    """The words that the reply before stood on, or that the person had set it so."""
    if grounds.are_none:
        return book.say["why_nothing"]
    if grounds.written:
        return book.say["you_wrote"].format(text=grounds.written)
    if not (grounds.messages or any(each.words for each in grounds.beliefs)):
        return book.say["why_by_you"]
    lines = [line for each in grounds.beliefs for line in why_of(each, book, zone)]
    lines += [quoted(message, book) for message in grounds.messages]
    return listed(book.say["why_words"], (f"• {each}" for each in dict.fromkeys(lines)))


def why_of(remembered: Remembered, book: Phrasebook, zone: str) -> list[str]:
    """Everything that a belief stands on."""
    words = [said_so(each, book) for each in remembered.words]
    return [*grounds_of(replace(remembered, words=()), book, zone), *words]


def believed_at_that_time(then: Then | None, book: Phrasebook, zone: str) -> str:
    """What was believed on a day; where none is named, that nothing is remembered of it."""
    if then is None:
        return book.say["nothing_found"]
    when = moment_in(book, then.at, zone)
    lines = (f"• {text}" for text in texts_of(then))
    return listed(book.say["then"].format(when=when), lines) or book.say["then_nothing"].format(
        when=when
    )


def texts_of(then: Then) -> dict[str, Memory]:
    """What was believed then, each wording once."""
    told = {each.text: each for each in then.memories}
    return dict([*told.items()][:MOST_LISTED])


def forgetting(would_go: WouldGo | None, book: Phrasebook) -> str:
    """What would go, and where it is done; here nothing is."""
    if would_go is None:
        return book.say["forget"]
    return book.say["forget_about"].format(
        name=would_go.name, messages=would_go.messages, beliefs=would_go.beliefs
    )


def listed(title: str, lines: Iterable[str]) -> str:
    """Lines under a title; empty without any."""
    shown = list(lines)[:MOST_LISTED]
    return "\n".join([title, *shown]) if shown else ""
