"""Pasted letters and e-mails: a salutation, a body and a closing name."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from oldfriend.domain.messages import WIDE_CHARS
from oldfriend.turn.attribution.cues import AttributionCues, fold_punctuation, load_cues_for
from oldfriend.turn.attribution.quoted_span import BorrowedSpan

LONGEST_SALUTATION: Final = 48
LONGEST_SIGNATURE: Final = 48
MOST_WORDS: Final = 6
FEWEST_LINES: Final = 3
LONGEST_WIDE: Final = 10
LONGEST_WIDE_NAME: Final = 4
BRACKETED: Final = re.compile(r"\([^()\n]{0,24}\)")
SALUTES: Final = frozenset(",:!，：！、")


def find_letters(
    text: str, language: str, addressee_names: frozenset[str]
) -> Iterator[BorrowedSpan]:
    """Yield a letter or e-mail, unless it is addressed to one of ``addressee_names``."""
    lines = [line for line in text.split("\n") if line.strip()]
    cues = load_cues_for(text, language)
    is_signed = _is_signed(lines, cues)
    begin = _begin_of_letter(text, cues, is_signed=is_signed)
    if begin < 0 and _is_laid_out(lines):
        begin = 0
        is_signed = True
    if begin < 0 and not is_signed:
        return
    head = fold_punctuation(text[max(begin, 0) :].lstrip()[:LONGEST_SALUTATION])
    if any(name and fold_punctuation(name) in head for name in addressee_names):
        return
    if begin >= 0 and (is_signed or _goes_on(text[begin:])):
        yield BorrowedSpan(begin, len(text), kind="letter")
    elif is_signed:
        yield BorrowedSpan(0, len(text), kind="letter")


def _is_laid_out(lines: Sequence[str]) -> bool:
    """Tell whether the first line is short and ends in a comma, and the last one is only a name."""
    if len(lines) < FEWEST_LINES:
        return False
    first, last = lines[0].strip(), lines[-1].strip()
    is_begun = first.endswith((",", ":", "，", "：")) and len(first.split()) <= MOST_WORDS
    if WIDE_CHARS.search(last):
        return is_begun and len(first) <= LONGEST_WIDE and len(last) <= LONGEST_WIDE_NAME
    words = BRACKETED.sub("", last).split()
    is_name = 0 < len(words) <= 3 and all(word[0].isupper() for word in words)
    return is_begun and is_name and last[-1] not in "!?…"


def _begin_of_letter(text: str, cues: Sequence[AttributionCues], *, is_signed: bool) -> int:
    """Return where a line begins with a salutation; -1 if none does.

    A "hello" may greet the companion as well, so it begins a letter only if the text is signed.
    """
    start = 0
    for line in text.split("\n"):
        for each in cues:
            words = (each.dear, each.hello) if is_signed else (each.dear,)
            if any(_is_salutation(line, word, each) for word in words):
                return start
        start += len(line) + 1
    return -1


def _is_salutation(line: str, dear: re.Pattern[str], cues: AttributionCues) -> bool:
    head = fold_punctuation(line.strip()[:LONGEST_SALUTATION])
    end = next((at for at, each in enumerate(head) if each in SALUTES), len(head))
    salutation = head[:end]
    if not salutation or len(salutation.split()) > MOST_WORDS:
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
    return len(rest.split()) > MOST_WORDS or len(WIDE_CHARS.findall(rest)) > MOST_WORDS


def _is_signed(lines: Sequence[str], cues: Sequence[AttributionCues]) -> bool:
    """Tell whether one of the last lines is a closing phrase, alone or with a name after it."""
    for line in lines[-3:]:
        tail = fold_punctuation(line.strip())
        if len(lines) > 1 and len(tail) <= LONGEST_SIGNATURE:
            for each in cues:
                found = each.regards.match(tail)
                rest = tail[found.end() :].strip(" ,.!，。！") if found else ""
                if found and len(rest.split()) <= 3 and len(rest) <= 24:
                    return True
    return any(_ends_signed(lines[-1], each) for each in cues) if lines else False


def _ends_signed(line: str, cues: AttributionCues) -> bool:
    """Tell whether a line ends with a closing phrase and a name: "… Best, Olga"."""
    begin = max(0, len(line) - LONGEST_SIGNATURE)
    tail = fold_punctuation(line[begin:])
    for found in cues.regards.finditer(tail):
        name = line[begin + found.end() :]
        words = name.strip(" .!").lstrip(",").split()
        is_named = 0 < len(words) <= 3 and all(word[0].isupper() for word in words)
        if is_named and name.lstrip()[:1] == "," and tail[: found.start()].rstrip()[-1:] in ".!?":
            return True
    return False
