"""Pasted text: letters, chat logs, mail headers, labels, markup, tables, code and addresses."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from oldfriend.domain.messages import WIDE_CHARS
from oldfriend.turn.attribution.cues import AttributionCues, fold_punctuation, load_cues_for
from oldfriend.turn.attribution.spans import BorrowedSpan

LONGEST_SALUTATION: Final = 48
LONGEST_SIGNATURE: Final = 48
MOST_LETTER_WORDS: Final = 6
FEWEST_LETTER_LINES: Final = 3
LONGEST_WIDE: Final = 10
LONGEST_WIDE_SIGNATURE: Final = 4
BRACKETED: Final = re.compile(r"\([^()\n]{0,24}\)")
SALUTES: Final = frozenset(",:!，：！、")


def find_letters(text: str, language: str, *, is_addressed: bool = False) -> Iterator[BorrowedSpan]:
    """Yield a letter or e-mail.

    ``is_addressed``: the text began with a salutation of the companion, which was blanked, so that
    only one with a salutation of its own was written to somebody else.
    """
    lines = [line for line in text.split("\n") if line.strip()]
    cues = load_cues_for(text, language)
    is_signed = _is_signed(lines, cues)
    begin = _begin_of_letter(text, cues, is_signed=is_signed)
    if is_addressed and begin < 0:
        return
    if begin < 0 and _is_laid_out(lines):
        begin = 0
        is_signed = True
    if begin < 0 and not is_signed:
        return
    if begin >= 0 and (is_signed or _goes_on(text[begin:])):
        yield BorrowedSpan(begin, len(text), kind="letter")
    elif is_signed:
        yield BorrowedSpan(0, len(text), kind="letter")


def find_address_end(text: str, names: Iterable[str]) -> int:
    """Return where a salutation of one of these names ends, as "Dear Oldfriend,"; 0 if none does.

    What follows is said to them, and is no letter that was passed on.
    """
    line = fold_punctuation(text.lstrip()[:LONGEST_SALUTATION].split("\n")[0])
    end = next((at for at, each in enumerate(line) if each in SALUTES), len(line))
    salutation = line[:end]
    if len(salutation.split()) > MOST_LETTER_WORDS:
        return 0
    is_addressed = any(each and fold_punctuation(each) in salutation for each in names)
    return len(text) - len(text.lstrip()) + min(end + 1, len(line)) if is_addressed else 0


def _is_laid_out(lines: Sequence[str]) -> bool:
    """Tell whether the first line is short and ends in a comma, and the last one is only a name."""
    if len(lines) < FEWEST_LETTER_LINES:
        return False
    first, last = lines[0].strip(), lines[-1].strip()
    is_begun = first.endswith((",", ":", "，", "：")) and len(first.split()) <= MOST_LETTER_WORDS
    if WIDE_CHARS.search(last):
        return is_begun and len(first) <= LONGEST_WIDE and len(last) <= LONGEST_WIDE_SIGNATURE
    words = BRACKETED.sub("", last).split()
    is_name = 0 < len(words) <= 3 and all(word[0].isupper() for word in words)
    return is_begun and is_name and last[-1] not in ".!?…"


def _begin_of_letter(text: str, cues: Sequence[AttributionCues], *, is_signed: bool) -> int:
    """Return where a line begins with a salutation; -1 if none does.

    A "hello" may greet the companion as well, so it begins a letter only if the text is signed.
    """
    start = 0
    for line in text.split("\n"):
        for each in cues:
            words = (each.salutation, each.greeting) if is_signed else (each.salutation,)
            if any(_is_salutation(line, word, each) for word in words):
                return start
        start += len(line) + 1
    return -1


def _is_salutation(line: str, dear: re.Pattern[str], cues: AttributionCues) -> bool:
    head = fold_punctuation(line.strip()[:LONGEST_SALUTATION])
    end = next((at for at, each in enumerate(head) if each in SALUTES), len(head))
    salutation = head[:end]
    if not salutation or len(salutation.split()) > MOST_LETTER_WORDS:
        return False
    if not cues.is_unspaced:
        found = dear.match(salutation)
        return found is not None and found.end() < end
    found = dear.search(salutation)
    if found is None or (found.start() > 0 and found.end() < len(salutation)):
        return False
    return end < len(head) or len(line.strip()) <= LONGEST_SALUTATION


def _goes_on(text: str) -> bool:
    """Tell whether more than a few words follow a salutation."""
    end = next((at for at, each in enumerate(text) if each in SALUTES or each == "\n"), len(text))
    rest = text[end + 1 :].strip()
    return (
        len(rest.split()) > MOST_LETTER_WORDS or len(WIDE_CHARS.findall(rest)) > MOST_LETTER_WORDS
    )


def _is_signed(lines: Sequence[str], cues: Sequence[AttributionCues]) -> bool:
    """Tell whether one of the last lines is a closing phrase, alone or with a name after it."""
    for line in lines[-3:]:
        tail = fold_punctuation(line.strip())
        if len(lines) > 1 and len(tail) <= LONGEST_SIGNATURE:
            for each in cues:
                found = each.closing.match(tail)
                rest = tail[found.end() :].strip(" ,.!，。！") if found else ""
                if found and len(rest.split()) <= 3 and len(rest) <= 24:
                    return True
    return any(_ends_signed(lines[-1], each) for each in cues) if lines else False


def _ends_signed(line: str, cues: AttributionCues) -> bool:
    """Tell whether a line ends with a closing phrase and a name: "… Best, Olga"."""
    begin = max(0, len(line) - LONGEST_SIGNATURE)
    tail = fold_punctuation(line[begin:])
    for found in cues.closing.finditer(tail):
        name = line[begin + found.end() :]
        words = name.strip(" .!").lstrip(",").split()
        is_named = 0 < len(words) <= 3 and all(word[0].isupper() for word in words)
        if is_named and name.lstrip()[:1] == "," and tail[: found.start()].rstrip()[-1:] in ".!?":
            return True
    return False


DAY: Final = r"(?:\d{1,4}[./年-]\d{1,2}(?:[./月-]\d{1,4})?日?,? ?(?:at |um |à |às |a las )?)?"
HOUR: Final = r"\d{1,2}[:.h时時]\d{2}(?::\d{2})?(?: ?[ap]\.?m\.?| uhr)?"
TIMED: Final = re.compile(
    rf"[\[(<|*~ \u200e]{{0,3}}{DAY}{HOUR}[\])>|,]{{0,2}}(?P<mark> ?[-–—|:>] ?)?", re.IGNORECASE
)
"""A line that begins with a time: "[12:03] Nora: …", "02/11/26 10:02 - Nora: …"."""
ENDING_IN_TIME: Final = re.compile(rf"[\[(]?{DAY}{HOUR}[\])]?\s?$", re.IGNORECASE)
"""A line above somebody's words: "Nora — 10:31", "Nora, [02.11.2026 10:31]"."""
ONLY_TIME: Final = re.compile(rf"\s{{0,4}}[\[(]?{DAY}{HOUR}[\])]?[ ✓✔🗸]{{0,6}}", re.IGNORECASE)
"""A line that holds only a time, as below a chat bubble."""
TIMED_NAME: Final = re.compile(
    rf"[\s@*<~]{{0,4}}[^\W\d][\w .'’-]{{0,24}}[ ,]\s?[\[(]?{HOUR}[\])]?\s?:\s", re.IGNORECASE
)
"""A line that begins with a name and a time: "nora 21:04: …"."""
LONGEST_TIME: Final = 32
FEWEST_LINES: Final = 3
HEADING_MARKS: Final = frozenset("—–|·[(•")
FEWEST_DIGITS: Final = 7
"""Digits of a telephone number, by which a chat names a contact without a name."""
COLONS: Final = frozenset(":：>»→")
LONGEST_NAME: Final = 32
MOST_WORDS: Final = 3
LONGEST_WIDE_NAME: Final = 6
BULLETS: Final = " \t-–—*•·>~_【[@#"
TAG: Final = re.compile(r"</?[A-Za-z_!?][^<>\n]{0,200}>")
LABEL: Final = re.compile(
    r"^[ \t]{0,8}(?:\[[^\]\n]{1,40}\]|【[^】\n]{1,40}】|<<|#{2,6} |\{\{)", re.M
)
"""A label before a paragraph: "[SYSTEM] …", "### INSTRUCTION"."""
CAPITALS: Final = re.compile(
    r"^[ \t]{0,8}(?:SYSTEM|SISTEMA|SYSTÈME|ASSISTANT|USER|ADMIN|系统|系統|システム|시스템)\b", re.M
)
FENCE: Final = re.compile(r"```")
DIVIDER: Final = re.compile(r"^[ \t]{0,8}[-_*=~]{3,}[^\n]*$", re.M)
QUOTED_LINE: Final = re.compile(r"^[ \t]{0,8}[>|][^\n]*", re.M)
DATED_HEADING: Final = re.compile(
    r"""
    ^ (?= (?: [^\n\d]* \d ){4} )  # the digits of a date or time
    [^\n>|]{1,300} [:：] [ \t]*    # "Am 30.11.2026 um 16:00 schrieb Ana:"
    $ (?= \n\s{0,8} > )           # above the quoted lines
    """,
    re.MULTILINE | re.VERBOSE,
)
"""What a mail program writes above the mail that is replied to, in any language."""
ASSIGNED: Final = re.compile(r"^[^\n=]{0,80}[\w\])\"'] ?(?:=|:=|=>|->) ?[\w\"'(\[{][^\n]*$", re.M)
TOKEN: Final = re.compile(r"\S+")
NOTES: Final = frozenset("♪♫♬♩🎵🎶🎤🎼")
DELIMITERS: Final = ";,\t"
DECIMAL_COMMA: Final = re.compile(r"(?<=\d),(?=\d)")
FEWEST_COLUMNS: Final = 3


@dataclass(frozen=True, slots=True)
class _Line:
    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def find_pasted_layouts(text: str, language: str) -> Iterator[BorrowedSpan]:
    """Yield spans whose layout shows that they were pasted."""
    lines = _lines_of(text)
    cues = load_cues_for(text, language)
    yield from _chat_log(lines, cues)
    yield from _mail_headers(lines, cues)
    yield from _paragraphs_from(text, LABEL)
    yield from _paragraphs_from(text, CAPITALS)
    yield from _markup(text)
    yield from _braces(text)
    yield from _fences(text)
    yield from _tables(lines)
    divider = DIVIDER.search(text)
    if divider is not None:
        yield BorrowedSpan(divider.start(), len(text), kind="pasted")
    for found in (*DATED_HEADING.finditer(text), *QUOTED_LINE.finditer(text)):
        yield BorrowedSpan(found.start(), found.end(), kind="pasted")
    for line in lines:
        if not NOTES.isdisjoint(line.text):
            yield BorrowedSpan(line.start, line.end, kind="fiction")
    for found in ASSIGNED.finditer(text):
        yield BorrowedSpan(found.start(), found.end(), kind="machine")
    for found in TOKEN.finditer(text):
        if _is_address(found.group()):
            yield BorrowedSpan(found.start(), found.end(), kind="machine")


def _is_address(token: str) -> bool:
    """Tell whether a word is a URL."""
    has_query = "=" in token[token.find("?") :] if "?" in token else False
    return "://" in token or token.startswith("www.") or has_query


def _lines_of(text: str) -> list[_Line]:
    lines, start = [], 0
    for line in text.split("\n"):
        lines.append(_Line(start, line))
        start += len(line) + 1
    return lines


def _chat_log(lines: Sequence[_Line], cues: Sequence[AttributionCues]) -> Iterator[BorrowedSpan]:
    """Yield the lines of a pasted chat, from its first to the next blank line."""
    timed = [line for line in lines if _is_timed(line.text)]
    headed = [line for line in lines if _is_heading(line.text)]
    named = [line for line in lines if find_name_prefix(line.text)]
    unlabelled = [line for line in named if not _is_labelled(line.text, cues)]
    first: list[_Line] = []
    if len(timed) > 1 or any(_is_bracketed(line.text) for line in timed):
        first += timed[:1]
    is_marked = any(HEADING_MARKS & set(line.text) for line in headed)
    if len(headed) > 1 or is_marked or (headed and len(lines) >= FEWEST_LINES):
        first += headed[:1]
    if any(ONLY_TIME.fullmatch(line.text) for line in lines) and len(lines) > 1:
        first += lines[:1]
    if len(named) > 1 and unlabelled:
        first += named[:1]
    elif unlabelled and _is_persons_name(unlabelled[0].text, cues):
        first += unlabelled[:1]
    if first:
        begin = min(first, key=lambda line: line.start)
        yield BorrowedSpan(begin.start, _end_of_log(lines, begin), kind="logged")


def _end_of_log(lines: Sequence[_Line], begin: _Line) -> int:
    """Return where a log ends: at a blank line that no further entry follows."""
    rest = [line for line in lines if line.start >= begin.start]
    last = max(at for at, line in enumerate(rest) if at == 0 or _is_entry(line.text))
    if all(find_name_prefix(each.text) and not _is_heading(each.text) for each in rest[: last + 1]):
        return rest[last].end
    blank = (line.start for line in rest[last:] if not line.text.strip())
    return next(blank, rest[-1].end)


def _is_entry(line: str) -> bool:
    return _is_timed(line) or _is_heading(line) or bool(find_name_prefix(line))


def _is_timed(line: str) -> bool:
    if TIMED_NAME.match(line):
        return True
    found = TIMED.match(line[: 2 * LONGEST_TIME])
    return found is not None and any(map(str.isalpha, line[found.end() :]))


def _is_bracketed(line: str) -> bool:
    """Tell whether a line begins with a time in brackets, or with a time and a name."""
    if TIMED_NAME.match(line):
        return True
    found = TIMED.match(line[: 2 * LONGEST_TIME])
    if found is None:
        return False
    return line.lstrip()[:1] in {"[", "(", "<"} or bool(find_name_prefix(line[found.end() :]))


def _is_heading(line: str) -> bool:
    """Tell whether a line is only a name with a time."""
    found = ENDING_IN_TIME.search(line, max(0, len(line) - LONGEST_TIME))
    if found is None or found.start() == 0:
        return False
    name = line[: found.start()].strip(" ,—–-|·[(•")
    return bool(name) and len(name) <= LONGEST_NAME and len(name.split()) <= MOST_WORDS


def find_name_prefix(line: str) -> str:
    """Return what may be a speaker's name before the colon in a line; "" if there is none."""
    rest = line.lstrip(BULLETS)
    timed = TIMED.match(rest[: 2 * LONGEST_TIME])
    rest = rest[timed.end() :] if timed else rest
    at = _end_of_name(rest)
    name = rest[:at].partition("(")[0].strip(" *_`】])")
    if at < 1 or not name or not rest[at + 1 :].strip() or rest[at + 1 : at + 3] == "//":
        return ""
    is_number = name[0] == "+" and sum(map(str.isdecimal, name)) >= FEWEST_DIGITS
    if not all(each.isalnum() or each in " .'’-_()~&·" for each in name.removeprefix("+")):
        return ""
    if WIDE_CHARS.search(name):
        return name if len(name) <= LONGEST_WIDE_NAME else ""
    is_short = len(name.split()) <= MOST_WORDS and any(map(str.isalpha, name))
    return name if (is_short or is_number) and rest[at + 1 : at + 2].isspace() else ""


def _end_of_name(line: str) -> int:
    """Return where a name at the start of a line ends: at a mark outside brackets; else -1."""
    depth = 0
    for at, each in enumerate(line[: LONGEST_NAME + 2]):
        depth += (each in "(（") - (each in ")）")
        if each in COLONS and depth == 0:
            return at
    return -1


def _is_labelled(line: str, cues: Sequence[AttributionCues]) -> bool:
    """Tell whether the prefix before a colon is a heading of the author's own: "Update: …"."""
    name = fold_punctuation(find_name_prefix(line))
    words = name.split()
    return any(
        each.label.search(name) is not None
        if not each.is_unspaced
        else any(each.label.fullmatch(name[at:]) for at in range(len(name)))
        for each in cues
    ) or (len(words) > 1 and words[-1] in {"news", "thing"})


def _is_persons_name(line: str, cues: Sequence[AttributionCues]) -> bool:
    """Tell whether the prefix can only be a name: several capitals, or before first-person words.

    One capital begins any sentence.
    """
    name = find_name_prefix(line)
    if any(each.self.search(fold_punctuation(name)) for each in cues):
        return False
    following = fold_punctuation(line[line.find(name) + len(name) :]).lstrip(" :>»→")
    words = name.split()
    is_answered = any(each.subject.match(following) or each.self.match(following) for each in cues)
    if len(words) == 1 and is_answered:
        return True
    return len(words) > 1 and all(word[0].isupper() for word in words)


def _mail_headers(
    lines: Sequence[_Line], cues: Sequence[AttributionCues]
) -> Iterator[BorrowedSpan]:
    """Yield everything from the first mail header on, if there are two or one has an address."""
    headers = [
        line
        for line in lines
        if (name := fold_punctuation(find_name_prefix(line.text)))
        and any(each.header.fullmatch(name) for each in cues)
    ]
    if len(headers) > 1 or any("@" in line.text for line in headers):
        yield BorrowedSpan(headers[0].start, lines[-1].end, kind="pasted")


def _paragraphs_from(text: str, pattern: re.Pattern[str]) -> Iterator[BorrowedSpan]:
    """Yield what follows a label, to the end of the message."""
    found = pattern.search(text)
    if found is not None and TIMED.match(text[found.start() :][:LONGEST_TIME]) is None:
        yield BorrowedSpan(found.start(), len(text), kind="machine")


def _markup(text: str) -> Iterator[BorrowedSpan]:
    tags = list(TAG.finditer(text))
    if tags:
        yield BorrowedSpan(tags[0].start(), tags[-1].end(), kind="machine")


def _braces(text: str) -> Iterator[BorrowedSpan]:
    """Yield a span in braces that assigns something."""
    begin, end = text.find("{"), text.rfind("}")
    if 0 <= begin < end and any(each in text[begin:end] for each in ":=;"):
        yield BorrowedSpan(begin, end + 1, kind="machine")


def _fences(text: str) -> Iterator[BorrowedSpan]:
    fences = [found.start() for found in FENCE.finditer(text)]
    for begin, end in zip(fences[::2], [*fences[1::2], len(text)], strict=False):
        yield BorrowedSpan(begin, min(len(text), end + 3), kind="machine")


def _tables(lines: Sequence[_Line]) -> Iterator[BorrowedSpan]:
    """Yield the rows of tables; a single row of wide characters separated by commas is none."""
    wide = [line for line in lines if WIDE_CHARS.search(line.text) and _is_row(",", line)]
    for line in lines:
        if line in wide and len(wide) == 1 and not any(_is_row(each, line) for each in ";\t"):
            continue
        if line.text.count("|") >= FEWEST_COLUMNS - 1 or any(map(_is_row, DELIMITERS, [line] * 3)):
            yield BorrowedSpan(line.start, line.end, kind="machine")


def _is_row(delimiter: str, line: _Line) -> bool:
    """Tell whether a line consists of columns, without a blank after the delimiters.

    Beside words a comma between digits is a decimal one: "not 92,3 but 90,3" is a sentence.
    """
    is_text = delimiter == "," and " " in line.text.strip()
    cells = (DECIMAL_COMMA.sub(".", line.text) if is_text else line.text).split(delimiter)
    return len(cells) >= FEWEST_COLUMNS and all(
        cell.strip() and (cell[:1] != " " or at == 0) for at, cell in enumerate(cells)
    )
