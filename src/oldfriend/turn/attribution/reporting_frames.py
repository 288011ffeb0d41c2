"""Reporting frames: phrases that mark a text as edited, invented, dreamt, sung or reported."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from oldfriend.domain.messages import WIDE_CHARS
from oldfriend.turn.attribution.cues import AttributionCues, fold_punctuation, load_cues_for
from oldfriend.turn.attribution.direct_speech import FEW_WORDS, find_direct_speech
from oldfriend.turn.attribution.introductions import (
    COLONS,
    find_introduced_spans,
    is_pointing_to_text,
)
from oldfriend.turn.attribution.quotations import list_quotations
from oldfriend.turn.attribution.quoted_span import BorrowedSpan
from oldfriend.turn.attribution.sentence_span import SentenceSpan, find_sentences

FOR_ME: Final = (
    "帮我",
    "幫我",
    "给我",
    "給我",
    "替我",
    "for me",
    "para mí",
    "para mim",
    "pour moi",
)
WORD: Final = re.compile(r"\w+")
TRIALS: Final = frozenset(
    ["test", "testing", "probando", "prueba", "teste", "testando", "essai", "prova", "probe"]
)
TRIED_ONES: Final = frozenset(["one", "um", "uno", "un", "une", "eins", "ein"])
ACTING: Final = re.compile(r"\s{0,4}\*([^*\n]{3,60})\*\s")
SOME: Final = 3
SOON: Final = 40
"""Characters of the next sentence in which a waking ends what was told before."""
LOOKED_BACK: Final = 40
"""Characters before a word in which its negation may stand."""


def find_framed_spans(text: str, language: str) -> Iterator[BorrowedSpan]:
    """Yield what is framed as somebody else's words, as invented, or as a text to be worked on."""
    cues = load_cues_for(text, language)
    sentences = find_sentences(text)
    yield from find_introduced_spans(text, cues)
    yield from find_direct_speech(sentences, cues)
    if is_sound_check(text) or _acts(text, cues):
        yield BorrowedSpan(0, len(text), kind="fiction")
    for number, sentence in enumerate(sentences):
        rest = sentences[number + 1 :]
        is_played = _plays(sentence, sentences, cues)
        if is_played or _makes_up(sentence, cues) or _is_found(sentence, cues, "lesson"):
            yield BorrowedSpan(sentence.start, len(text), kind="fiction")
        if rest and any(
            each.work.search(sentence.text) and each.opening.search(sentence.text) for each in cues
        ):
            yield BorrowedSpan(sentence.end, len(text), kind="fiction")
        if _is_found(sentence, cues, "dream"):
            yield BorrowedSpan(sentence.start, _end_of_dream(sentence, rest, cues), kind="fiction")
        elif (end := _end_of_sleep(sentence, rest, cues)) > sentence.start:
            yield BorrowedSpan(sentence.start, end, kind="fiction")
        if _is_found(sentence, cues, "user"):
            yield BorrowedSpan(sentence.start, sentence.end, kind="machine")
        yield from _worked_on(text, sentences, number, cues)


def is_open_request(text: str, language: str) -> bool:
    """Tell whether a message asks for work on a text that it does not contain."""
    cues = load_cues_for(text, language)
    sentences = find_sentences(text)
    if not sentences or len(text.split()) > FEW_WORDS:
        return False
    requests = [each for each in sentences if _is_request(each, cues)]
    return (
        bool(requests)
        and len(sentences) == len(requests)
        and not any(find_framed_spans(text, language))
    )


def is_role_play_opening(text: str, language: str) -> bool:
    """Tell whether a message opens a game in which its author plays a part."""
    cues = load_cues_for(text, language)
    sentences = find_sentences(text)
    return any(
        _plays(each, sentences, cues)
        or (_is_found(each, cues, "fiction") and len(sentences) <= SOME)
        for each in sentences
    )


def is_stage_direction(text: str, language: str) -> bool:
    """Tell whether a message begins with a stage direction: "*kneels* …"."""
    return _acts(text, load_cues_for(text, language))


def _is_found(sentence: SentenceSpan, cues: Sequence[AttributionCues], name: str) -> bool:
    return any(getattr(each, name).search(sentence.text) for each in cues)


def _makes_up(sentence: SentenceSpan, cues: Sequence[AttributionCues]) -> bool:
    """Tell whether a sentence invents something, unless that is negated."""
    for each in cues:
        for found in each.fiction.finditer(sentence.text):
            begin = max(0, found.start() - LOOKED_BACK)
            before = sentence.text[begin : found.start()].split()[-2:]
            if not any(map(each.not_.fullmatch, before)):
                return True
    return False


def _acts(text: str, cues: Sequence[AttributionCues]) -> bool:
    """Tell whether a message begins with a stage direction: "*kneels* …"."""
    found = ACTING.match(text)
    if found is None or not any(map(str.isalnum, text[found.end() :])):
        return False
    return not any(each.sigh.search(fold_punctuation(found.group(1))) for each in cues)


def _plays(
    sentence: SentenceSpan, sentences: Sequence[SentenceSpan], cues: Sequence[AttributionCues]
) -> bool:
    """Tell whether a sentence invites to a role play or assigns parts: "you're the judge, …"."""
    is_short = len(sentence.text.split()) <= FEW_WORDS // 3
    is_exhorting = any(mark in sentence.text for mark in "?:") or is_short
    is_exhorting = is_exhorting or _is_found(sentence, cues, "own_part")
    if is_exhorting and _is_found(sentence, cues, "invite"):
        return True
    return "?" not in sentence.text and any(
        each.cast.search(sentence.text) and any(each.own_part.search(one.text) for one in sentences)
        for each in cues
    )


def is_sound_check(text: str) -> bool:
    """Tell whether a message begins with a microphone test: "test test", "testing 1 2"."""
    if WIDE_CHARS.search(text):
        head = re.split(r"[\s,，。.!！]+", fold_punctuation(text).strip())[:2]
        return any(each.endswith(("测试", "測試", "テスト")) for each in head)
    words = WORD.findall(fold_punctuation(text))[:2]
    if words[1:] == ["check"]:
        return True
    if len(words) < len(("test", "test")) or words[0] not in TRIALS:
        return False
    return words[1] in {words[0], *TRIED_ONES} or words[1].isdecimal()


def _end_of_dream(
    dream: SentenceSpan, rest: Sequence[SentenceSpan], cues: Sequence[AttributionCues]
) -> int:
    """Return where a dream ends: before a sentence that turns to something else."""
    end = dream.end
    for sentence in rest:
        if any(each.otherwise.match(sentence.text.lstrip()) for each in cues):
            return end
        end = sentence.end
    return end


def _end_of_sleep(
    sentence: SentenceSpan, rest: Sequence[SentenceSpan], cues: Sequence[AttributionCues]
) -> int:
    """Return where an account of a night ends, by a waking after it; -1 if nobody wakes."""
    for each in cues:
        night = each.night.search(sentence.text)
        if night is None:
            continue
        if each.wake.search(night.group()):
            return sentence.end
        wakes = list(each.wake.finditer(sentence.text, night.end()))
        if wakes:
            return sentence.start + wakes[-1].end()
        if rest and (woken := each.wake.search(rest[0].text[:SOON])):
            return rest[0].start + woken.end()
    return -1


def _worked_on(
    text: str, sentences: Sequence[SentenceSpan], number: int, cues: Sequence[AttributionCues]
) -> Iterator[BorrowedSpan]:
    """Yield the text that a sentence asks to be worked on: after it, or else before it."""
    sentence = sentences[number]
    is_request = _is_request(sentence, cues)
    is_handing = _hands_over(sentence, cues)
    ends_line = text[sentence.start : sentence.end].endswith("\n")
    begins_line = text[: sentence.start].endswith("\n")
    is_named = is_handing and _names_text(sentence, cues)
    if (is_request or is_handing) and (quoted := _quoted_at(text, sentence)) is not None:
        yield quoted
        return
    if number + 1 < len(sentences):
        if is_request or is_named or (is_handing and ends_line):
            yield BorrowedSpan(sentence.end, len(text), kind="pasted")
    elif number > 0:
        is_pointing = any(is_pointing_to_text(sentence.text, each) for each in cues)
        if is_pointing and (is_request or (is_handing and begins_line)):
            yield BorrowedSpan(0, sentence.start, kind="pasted")


def _quoted_at(text: str, sentence: SentenceSpan) -> BorrowedSpan | None:
    """Return the quotation that a sentence introduces by a colon, or that follows it."""
    for each in list_quotations(text):
        if each.start <= sentence.start:
            continue
        if text[sentence.end : each.start].strip():
            return None
        before = text[sentence.start : each.start].rstrip()
        is_introduced = each.start <= sentence.end and before[-1:] in COLONS
        is_next = before and sentence.start + len(before) >= sentence.end - 1
        is_next = is_next and sentence.end <= each.start
        if is_introduced or is_next:
            return BorrowedSpan(each.start, each.end, kind="pasted")
    return None


def _is_request(sentence: SentenceSpan, cues: Sequence[AttributionCues]) -> bool:
    """Tell whether a sentence asks for work on a text, rather than telling of such work."""
    for each in cues:
        found = each.rework.search(sentence.text)
        if found is None:
            continue
        before = sentence.text[: found.start()]
        for phrase in FOR_ME:
            before = before.replace(phrase, " ")
        is_asked = "?" in sentence.text or each.subject.search(before) is None
        if is_asked:
            return True
    return False


def _hands_over(sentence: SentenceSpan, cues: Sequence[AttributionCues]) -> bool:
    """Tell whether a sentence points to a text next to it."""
    for each in cues:
        is_asked = each.handle.search(sentence.text) or each.please.search(sentence.text)
        if is_asked and is_pointing_to_text(sentence.text, each):
            return True
        is_short = len(sentence.text.split()) <= FEW_WORDS
        if is_short and each.text.search(sentence.text) and not each.subject.search(sentence.text):
            return True
    return False


def _names_text(sentence: SentenceSpan, cues: Sequence[AttributionCues]) -> bool:
    """Tell whether a sentence asks about a text that it points to: "this thread"."""
    for each in cues:
        if "?" not in sentence.text and not each.please.search(sentence.text):
            continue
        for found in each.point.finditer(sentence.text):
            following = sentence.text[found.end() :].lstrip()
            if each.text.match(following):
                return True
    return False
