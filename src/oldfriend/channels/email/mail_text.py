"""Mail text: tells what somebody writes from what they quote, forward and sign with.

By the form of a mail, in every language: ">" before lines, what stands above them, blocks of
headers, the line before a signature, the sender's name at the end, and the words of the mail that
is replied to. Only what programs add of themselves is known by its words.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from oldfriend.lang.language_pack import list_languages, load_language_pack

QUOTE_LINE: Final = re.compile(r"\s{0,8}>")
QUOTE_MARKS: Final = re.compile(r"\A(?:\s{0,3}>)+\s?")
LABEL_LINE: Final = re.compile(
    r"(?:\s{0,3}>){0,20}+\s{0,3}[*]{0,2}[^\W\d_][\w .'’-]{0,24}[*]{0,2}\s?[:：][*]{0,2}\s*\S"
)
ADDRESS_MARK: Final = re.compile(r"[^\s@<>\[(]@[^\s@<>\])]")
ADDRESS_IN_LINE: Final = re.compile(r"(?<![\w.+-])[\w.+-]{1,64}+@[\w.-]{1,190}")
CLOCK_TIME: Final = re.compile(r"(?<!\d)\d{1,2}[:.h]\d\d(?!\d)")
DATE_DIGITS: Final = re.compile(r"\d")
RULE_LINE: Final = re.compile(r"\s{0,8}+[-_*=]{3,200}+[^-_*=]{0,60}+[-_*=]{0,200}+\s{0,8}+")
MIN_LABELS: Final = 3
MAX_LABELS: Final = 10
MAX_ATTRIBUTION_LINES: Final = 3
MAX_ATTRIBUTION_CHARS: Final = 300
MIN_DATE_DIGITS: Final = 4
MAX_SIGNATURE_LINES: Final = 12
MIN_KNOWN_CHARS: Final = 16
"""Characters of a line before it counts as one of the mail that is replied to."""
MAX_KNOWN_CHARS: Final = 20_000
MAX_CLOSING_CHARS: Final = 40
MAX_CLOSING_WORDS: Final = 5
MAX_PROGRAM_LINE_CHARS: Final = 80
WORD: Final = re.compile(r"[^\W\d_]+")
LINE_DASHES: Final = frozenset({"-", "--", "---", "\u2013", "\u2014"})


@dataclass(frozen=True, slots=True, kw_only=True)
class MailText:
    """The text of a mail, by whose words it is."""

    own: str  # what its sender writes in it
    quoted: str = ""  # the one stretch of the mail they reply to that they write below
    forwarded: str = ""  # what somebody else has written
    forwarded_from: str = ""  # their address


def divide_text(
    text: str, *, is_reply: bool, own_address: str, replied_text: str = "", sender: str = ""
) -> MailText:
    """Divide the text of a mail; ``sender``: the names of who wrote it.

    ``own_address`` is ours: what it has written is quoted, not forwarded. ``replied_text``: the
    text of ours that is replied to, where it is known.
    """
    lines = text.split("\n")
    forwarded, forwarded_from = "", ""
    if (start := find_header_block(lines)) is not None:
        author = find_author(lines[start : start + MAX_LABELS])
        if not (is_reply and author == own_address):
            forwarded = "\n".join(QUOTE_MARKS.sub("", each) for each in lines[start:]).strip()
            forwarded_from = author
        lines = drop_introduction(lines[:start])
    quoted = ""
    if is_reply or has_attributed_quote(lines):
        lines, quoted = cut_quotes(lines)
    lines = cut_signature(lines)
    if is_reply and replied_text:
        lines = cut_known_lines(lines, replied_text)
    lines = cut_closing(lines, frozenset(find_words(sender)))
    return MailText(
        own="\n".join(lines).strip(),
        quoted=quoted,
        forwarded=forwarded,
        forwarded_from=forwarded_from,
    )


def find_header_block(lines: Sequence[str]) -> int | None:
    """Return the line at which the headers of another mail stand in the text, if they do."""
    start = 0
    while start < len(lines):
        end = start
        while end < len(lines) and LABEL_LINE.match(lines[end]) and end - start < MAX_LABELS:
            end += 1
        if end - start >= MIN_LABELS and is_header_block(lines[start:end]):
            return start
        start = max(end, start + 1)
    return None


def is_header_block(block: Sequence[str]) -> bool:
    """Tell whether labelled lines are the headers of a mail: an address, and a time of day."""
    return any(ADDRESS_MARK.search(each) for each in block) and any(
        CLOCK_TIME.search(each) for each in block
    )


def find_author(block: Sequence[str]) -> str:
    """Return the first address in the headers of a mail, in lower case."""
    found = (ADDRESS_IN_LINE.search(each) for each in block)
    return next((each[0].lower() for each in found if each is not None), "")


def drop_introduction(lines: Sequence[str]) -> list[str]:
    """Drop the line that a mail program puts before another mail: a rule, or one with a colon."""
    left = strip_blank_end(lines)
    if left and (RULE_LINE.fullmatch(left[-1]) or is_introduction(left)):
        left = strip_blank_end(left[:-1])
    return left


def is_introduction(lines: Sequence[str]) -> bool:
    """Tell whether a text ends with a line by itself that ends with a colon."""
    is_alone = len(lines) == 1 or not lines[-2].strip()
    return is_alone and lines[-1].rstrip().endswith((":", "："))


def strip_blank_end(lines: Sequence[str]) -> list[str]:
    """Return the lines without empty ones at their end."""
    left = list(lines)
    while left and not left[-1].strip():
        left.pop()
    return left


def cut_quotes(lines: Sequence[str]) -> tuple[list[str], str]:
    """Return the lines that are not quoted, and the one quotation with an answer below it."""
    own: list[str] = []
    quotes: list[list[str]] = [[]]
    answered: list[int] = []
    for line in lines:
        if QUOTE_LINE.match(line):
            if not quotes[-1]:
                own = cut_attribution(own)
            quotes[-1].append(QUOTE_MARKS.sub("", line))
        else:
            if line.strip() and quotes[-1]:
                answered.append(len(quotes) - 1)
                quotes.append([])
            own.append(line)
    quoted = "\n".join(quotes[answered[0]]).strip() if len(answered) == 1 else ""
    return own, quoted


def has_attributed_quote(lines: Sequence[str]) -> bool:
    """Tell whether quoted lines begin below a line that says who wrote them and when.

    Some programs send a reply that names no mail, with a subject in their own language.
    """
    starts = (index for index, line in enumerate(lines) if QUOTE_LINE.match(line))
    first = next(starts, 0)
    above = list(lines[:first])
    return cut_attribution(above) != above


def cut_attribution(lines: list[str]) -> list[str]:
    """Drop the few lines above a quotation that say who wrote it and when, in any language.

    They end with a colon and hold an address or a date.
    """
    left = strip_blank_end(lines)
    start = len(left)
    while start and left[start - 1].strip() and len(left) - start < MAX_ATTRIBUTION_LINES:
        start -= 1
        said = " ".join(left[start:])
        if not left[-1].rstrip().endswith((":", "：")) or len(said) > MAX_ATTRIBUTION_CHARS:
            return lines
        has_date = len(DATE_DIGITS.findall(said)) >= MIN_DATE_DIGITS
        if has_date or ADDRESS_MARK.search(said):
            return left[: find_attribution_start(left, start)]
    return lines


def find_attribution_start(lines: Sequence[str], start: int) -> int:
    """Return where an attribution begins: the rest of a short paragraph belongs to it."""
    first = start
    while first and lines[first - 1].strip():
        first -= 1
    is_short = len(lines) - first <= MAX_ATTRIBUTION_LINES
    return first if is_short else start


def cut_signature(lines: Sequence[str]) -> list[str]:
    """Drop what follows the line that is the standard mark of a signature."""
    for index, line in enumerate(lines):
        is_near_end = len(lines) - index <= MAX_SIGNATURE_LINES
        if line == "-- " or (line.rstrip() == "--" and is_near_end):
            return list(lines[:index])
    return list(lines)


def cut_closing(lines: Sequence[str], names: frozenset[str]) -> list[str]:
    """Drop the line that a program adds, and the greeting and name with which somebody closes.

    A mail that holds nothing else keeps them.
    """
    left = strip_blank_end(lines)
    if is_paragraph_by_itself(left) and is_program_line(left[-1].strip()):
        left = strip_blank_end(left[:-1])
    if not names or not left:
        return left
    *before, last = left
    words = find_words(last)
    if is_name(words, names) and any(each.strip() for each in before):
        before = strip_blank_end(before)
        closing = before[-1].strip()
        is_closing = closing.endswith((",", "，")) or is_paragraph_by_itself(before)
        is_dash = closing in LINE_DASHES
        return drop_if_rest(before, is_dash or (is_closing and is_short(closing)))
    greeting, comma, name = last.replace("，", ",").rpartition(",")
    is_signed = bool(comma and greeting.strip()) and is_name(find_words(name), names)
    is_alone = is_paragraph_by_itself(left) and is_name(words[-1:], names)
    return drop_if_rest(left, (is_signed or is_alone) and is_short(last.strip()))


def drop_if_rest(lines: Sequence[str], is_closing: bool) -> list[str]:
    """Return lines without the last one if that only closes them and others are left."""
    rest = strip_blank_end(lines[:-1])
    return rest if is_closing and rest else [*lines]


def find_words(text: str) -> list[str]:
    """Return the words of a text, in lower case."""
    return [each.casefold() for each in WORD.findall(text[:MAX_ATTRIBUTION_CHARS])]


def is_name(words: Sequence[str], names: frozenset[str]) -> bool:
    """Tell whether words are somebody's name, or one with their initials."""
    known = [each for each in words if any(is_part_of_name(each, name) for name in names)]
    initials = {each[0] for each in names}
    return bool(words) and all(each in known or each in initials for each in words)


def is_part_of_name(word: str, name: str) -> bool:
    """Tell whether a word is one of a name; without spaces, what the name ends with is, too."""
    return word == name or (len(word) > 1 and not name.isascii() and name.endswith(word))


def is_short(line: str) -> bool:
    """Tell whether a line is as short as a greeting."""
    return (
        len(line) <= MAX_CLOSING_CHARS
        and len(find_words(line)) <= MAX_CLOSING_WORDS
        and not DATE_DIGITS.search(line)
        and not line.endswith(("?", "？", ":", "："))
    )


def is_paragraph_by_itself(lines: Sequence[str]) -> bool:
    """Tell whether the last line stands apart from those before it."""
    return len(lines) > 1 and not lines[-2].strip()


def is_program_line(line: str) -> bool:
    """Tell whether a program has added a line: "Sent from my phone"."""
    is_like_it = len(line) <= MAX_PROGRAM_LINE_CHARS
    return is_like_it and any(each.fullmatch(line) for each in load_program_lines())


@cache
def load_program_lines() -> Sequence[re.Pattern[str]]:
    """Compile what mail programs add, in all languages."""
    packs = (load_language_pack(each).read("links") for each in list_languages("links"))
    return [re.compile(f"(?:{pack['sent_from']})[.。]?", re.IGNORECASE) for pack in packs]


def cut_known_lines(lines: Sequence[str], replied_text: str) -> list[str]:
    """Drop the end of a text that only repeats the mail it replies to, without any mark.

    Who answers with a line of that mail and nothing else has chosen it: then it stays.
    """
    known = " ".join(replied_text[:MAX_KNOWN_CHARS].split())
    left = strip_blank_end(lines)
    end = len(left)
    while end:
        words = " ".join(left[end - 1].split())
        if words and words not in known:
            break
        end -= 1
    repeated = " ".join(" ".join(left[end:]).split())
    is_choice = end == 0 and repeated != known
    is_copy = len(repeated) >= MIN_KNOWN_CHARS and not is_choice
    return cut_attribution(left[:end]) if is_copy else left
