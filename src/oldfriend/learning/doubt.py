"""Doubt: signs that a message may not say something true of the person.

For reading without a model, where nothing judges what is meant: what is doubtful is not believed,
and is found in its own words. So the signs are wide. Each costs little of what people tell of
themselves, and most of what others said, or nobody meant, bears one.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from oldfriend.domain.messages import Message
from oldfriend.lang.clauses import SENTENCE, split_clauses
from oldfriend.lang.message_acts import classify_act
from oldfriend.learning.extraction import Extraction, ExtractionInput, Quote
from oldfriend.learning.validation.quoted_text import list_borrowed_spans
from oldfriend.turn.attribution.cues import AttributionCues, fold_punctuation, load_cues_for

MAX_LINES: Final = 2
"""Lines of a message that is no list, letter, log or poem."""
MIN_COMMAND: Final = 0.45
"""Probability of an order by which a message hands over something to be worked on."""
MARKUP: Final = re.compile(r"[#|>{}=\[\]\\\u2190-\u21ff]|<(?!3)|;(?=\w)|\*\w|\w_\w")
"""Marks of tables, code and logs, which people seldom write when they tell something."""
QUOTATION_MARK: Final = re.compile(
    "[\"\u201a\u201c-\u201f\u00ab\u00bb\u2039\u203a\u300c-\u300f\uff02]|,,|''"
    r"|(?<!\w)['\u2018\u2019`](?=\w)[^'\u2018\u2019\n]{2,200}['\u2019](?!\w)"
)
LINE_BREAK: Final = re.compile(r"\s{0,4}\n\s{0,4}")
BREAK: Final = re.compile(r" [-\u2013\u2014] |; ?")
PAUSE: Final = re.compile(r"[,:|]\s{1,4}")
MAX_NAME_WORDS: Final = 4
"""Words on a line of its own, or before a dash, that may name who speaks behind it."""
QUESTION_MARKS: Final = frozenset("?\uff1f\u061f\u037e")


def drop_doubtful(extraction: Extraction, inputs: ExtractionInput) -> Extraction:
    """Return what rules have read without what rests on words that may be another's."""
    doubtful = {
        each.id
        for each in inputs.messages
        if each.trust == "person" and (is_borrowed(each) or may_have_other_speaker(each))
    }

    def is_sure(quotes: Iterable[Quote]) -> bool:
        return doubtful.isdisjoint(quote.message for quote in quotes)

    return replace(
        extraction,
        claims=tuple(each for each in extraction.claims if is_sure(each.quotes)),
        relations=tuple(each for each in extraction.relations if is_sure(each.quotes)),
        mentions=tuple(each for each in extraction.mentions if is_sure(each.quotes)),
        same_as_claims=tuple(each for each in extraction.same_as_claims if is_sure(each.quotes)),
    )


def is_doubtful(message: Message) -> bool:
    """Tell whether a message may be about words that are not the person's, or not meant.

    It asks or orders something, or what it tells is another's, or unreal.
    """
    text = message.text
    return (
        not QUESTION_MARKS.isdisjoint(text)
        or is_borrowed(message)
        or is_unreal(message)
        or may_have_other_speaker(message)
        or any(
            classify_act(text[start:end])["command"] >= MIN_COMMAND
            for start, end in split_clauses(text)
        )
    )


def is_borrowed(message: Message) -> bool:
    """Tell whether a message is formatted like a document, or is a text by somebody else."""
    spans = list_borrowed_spans(message)
    return is_preformatted(message.text) or any(each.kind != "quoted" for each in spans)


def is_unreal(message: Message) -> bool:
    """Tell whether a message jokes, tells a dream or a rumor."""
    plain = fold_punctuation(message.text)
    return any(
        each.search(plain)
        for cues in load_cues_for(message.text, message.language)[:1]
        for each in (cues.joke, cues.dream, cues.vision, cues.night, cues.according)
    )


def may_have_other_speaker(message: Message) -> bool:
    """Tell whether "I" in a message may be somebody else who speaks in it.

    It stands behind words for speaking, or behind a pause before which somebody else is named; what
    stands in quotation marks is known to be another's.
    """
    start, end = find_quoted_part(message) or (0, 0)
    own = message.text[:start] + " " * (end - start) + message.text[end:]
    plain = BREAK.sub("| ", fold_punctuation(LINE_BREAK.sub("| ", own)))
    return any(
        is_spoken_by_other(each.group(), cues)
        for cues in load_cues_for(message.text, message.language)[:1]
        for each in SENTENCE.finditer(plain)
    )


def is_spoken_by_other(sentence: str, cues: AttributionCues) -> bool:
    """Tell whether "I" in a sentence may be somebody else."""
    said = cues.says.search(sentence)
    if said and not cues.own_says.search(sentence) and cues.subject.search(sentence, said.end()):
        return True
    for pause in PAUSE.finditer(sentence):
        if cues.subject.match(sentence, pause.end()):
            return names_speaker(sentence[: pause.start()], sentence[pause.start()], cues)
    return False


def names_speaker(before: str, pause: str, cues: AttributionCues) -> bool:
    """Tell whether what stands before a pause may name who speaks behind it.

    Before a comma it must be a person; before a colon or a line break it may be anything short that
    does not itself announce news of the speaker's.
    """
    own = cues.subject if pause == ":" else cues.self
    if own.search(before) or not any(map(str.isalpha, before)):
        return False
    if pause == ",":
        is_person = any(each.search(before) for each in (cues.kin, cues.other, cues.theirs))
        return is_person or cues.article.match(before.lstrip()) is not None
    is_short = pause == ":" or len(before.split()) <= MAX_NAME_WORDS
    return is_short and not cues.label.search(before)


def is_preformatted(text: str) -> bool:
    """Tell whether a text has many lines, or marks that belong to no sentence."""
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) > MAX_LINES or MARKUP.search(text) is not None


def find_quoted_part(message: Message) -> tuple[int, int] | None:
    """Return where the first quotation of a message starts and the last one ends, if there is any.

    What stands between two quotations counts as quoted, too.
    """
    spans = [found.span() for found in QUOTATION_MARK.finditer(message.text)]
    spans += [(each.start, each.end) for each in list_borrowed_spans(message)]
    return (min(spans)[0], max(end for _, end in spans)) if spans else None
