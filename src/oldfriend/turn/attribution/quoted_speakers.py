"""Quoted speakers: names given without a colon, after a text, on the line above it, or in a tag."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from oldfriend.turn.attribution.cues import AttributionCues, fold_punctuation, load_cues_for
from oldfriend.turn.attribution.quoted_span import BorrowedSpan
from oldfriend.turn.attribution.sentence_span import SentenceSpan, find_sentences

NAME: Final = r"[^\W\d_a-zß-ÿ][\w'’.-]{0,24}"
SIGNED_LINE: Final = re.compile(
    rf"\s{{0,4}}(?:~ ?[^\W\d][\w .'’-]{{0,32}}|[—–-] ?{NAME}(?: {NAME})?)"
)
POINTING_UP: Final = re.compile(r"\s{0,4}[\^⬆↑☝]\W{0,3}\s?\w.{0,60}")
SIGNED_END: Final = re.compile(rf"(?<=[\w.!?]) [—–~] ?{NAME}(?: {NAME})?\.?\s{{0,4}}$")
"""A name after a dash at the end of a text: "… — Ana"."""
SIGNATURE: Final = re.compile(r"^-- ?$", re.M)
"""The line that separates an e-mail from its signature block."""
TAGGED: Final = re.compile(
    r"(?:[\s@]{0,4}[\w]{2,24}_[\w.]{1,24} |\(\w{2,24}\) |<[\w.-]{2,24}> |\w[\w.-]{1,24} (?:\||//) "
    r"|\d{4}-\d\d-\d\dT[\d:.]{5,15}Z? [\w.-]{2,24} )"
)
"""A name before words on the same line: "(Ana) …", "Ana | …"."""
MADE_BUBBLE: Final = re.compile(r"\w[\w.-]{1,24} {3,8}\S.{0,200} {3,8}\d{1,2}[:.]\d\d\b")
"""A line as copied from a chat bubble: a name, the words, the time."""
AGO: Final = re.compile(
    r"(?:[·•@]|ago|replied|posted)[^\n]{0,40}|(?:vor|hace|il y a|há|fa) \d{1,3} \w{1,9}|\d{1,3} ?"
    r"(?:小时|小時|分钟|分鐘|天|时间|時間|日|年)前"
)
SINCE: Final = re.compile(
    r"\d{1,3} ?(?:[smhdwy]|mins?|hours?|days?|weeks?|months?|years?)\b|前|[\d ]\w{1,30}$"
)
FORUM: Final = re.compile(r"\s{0,4}(?:r/\w{2,24}\s{0,4}$|[^\n]{0,24}\bu/\w{2,24})")
STARS: Final = re.compile(r"\s{0,4}[★☆⭐]{2,10}")
BY_LINE: Final = re.compile(
    rf"(?:By|Von|Por|Par|Di|Da|Door) {NAME} {NAME}(?:,[^\n]{{1,40}})?\s{{0,4}}"
)
AGED_NAME: Final = re.compile(rf"{NAME}, \d{{2}}\b[^.!?\n]{{0,40}}")
TO_FILL: Final = re.compile(r"\w _{2,12}(?!\w)")
NUMBERED: Final = re.compile(r"(?<!\w)[^\W\d_]\d{1,2}[.:)] ")
"""A numbered question or answer: "Q1. … A1. …"."""
FACES: Final = frozenset("👩👨👧👦👱👵👴🧑🧔👤")
SHORT: Final = 6
LONGEST_TAIL: Final = 40
ENDINGS: Final = " \t\n.!?…)"
BEHIND_SELF: Final = frozenset(",;).!")
BEFORE_NOT: Final = frozenset("(,;—–-")


def find_attributed_spans(text: str, language: str) -> Iterator[BorrowedSpan]:
    """Yield the words next to which somebody else is named as their speaker."""
    cues = load_cues_for(text, language)
    lines = text.split("\n")
    yield from _signed(text, lines, cues)
    yield from _headed(text, lines, cues)
    yield from _tagged(lines, cues)
    yield from _told_behind(find_sentences(text), cues)
    if TO_FILL.search(text):
        yield BorrowedSpan(0, len(text), kind="fiction")
    numbered = list(NUMBERED.finditer(text))
    if len({each.group()[0] for each in numbered}) > 1:
        yield BorrowedSpan(numbered[0].start(), len(text), kind="fiction")


def _signed(
    text: str, lines: Sequence[str], cues: Sequence[AttributionCues]
) -> Iterator[BorrowedSpan]:
    """Yield a text with a name below it or after it."""
    nonblank = [line for line in lines if line.strip()]
    separator = SIGNATURE.search(text)
    if separator is not None and text[: separator.start()].strip():
        yield BorrowedSpan(0, len(text), kind="letter")
    if len(nonblank) > 1:
        last = nonblank[-1]
        is_named = SIGNED_LINE.fullmatch(last.rstrip()) and not SIGNED_LINE.fullmatch(nonblank[-2])
        if is_named or POINTING_UP.fullmatch(last) or _names_sender(last, cues):
            yield BorrowedSpan(0, len(text), kind="logged")
    found = SIGNED_END.search(text, max(0, len(text) - LONGEST_TAIL))
    if found is not None and not _speaks(fold_punctuation(found.group()), cues):
        yield BorrowedSpan(text.rfind("\n", 0, found.start()) + 1, len(text), kind="logged")


def _names_sender(line: str, cues: Sequence[AttributionCues]) -> bool:
    """Tell whether a short line begins like a mail header followed by a name: "from Ana"."""
    plain = line.strip()
    if len(plain.split()) > SHORT:
        return False
    for each in cues:
        found = each.header.match(fold_punctuation(plain))
        while found is not None:
            rest = plain[found.end() :].lstrip()
            if rest[:1].isupper() and not _speaks(fold_punctuation(rest), cues):
                return found.end() < len(plain) and plain[found.end()] == " "
            begin = len(plain) - len(rest)
            found = (
                each.header.match(fold_punctuation(plain), begin) if begin > found.start() else None
            )
    return False


def _headed(
    text: str, lines: Sequence[str], cues: Sequence[AttributionCues]
) -> Iterator[BorrowedSpan]:
    """Yield what stands below a line that only says whose, or where from, the words are."""
    start = 0
    for number, line in enumerate(lines[:-1]):
        end = start + len(line)
        if line.strip() and text[end:].strip() and _heads(line, lines[number + 1], number, cues):
            yield BorrowedSpan(start, len(text), kind="pasted")
            return
        start = end + 1


def _heads(line: str, following: str, number: int, cues: Sequence[AttributionCues]) -> bool:
    if len(line) > 4 * LONGEST_TAIL:
        return False
    plain = fold_punctuation(line.strip())
    if FORUM.match(line) or STARS.match(line) or BY_LINE.fullmatch(line):
        return True
    if _speaks(plain, cues):
        return False
    if AGED_NAME.fullmatch(line.strip()) or (number == 0 and _names_sender(line, cues)):
        return True
    is_dated = len(plain.split()) <= SHORT and AGO.search(plain) and SINCE.search(plain)
    if is_dated and (line.lstrip()[:1].isupper() or "@" in line):
        return True
    heading = plain.rstrip(" :")
    for each in cues:
        if any(found.end() == len(heading) for found in each.says.finditer(heading)):
            return True
    is_left_open = plain.endswith(("...", "…")) and not following.strip()
    is_short = len(plain.split()) <= SHORT
    return is_left_open and is_short and any(each.kin.search(plain) for each in cues)


def _tagged(lines: Sequence[str], cues: Sequence[AttributionCues]) -> Iterator[BorrowedSpan]:
    """Yield lines that begin with a name before first-person words, without a colon."""
    start = 0
    faced = [line for line in lines if line.strip()[:1] in FACES]
    for line in lines:
        found = TAGGED.match(line)
        is_tagged = found is not None and any(
            each.subject.match(fold_punctuation(line[found.end() :])) for each in cues
        )
        is_faced = len(faced) > 1 and line.strip()[:1] in FACES
        if is_tagged or is_faced or MADE_BUBBLE.match(line):
            yield BorrowedSpan(start, start + len(line), kind="logged")
        start += len(line) + 1


def _told_behind(
    sentences: Sequence[SentenceSpan], cues: Sequence[AttributionCues]
) -> Iterator[BorrowedSpan]:
    """Yield words attributed to others after them: ", says Ana"; "That is what Ana told me"."""
    for number, sentence in enumerate(sentences):
        if _is_said_by_tail(sentence.text, cues):
            yield BorrowedSpan(sentence.start, sentence.end, kind="logged")
        if _is_disowned(sentence.text, cues):
            yield BorrowedSpan(sentence.start, sentence.end, kind="logged")
        if number and _points_back(sentence.text, cues[0]):
            before = sentences[number - 1]
            if _speaks(before.text, cues):
                yield BorrowedSpan(before.start, sentence.end, kind="logged")


def _is_said_by_tail(sentence: str, cues: Sequence[AttributionCues]) -> bool:
    """Tell whether the last clause is a verb of saying whose subject is not the author."""
    comma = sentence.rfind(",", max(0, len(sentence) - LONGEST_TAIL))
    tail = sentence[comma + 1 :].strip(ENDINGS)
    if comma < 0 or not 1 < len(tail.split()) <= 3 or not _speaks(sentence[:comma], cues):
        return False
    for each in cues:
        verb = each.says.match(tail)
        is_last = any(found.end() == len(tail) for found in each.says.finditer(tail))
        if (verb or is_last) and not each.self.search(tail) and not each.you.search(tail):
            return each.says.sub("", tail).strip() != ""
    return False


def _points_back(sentence: str, cues: AttributionCues) -> bool:
    """Tell whether a short sentence says that somebody told the one before it."""
    plain = sentence.strip()
    is_short = 3 < len(plain.split()) <= 2 * SHORT
    if not is_short or cues.subject.search(plain) or cues.own_says.search(plain):
        return False
    return cues.point.match(plain) is not None and cues.says.search(plain) is not None


def _is_disowned(sentence: str, cues: Sequence[AttributionCues]) -> bool:
    """Tell whether an aside says that it is not the author: "(not me, my sister)"."""
    for each in cues:
        for found in each.not_.finditer(sentence):
            rest = sentence[found.end() : found.end() + LONGEST_TAIL].lstrip()
            oneself = each.self.match(rest)
            before = sentence[max(0, found.start() - LONGEST_TAIL) : found.start()].rstrip()[-1:]
            if oneself is not None and before in BEFORE_NOT and before:
                following = rest[oneself.end() : oneself.end() + 1]
                return not following or following in BEHIND_SELF
    return False


def _speaks(text: str, cues: Sequence[AttributionCues]) -> bool:
    return any(each.self.search(text) for each in cues)
