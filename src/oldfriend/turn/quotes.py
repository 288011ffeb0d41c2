"""Quotes: formats somebody's exact words with author, time and place."""

import re
from collections.abc import Iterable
from datetime import date, timedelta

from oldfriend.channels.channel import DIARY_CHANNEL
from oldfriend.diary.diary_reader import read_entry
from oldfriend.domain.clock import Micros, TimeGrain, from_micros, get_day_range
from oldfriend.domain.messages import Message
from oldfriend.prompts.locale_phrases import LocalePhrases
from oldfriend.turn.attribution.quoted_spans import is_passed_on

MAX_QUOTE_CHARS = 280
"""Characters of one quote; a longer text is cut to the sentences that matter."""

SENTENCE_BREAK = re.compile("(?<=[.!?\u3002\uff01\uff1f\u2026])\\s*|\\n+")


def format_quote(message: Message, book: LocalePhrases, *, words: Iterable[str] = ()) -> str:
    """Return a sentence that quotes a message: who, when and the text around ``words``.

    Where it was said is named if that is not where the reply goes; so it is that the words are not
    the person's own.
    """
    key = {"person": "you_said", "outside": "outside_said"}.get(message.trust, "other_said")
    text, language = message.text, message.language or ""
    entry = read_entry(text, language) if key == "you_said" else None
    if entry is not None and entry.text:
        key, text = "you_wrote_in_diary", entry.text
    elif key == "you_said" and message.channel == DIARY_CHANNEL:
        key = "you_wrote_in_diary"
    elif key == "you_said" and is_passed_on(text, language):
        key = "you_passed_on"
    return book.phrases[key].format(
        when=format_moment(book, message.at, message.zone),
        where=""
        if message.channel in {book.channel, DIARY_CHANNEL}
        else book.phrases["elsewhere"].format(channel=message.channel),
        who=message.speaker or message.channel,
        quote=extract_excerpt(text, words),
    )


def format_moment(book: LocalePhrases, at: Micros, zone: str) -> str:
    """Format a moment in a language and time zone."""
    local = from_micros(at, zone)
    date = format_day(book, at, zone)
    return book.date_formats.moment.format(date=date, hour=local.hour, minute=local.minute)


def format_day(book: LocalePhrases, at: Micros, zone: str, grain: TimeGrain = "") -> str:
    """Format the day of a moment in a language and time zone, or only its month or year."""
    day = from_micros(at, zone).date()
    return format_period(book, day, grain) if grain else format_date(book, day)


def format_period(book: LocalePhrases, day: date, grain: TimeGrain) -> str:
    """Format the month or the year of a day in a language."""
    formats = book.date_formats
    if grain == "year":
        return formats.year.format(year=day.year)
    return formats.month.format(
        month=formats.months[day.month - 1], number=day.month, year=day.year
    )


def format_date(book: LocalePhrases, day: date) -> str:
    """Format a day in a language."""
    return book.date_formats.date.format(
        day=day.day, number=day.month, month=book.date_formats.months[day.month - 1], year=day.year
    )


def format_day_span(book: LocalePhrases, first: Micros, last: Micros, zone: str) -> str:
    """Format a span of days: one day, a month, a year, or first to last."""
    first_day, last_day = get_day_range(first, last, zone)
    is_whole = first_day.day == 1 and (last_day + timedelta(days=1)).day == 1
    if is_whole and (first_day.year, first_day.month) == (last_day.year, last_day.month):
        return format_period(book, first_day, "month")
    if (
        is_whole
        and first_day.year == last_day.year
        and (first_day.month, last_day.month) == (1, 12)
    ):
        return format_period(book, first_day, "year")
    return " \u2013 ".join(format_date(book, each) for each in dict.fromkeys((first_day, last_day)))


def extract_excerpt(text: str, words: Iterable[str], *, max_chars: int = MAX_QUOTE_CHARS) -> str:
    """Return the text, or of a long one the whole sentences that hold most of ``words``.

    Everything in it stands so in the text; "…" marks what was left out.
    """
    flat = " ".join(text.split())
    if len(flat) <= max_chars:
        return flat
    sentences = [
        sentence for part in SENTENCE_BREAK.split(text) if (sentence := " ".join(part.split()))
    ]
    wanted = [word.casefold() for word in words]
    counts = [sum(word in sentence.casefold() for word in wanted) for sentence in sentences]
    first = counts.index(max(counts))
    last = first + 1
    while last < len(sentences) and len(" ".join(sentences[first : last + 1])) <= max_chars:
        last += 1
    chosen = truncate_around(" ".join(sentences[first:last]), wanted, max_chars)
    before = "… " if first > 0 and not chosen.startswith("…") else ""
    after = " …" if last < len(sentences) and not chosen.endswith("…") else ""
    return f"{before}{chosen}{after}"


def truncate_around(sentence: str, words: list[str], max_chars: int) -> str:
    """Cut a sentence that is too long around the first wanted word."""
    if len(sentence) <= max_chars:
        return sentence
    folded = sentence.casefold()
    positions = [position for word in words if (position := folded.find(word)) >= 0]
    start = max(0, min(positions, default=0) - max_chars // 3)
    piece = sentence[start : start + max_chars].strip()
    return f"{'… ' if start else ''}{piece} …"
