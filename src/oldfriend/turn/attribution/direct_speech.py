"""Direct speech: somebody else's words that stand without quotation marks."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final

from oldfriend.lang.language_pack import get_traits
from oldfriend.turn.attribution.cues import AttributionCues
from oldfriend.turn.attribution.spans import BorrowedSpan, SentenceSpan

TO_ME: Final = ("对我说", "跟我说", "和我说", "向我说", "對我說", "跟我說", "对我讲", "跟我讲")
"""What others say to the author, where the words alone would read "I say"."""
CLAUSE_MARK: Final = re.compile(r"[,;:]")
SPEECH_GAP: Final = re.compile(r"[^,;:.!?\"“”„«»‘]{0,40}(?:, [^,;:.!?\"“”„«»]{3,30})?, ")
SPEECH_GAP_WIDE: Final = re.compile(r"[ ,，]+")
"""What may stand between "she says" and her words if no mark quotes them."""
GAP: Final = re.compile(r"[ ,:–—-]{1,4}")
GAP_WIDE: Final = re.compile(r"[ ,，：:]{1,4}")
TO_WHOM: Final = re.compile(r"[跟对對向给給和往把让讓找陪][着著过過]?我")
"""The author as an object in Chinese, where "I" has no object form."""
LONGEST_INTRODUCTION: Final = 200
MOST_VERBS: Final = 64
"""The most verbs of saying examined in a sentence; a real sentence has fewer."""
FEW_WORDS: Final = 12


def find_direct_speech(
    sentences: Sequence[SentenceSpan], cues: Sequence[AttributionCues]
) -> Iterator[BorrowedSpan]:
    """Yield what follows "she says," and begins with "I": somebody else's words."""
    main_cues = cues[0]
    for sentence in sentences:
        yield from _led_in(sentence, main_cues)
        for number, found in enumerate(main_cues.says.finditer(sentence.text)):
            if number == MOST_VERBS:
                yield BorrowedSpan(sentence.start + found.start(), sentence.end, kind="logged")
                break
            if _tells_oneself(sentence.text, found.start(), main_cues) or is_said_by_speaker(
                sentence.text[max(0, found.start() - LONGEST_INTRODUCTION) : found.end()], main_cues
            ):
                continue
            rest = sentence.text[found.end() : found.end() + LONGEST_INTRODUCTION]
            gap = SPEECH_GAP_WIDE.match(rest) if main_cues.is_unspaced else SPEECH_GAP.match(rest)
            is_bare = main_cues.is_unspaced or is_pro_drop(main_cues)
            oneself = main_cues.subject if is_pro_drop(main_cues) else main_cues.self
            if gap is None or oneself.search(gap.group()) or main_cues.contrast.search(gap.group()):
                continue
            first_person = main_cues.self if is_bare else main_cues.subject
            if first_person.match(rest, gap.end()):
                yield BorrowedSpan(
                    sentence.start + found.end() + gap.end(), sentence.end, kind="logged"
                )


def _led_in(sentence: SentenceSpan, cues: AttributionCues) -> Iterator[BorrowedSpan]:
    """Yield what a quotative introduces, to the end of the sentence: "she goes, I'm …"."""
    for found in islice(cues.quotative.finditer(sentence.text), MOST_VERBS):
        subject_clause = _clause_before(sentence.text, found.start())
        if not subject_clause.strip() or _tells_oneself(sentence.text, found.start(), cues):
            continue
        rest = sentence.text[found.end() : found.end() + LONGEST_INTRODUCTION]
        gap = GAP_WIDE.match(rest) if cues.is_unspaced else GAP.match(rest)
        if gap is None or cues.that.match(rest, gap.end()):
            continue
        if cues.is_unspaced:
            is_own = cues.subject.match(rest, gap.end()) is not None
        else:
            head = " ".join(rest[gap.end() :].split()[:FEW_WORDS])
            oneself = cues.self.search(head) if is_pro_drop(cues) else None
            is_own = (cues.subject.match(head) or oneself) is not None
        if is_own:
            yield BorrowedSpan(sentence.start + found.end(), sentence.end, kind="logged")
            return


def is_pro_drop(cues: AttributionCues) -> bool:
    """Tell whether the language drops subject pronouns, so that the verb alone tells who speaks."""
    return get_traits(cues.language).drops_pronouns


def _tells_oneself(text: str, at: int, cues: AttributionCues) -> bool:
    """Tell whether the author is the subject of the clause that ends at a position."""
    return cues.subject.search(TO_WHOM.sub(" ", _clause_before(text, at))) is not None


def _clause_before(text: str, at: int) -> str:
    """Return the clause before a position, of at most LONGEST_INTRODUCTION characters."""
    return CLAUSE_MARK.split(text[max(0, at - LONGEST_INTRODUCTION) : at])[-1]


def is_said_by_speaker(text: str, cues: AttributionCues) -> bool:
    """Tell whether words of saying in a folded text are the author's own: "I told her …"."""
    for phrase in TO_ME:
        text = text.replace(phrase, " ")
    return cues.own_says.search(text) is not None
