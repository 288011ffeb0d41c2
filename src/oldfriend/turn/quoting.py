"""How are somebody's exact words shown, with who said them, when and where?"""

import re
from collections.abc import Iterable
from datetime import date, timedelta

from oldfriend.domain.clock import Micros, days_between, from_micros
from oldfriend.domain.messages import Message
from oldfriend.prompts.phrasebook import Phrasebook

LONGEST_QUOTE = 280
"""Characters of one quote; longer words are cut at the sentence that matters."""

BREAK = re.compile("(?<=[.!?\u3002\uff01\uff1f\u2026])\\s*|\\n+")


def quoted(message: Message, book: Phrasebook, *, words: Iterable[str] = ()) -> str:
    """A sentence that quotes a message: who, when, where, and the words around those given."""
    key = {"person": "you_said", "outside": "outside_said"}.get(message.trust, "other_said")
    return book.say[key].format(
        when=moment_in(book, message.at, message.zone),
        where=message.channel,
        who=message.speaker or message.channel,
        quote=excerpt(message.text, words),
    )


def moment_in(book: Phrasebook, at: Micros, zone: str) -> str:
    """A moment as the book's language writes it, by the clocks of a zone."""
    local = from_micros(at, zone)
    date = day_in(book, at, zone)
    return book.time.moment.format(date=date, hour=local.hour, minute=local.minute)


def day_in(book: Phrasebook, at: Micros, zone: str) -> str:
    """A day as the book's language writes it, by the clocks of a zone."""
    return date_in(book, from_micros(at, zone).date())


def date_in(book: Phrasebook, day: date) -> str:
    """A day as the book's language writes it."""
    return book.time.date.format(
        day=day.day, number=day.month, month=book.time.months[day.month - 1], year=day.year
    )


def days_in(book: Phrasebook, first: Micros, last: Micros, zone: str) -> str:
    """A stretch of days: one, a month, a year, or from when to when."""
    begins, ends = days_between(first, last, zone)
    is_whole = begins.day == 1 and (ends + timedelta(days=1)).day == 1
    month = book.time.months[begins.month - 1]
    if is_whole and (begins.year, begins.month) == (ends.year, ends.month):
        return book.time.month.format(month=month, number=begins.month, year=begins.year)
    if is_whole and begins.year == ends.year and (begins.month, ends.month) == (1, 12):
        return book.time.year.format(year=begins.year)
    return " \u2013 ".join(date_in(book, each) for each in dict.fromkeys((begins, ends)))


def excerpt(text: str, words: Iterable[str], *, longest: int = LONGEST_QUOTE) -> str:
    """The text, or of a long one the stretch of whole sentences that holds most of the words.

    Everything in it stands so in the text; "…" marks what was left out.
    """
    flat = " ".join(text.split())
    if len(flat) <= longest:
        return flat
    sentences = [sentence for part in BREAK.split(text) if (sentence := " ".join(part.split()))]
    wanted = [word.casefold() for word in words]
    held = [sum(word in sentence.casefold() for word in wanted) for sentence in sentences]
    first = held.index(max(held))
    last = first + 1
    while last < len(sentences) and len(" ".join(sentences[first : last + 1])) <= longest:
        last += 1
    chosen = cut(" ".join(sentences[first:last]), wanted, longest)
    before = "… " if first > 0 and not chosen.startswith("…") else ""
    after = " …" if last < len(sentences) and not chosen.endswith("…") else ""
    return f"{before}{chosen}{after}"


def cut(sentence: str, wanted: list[str], longest: int) -> str:
    """A sentence that is too long, cut around the first wanted word."""
    if len(sentence) <= longest:
        return sentence
    folded = sentence.casefold()
    places = [place for word in wanted if (place := folded.find(word)) >= 0]
    start = max(0, min(places, default=0) - longest // 3)
    piece = sentence[start : start + longest].strip()
    return f"{'… ' if start else ''}{piece} …"
