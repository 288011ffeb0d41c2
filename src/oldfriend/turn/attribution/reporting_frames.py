"""Reporting frames: phrases that mark a text as edited, invented, dreamt, sung or reported."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from oldfriend.domain.messages import WIDE_CHARS
from oldfriend.memory.restatement_detection import drop_starred_opening
from oldfriend.search.tokenizer import is_stop_word
from oldfriend.turn.attribution.cues import AttributionCues, fold_punctuation, load_cues_for
from oldfriend.turn.attribution.direct_speech import (
    CLAUSE_MARK,
    FEW_WORDS,
    LONGEST_INTRODUCTION,
    find_direct_speech,
    is_pro_drop,
    is_said_by_speaker,
)
from oldfriend.turn.attribution.quotations import find_quotation_end, list_quotations
from oldfriend.turn.attribution.spans import (
    ENDS,
    BorrowedKind,
    BorrowedSpan,
    SentenceSpan,
    find_sentences,
)

DASHES: Final = frozenset("-–—")
BLANKS: Final = re.compile(r"\s{1,8}")
ARROWS: Final = frozenset("→⇒➡")
COLONS: Final = (":", "：")
OWNED: Final = re.compile(r"(?<!\w)([^\W\d_]{2,24})'s(?= \w)")
"""A possessive before what is owned, in a folded text."""
LONGEST_HEADING: Final = 14
"""Words before a colon; more are a sentence that goes on after it."""
MOST_MARKS: Final = 128
"""The most colons and dashes examined; the text after more of them counts as pasted."""
LETTERS_OF_PART: Final = 4
LONGEST_PART: Final = 40
LONG: Final = 4
LONG_WIDE: Final = 6
LIST_MARK: Final = re.compile(r",\s*|[.!?]")
MIN_LISTED: Final = 3
"""Items that make a list."""
SHORT: Final = 5
SHORT_WIDE: Final = 6
"""Words (SHORT) or wide characters of an introduction such as "As Greta said"."""


def find_introduced_spans(text: str, cues: Sequence[AttributionCues]) -> Iterator[BorrowedSpan]:
    """Yield what follows a colon, a dash or an arrow that introduces a text."""
    plain = fold_punctuation(text)
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
            quotation_end = find_quotation_end(text, _next_word(text, at + 1))
            end = end if quotation_end < 0 else min(end, quotation_end)
            yield BorrowedSpan(at + 1, end, kind=kind)


def _is_part(head: str) -> bool:
    """Tell whether the words before a colon name a part in a play: all in capitals."""
    letters = [each for each in head if each.isalpha()]
    return len(letters) >= LETTERS_OF_PART and all(map(str.isupper, letters))


def _kind_asked(before: str, cues: Sequence[AttributionCues]) -> BorrowedKind | None:
    """Return "pasted" for the text after a dash if the words before ask for work on a text."""
    is_asked = any(each.rewriting.search(before) for each in cues)
    return "pasted" if is_asked else None


def _kind_introduced(
    before: str, behind: str, cues: Sequence[AttributionCues]
) -> BorrowedKind | None:
    """Return what the words before a colon introduce; None if the text is the author's own."""
    if _ends_with_statement(before, cues[0]):
        return None
    kind = next((kind for each in cues if (kind := _kind_told(before, each)) is not None), None)
    if kind == "logged" and _is_enumeration(behind, cues[0]):
        return None
    if kind is not None:
        return kind
    plain = before.strip()
    if any(each.label.fullmatch(plain) for each in cues):
        return None
    if any(each.text.search(before) for each in cues) and not cues[0].subject.search(before):
        return "pasted"
    if not any(map(str.isalpha, before)) or len(before.split()) > LONGEST_HEADING:
        return None
    return "pasted" if _is_foreign(before, behind, cues) else None


def _kind_told(before: str, cues: AttributionCues) -> BorrowedKind | None:
    """Return what the words themselves say they introduce: a text, fiction or speech."""
    is_handed = cues.handle.search(before) is not None and is_pointing_to_text(before, cues)
    if cues.rewriting.search(before) or is_handed:
        return "pasted"
    is_named = any(_names(before, each, cues) for each in (cues.song, cues.work))
    is_seen = cues.dream_noun.search(before) is not None and cues.self.search(before) is None
    if cues.fiction.search(before) or is_named or is_seen:
        return "fiction"
    reporting_verbs = (_ends_with(before, each, cues) for each in (cues.says, cues.attribution))
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
    is_named = any(each.search(before) for each in named) or _is_owned(before, first)
    plain = first.article.sub("", before.strip(), count=1).lstrip()
    turns = any(cue.resumption.search(before) or cue.label.match(plain) for cue in cues)
    if first.subject.search(before) or turns:
        return False
    if first.you.search(before) and not is_named:
        return False  # it is said to the companion: "before you suggest any: I …"
    before = _drop_company(before, first)
    if _begins_with_oneself(behind, first):
        return first.kin.search(before) is not None or (
            not first.self.search(before) and (is_named or _is_long(before))
        )
    is_named = any(each.search(before) for each in (first.kin, first.other, first.handle))
    return is_named and not first.self.search(before)


def _is_owned(heading: str, cues: AttributionCues) -> bool:
    """Tell whether a heading says whose something is: "Tom's words", but not "it's official"."""
    owners = (found.group(1) for found in OWNED.finditer(heading))
    return any(not is_stop_word(each, cues.language) for each in owners)


def _ends_with_statement(heading: str, cues: AttributionCues) -> bool:
    """Tell whether a heading ends with a clause of its own that names nobody: "…, so it's over"."""
    first, *rest = CLAUSE_MARK.split(heading)
    if not rest or not first.strip():
        return False
    named = (cues.kin, cues.other, cues.theirs, cues.says, cues.handle, cues.text)
    is_stated = cues.deictic.search(rest[-1]) or cues.copula.search(rest[-1].replace("'", " "))
    return is_stated is not None and not any(each.search(rest[-1]) for each in named)


def _drop_company(heading: str, cues: AttributionCues) -> str:
    """Return a heading without relatives behind a "with" or the like, who do not speak."""
    for found in reversed(list(cues.kin.finditer(heading))):
        if any(map(cues.governing_word.fullmatch, heading[: found.start()].split()[1:][-2:])):
            heading = heading[: found.start()] + heading[found.end() :]
    return heading


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


def _is_enumeration(text: str, cues: AttributionCues) -> bool:
    """Tell whether a text lists somebody or something: "a kid, a dog and an old sailor"."""
    if cues.is_unspaced or cues.subject.search(text):
        return False
    items = [each.split() for each in LIST_MARK.split(text)]
    led = [each for each in items if each and is_led_by_article(each, cues)]
    return len(led) >= MIN_LISTED and led[0] is items[0]


def is_led_by_article(words: Sequence[str], cues: AttributionCues) -> bool:
    """Tell whether an item of a list begins with an article, at most behind an "and"."""
    first = words[1:2] if cues.continuation.fullmatch(words[0]) else words[:1]
    return bool(first) and cues.article.fullmatch(first[0]) is not None


def is_pointing_to_text(text: str, cues: AttributionCues) -> bool:
    return cues.text.search(text) is not None or cues.deictic.search(text) is not None


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
    yield from _find_supposed(text, sentences, cues)
    if is_sound_check(text) or _acts(text, cues):
        yield BorrowedSpan(0, len(text), kind="fiction")
    for number, sentence in enumerate(sentences):
        rest = sentences[number + 1 :]
        is_played = _plays(sentence, sentences, cues)
        if is_played or _makes_up(sentence, cues) or _is_found(sentence, cues, "exercise"):
            yield BorrowedSpan(sentence.start, len(text), kind="fiction")
        if rest and any(
            each.work.search(sentence.text) and each.opening.search(sentence.text) for each in cues
        ):
            yield BorrowedSpan(sentence.end, len(text), kind="fiction")
        if _is_found(sentence, cues, "dream"):
            yield BorrowedSpan(sentence.start, _end_of_dream(sentence, rest, cues), kind="fiction")
        elif (end := _end_of_sleep(sentence, rest, cues)) > sentence.start:
            yield BorrowedSpan(sentence.start, end, kind="fiction")
        if _is_found(sentence, cues, "user_reference"):
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


def _find_supposed(
    text: str, sentences: Sequence[SentenceSpan], cues: Sequence[AttributionCues]
) -> Iterator[BorrowedSpan]:
    """Yield what a sentence before it asks to suppose, to the end of the paragraph."""
    for each in sentences[:-1]:
        if _supposes(text[each.start : each.end], each, cues):
            yield BorrowedSpan(each.start, _end_of_paragraph(text, each.end), kind="fiction")


def _supposes(original: str, sentence: SentenceSpan, cues: Sequence[AttributionCues]) -> bool:
    """Tell whether a short sentence only asks to suppose what follows: "this", not "that"."""
    is_exclaimed = original.rstrip().endswith(("!", "！"))
    length = len(WIDE_CHARS.findall(sentence.text)) or 2 * len(sentence.text.split())
    if is_exclaimed or length > FEW_WORDS:
        return False
    return any(
        each.condition.search(sentence.text[:SOON])
        and any(not each.distal.fullmatch(to[0]) for to in each.deictic.finditer(sentence.text))
        and not each.subject.search(each.condition.sub(" ", sentence.text))
        for each in cues
    )


def _makes_up(sentence: SentenceSpan, cues: Sequence[AttributionCues]) -> bool:
    """Tell whether a sentence invents something, unless that is negated."""
    for each in cues:
        for found in each.fiction.finditer(sentence.text):
            begin = max(0, found.start() - LOOKED_BACK)
            before = sentence.text[begin : found.start()].split()[-2:]
            if not any(map(each.negation.fullmatch, before)):
                return True
    return False


def _acts(text: str, cues: Sequence[AttributionCues]) -> bool:
    """Tell whether a message begins with a stage direction: "*kneels* …"."""
    found = ACTING.match(text)
    if found is None or not any(map(str.isalnum, text[found.end() :])):
        return False
    return not any(
        each.stage_direction.search(fold_punctuation(found.group(1)))
        or drop_starred_opening(text, each.language) != text
        for each in cues
    )


def _plays(
    sentence: SentenceSpan, sentences: Sequence[SentenceSpan], cues: Sequence[AttributionCues]
) -> bool:
    """Tell whether a sentence invites to a role play or assigns parts: "you're the judge, …"."""
    is_short = len(sentence.text.split()) <= FEW_WORDS // 3
    is_exhorting = any(mark in sentence.text for mark in "?:") or is_short
    is_exhorting = is_exhorting or _is_found(sentence, cues, "own_role")
    if is_exhorting and _is_found(sentence, cues, "game_invitation"):
        return True
    return "?" not in sentence.text and any(
        each.cast.search(sentence.text) and any(each.own_role.search(one.text) for one in sentences)
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
        if any(each.resumption.match(sentence.text.lstrip()) for each in cues):
            return end
        end = sentence.end
    return end


def _end_of_sleep(
    sentence: SentenceSpan, rest: Sequence[SentenceSpan], cues: Sequence[AttributionCues]
) -> int:
    """Return where an account of a night ends, by a waking after it; -1 if nobody wakes."""
    for each in cues:
        night = each.dream_night.search(sentence.text)
        if night is None:
            continue
        if each.waking.search(night.group()):
            return sentence.end
        wakes = list(each.waking.finditer(sentence.text, night.end()))
        if wakes:
            return sentence.start + wakes[-1].end()
        if rest and (woken := each.waking.search(rest[0].text[:SOON])):
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
        found = each.rewriting.search(sentence.text)
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
        for found in each.deictic.finditer(sentence.text):
            following = sentence.text[found.end() :].lstrip()
            if each.text.match(following):
                return True
    return False
