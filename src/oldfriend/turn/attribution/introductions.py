"""Introduced texts: text that follows a colon, a dash or an arrow."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from oldfriend.domain.messages import WIDE_CHARS
from oldfriend.turn.attribution.cues import AttributionCues, fold_punctuation
from oldfriend.turn.attribution.direct_speech import (
    FEW_WORDS,
    LONGEST_INTRODUCTION,
    is_pro_drop,
    is_said_by_speaker,
)
from oldfriend.turn.attribution.quotations import list_quotations
from oldfriend.turn.attribution.quoted_span import BorrowedKind, BorrowedSpan
from oldfriend.turn.attribution.sentence_span import ENDS

DASHES: Final = frozenset("-–—")
BLANKS: Final = re.compile(r"\s{1,8}")
ARROWS: Final = frozenset("→⇒➡")
COLONS: Final = (":", "：")
LONGEST_HEADING: Final = 14
"""Words before a colon; more are a sentence that goes on after it."""
MOST_MARKS: Final = 128
"""The most colons and dashes examined; the text after more of them counts as pasted."""
LETTERS_OF_PART: Final = 4
LONGEST_PART: Final = 40
LONG: Final = 4
LONG_WIDE: Final = 6
SHORT: Final = 5
SHORT_WIDE: Final = 6
"""Words (SHORT) or wide characters of an introduction such as "As Greta said"."""


def find_introduced_spans(text: str, cues: Sequence[AttributionCues]) -> Iterator[BorrowedSpan]:
    """Yield what follows a colon, a dash or an arrow that introduces a text."""
    plain = fold_punctuation(text)
    quotations = {each.start: each.end for each in list_quotations(text)}
    last = max((at for at, each in enumerate(plain) if each.isalnum()), default=0)
    start = mark_count = 0
    for at, character in enumerate(plain):
        if text[at] in ENDS:
            start = at + 1
        is_dash = character in DASHES and plain[at - 1 : at] in {" ", ""}
        if at > last or not (character == ":" or character in ARROWS or is_dash):
            continue
        if plain[at - 1 : at].isdecimal() and plain[at + 1 : at + 2].isdecimal():
            continue
        mark_count += 1
        if mark_count > MOST_MARKS:
            yield BorrowedSpan(at, len(text), kind="pasted")
            return
        before = plain[max(start, at - LONGEST_INTRODUCTION) : at]
        head = text[max(start, at - LONGEST_PART) : at]
        if character in COLONS and _is_part(head) and not text[at : at + LONGEST_PART].isupper():
            yield BorrowedSpan(at + 1, _end_of_paragraph(text, at + 1), kind="fiction")
            continue
        is_colon = character in COLONS
        kind = (
            _kind_introduced(before, plain[at + 1 : at + 1 + LONGEST_INTRODUCTION], cues)
            if is_colon
            else _kind_asked(before, cues)
        )
        if kind is not None:
            is_told = kind == "logged" and (at > LONGEST_INTRODUCTION or not _is_short(plain[:at]))
            end = _end_of_sentence(text, at + 1) if is_told else _end_of_paragraph(text, at + 1)
            end = min(end, quotations.get(_next_word(text, at + 1), len(text)))
            yield BorrowedSpan(at + 1, end, kind=kind)


def _is_part(head: str) -> bool:
    """Tell whether the words before a colon name a part in a play: all in capitals."""
    letters = [each for each in head if each.isalpha()]
    return len(letters) >= LETTERS_OF_PART and all(map(str.isupper, letters))


def _kind_asked(before: str, cues: Sequence[AttributionCues]) -> BorrowedKind | None:
    """Return "pasted" for the text after a dash if the words before ask for work on a text."""
    is_asked = any(each.rework.search(before) for each in cues)
    return "pasted" if is_asked else None


def _kind_introduced(
    before: str, behind: str, cues: Sequence[AttributionCues]
) -> BorrowedKind | None:
    """Return what the words before a colon introduce; None if the text is the author's own."""
    kind = next((kind for each in cues if (kind := _kind_told(before, each)) is not None), None)
    if kind is not None:
        return kind
    plain = before.strip()
    if any(each.label.fullmatch(plain) for each in cues):
        return None
    if any(each.text.search(before) for each in cues):
        return "pasted"
    if not any(map(str.isalpha, before)) or len(before.split()) > LONGEST_HEADING:
        return None
    return "pasted" if _is_foreign(before, behind, cues) else None


def _kind_told(before: str, cues: AttributionCues) -> BorrowedKind | None:
    """Return what the words themselves say they introduce: a text, fiction or speech."""
    is_handed = cues.handle.search(before) is not None and is_pointing_to_text(before, cues)
    if cues.rework.search(before) or is_handed:
        return "pasted"
    is_named = any(_names(before, each, cues) for each in (cues.song, cues.work))
    is_seen = cues.vision.search(before) is not None and cues.self.search(before) is None
    if cues.fiction.search(before) or is_named or is_seen:
        return "fiction"
    reporting_verbs = (_ends_with(before, each, cues) for each in (cues.says, cues.according))
    is_own = is_said_by_speaker(before, cues) or cues.you.match(before.strip()) is not None
    return "logged" if not is_own and any(reporting_verbs) else None


def _names(text: str, pattern: re.Pattern[str], cues: AttributionCues) -> bool:
    """Tell whether a text names a work, rather than saying what something is."""
    found = pattern.search(text)
    return found is not None and not _is_predicate(text, found.start(), cues)


def _is_foreign(before: str, behind: str, cues: Sequence[AttributionCues]) -> bool:
    """Tell whether a heading names somebody else, or is long, and precedes first-person words."""
    first = cues[0]
    named = (first.kin, first.other, first.theirs, first.says, first.handle)
    is_named = any(each.search(before) for each in named)
    plain = first.article.sub("", before.strip(), count=1).lstrip()
    turns = any(cue.otherwise.search(before) or cue.label.match(plain) for cue in cues)
    if first.subject.search(before) or turns:
        return False
    if _begins_with_oneself(behind, first):
        return first.kin.search(before) is not None or (
            not first.self.search(before) and (is_named or _is_long(before))
        )
    is_named = any(each.search(before) for each in (first.kin, first.other, first.handle))
    return is_named and not first.self.search(before)


def _begins_with_oneself(text: str, cues: AttributionCues) -> bool:
    """Tell whether the first person is among the first words of a text."""
    if cues.is_unspaced:
        return cues.subject.search(text[:SHORT_WIDE]) is not None
    head = " ".join(text.split()[:SHORT])
    oneself = cues.self if is_pro_drop(cues) else cues.subject
    return oneself.search(head) is not None


def _is_long(text: str) -> bool:
    """Tell whether a heading has more than a few words."""
    return len(text.split()) >= LONG or len(WIDE_CHARS.findall(text)) >= LONG_WIDE


def _is_predicate(text: str, at: int, cues: AttributionCues) -> bool:
    """Tell whether a noun says what something is: "what saves me is music: …"."""
    words = text[:at].split()
    while words and cues.article.fullmatch(words[-1]):
        words.pop()
    return bool(words) and cues.copula.fullmatch(words[-1]) is not None


def _ends_with(text: str, pattern: re.Pattern[str], cues: AttributionCues) -> bool:
    """Tell whether the last words hold a verb of saying that the first person does not follow."""
    last = max((found.end() for found in pattern.finditer(text)), default=-1)
    if last < 0:
        return False
    rest = text[last:]
    return cues.is_unspaced or (
        cues.subject.search(rest) is None and len(rest.split()) <= FEW_WORDS
    )


def is_pointing_to_text(text: str, cues: AttributionCues) -> bool:
    return cues.text.search(text) is not None or cues.point.search(text) is not None


def _is_short(text: str) -> bool:
    """Tell whether a text is no more than a name with a verb of saying."""
    wide = len(WIDE_CHARS.findall(text))
    return wide <= SHORT_WIDE if wide else len(text.split()) <= SHORT


def _end_of_sentence(text: str, start: int) -> int:
    return next((at + 1 for at in range(start + 1, len(text)) if text[at] in ENDS), len(text))


def _end_of_paragraph(text: str, start: int) -> int:
    """Return the end of the paragraph at a position, or of the next one if it ends there."""
    end = text.find("\n\n", _next_word(text, start))
    return len(text) if end < 0 else end


def _next_word(text: str, start: int) -> int:
    """Return where the whitespace at a position ends."""
    found = BLANKS.match(text, start)
    return start if found is None else found.end()
