"""Doubt: signs that a message may not say something true of the person.

What is doubtful is not believed: read without a model, where nothing judges what is meant, it is
found in its own words; read by a model, it waits until the person confirms it. So the signs are
wide. Each costs little of what people tell of themselves, and most of what others said, or nobody
meant, bears one.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from oldfriend.domain.messages import MAX_SENTENCE_CHARS, Message
from oldfriend.lang.clause_splitting import SENTENCE, split_clauses
from oldfriend.lang.language_pack import get_traits
from oldfriend.learning.extraction import Extraction, ExtractionInput, Quote
from oldfriend.learning.validation.assertion import INTERJECTIONS
from oldfriend.learning.validation.clauses import get_content_stems
from oldfriend.learning.validation.cue_words import get_cue_words
from oldfriend.learning.validation.quote_alignment import QuoteSpan
from oldfriend.learning.validation.quoted_text import list_borrowed_spans
from oldfriend.learning.validation.segment_view import SegmentView, ValidationCase
from oldfriend.memory.restatement_detection import drop_starred_opening
from oldfriend.turn.attribution.cues import AttributionCues, fold_punctuation, load_cues_for
from oldfriend.turn.attribution.orders import has_order
from oldfriend.turn.attribution.spans import SentenceSpan, find_sentences

MAX_LINES: Final = 2
"""Lines of a message that is no list, letter, log or poem, whatever they tell."""
MAX_OWN_LINES: Final = 4
"""The same, if its author is in each of them."""
MAX_LINE_CHARS: Final = 80
MAX_GREETING_WORDS: Final = 3
"""Words of a first line that only greets."""
MARKUP: Final = re.compile(r"[#|>{}=\[\]\\\u2190-\u21ff]|<(?!3)|;(?=\w)|\*\w[^*\n]{0,100}\*|\w_\w")
"""Marks of tables, code and logs, which people seldom write when they tell something.

A single asterisk marks a correction: "*it's Regina".
"""
EMOTICON: Final = re.compile(
    r"(?<!\S)(?:[:;=xX8][-'^o~]?[()\[\]{}DPpOo/\\|<>*3cC]{1,3}|[()\[\]{}/\\|<>]{1,3}[-'^o~]?[:;=]"
    r"|[>\-^=TtoO;][._]{1,3}[<\-^=TtoO;]|\\o/)(?!\w)"
)
QUOTATION_MARK: Final = re.compile(
    "[\"\u201a\u201c-\u201f\u00ab\u00bb\u2039\u203a\u300c-\u300f\uff02]|,,|''"
    r"|(?<!\w)['\u2018\u2019`](?=\w)[^'\u2018\u2019\n]{2,200}['\u2019](?!\w)"
)
LINE_BREAK: Final = re.compile(r"\s{0,4}\n\s{0,4}")
BREAK: Final = re.compile(r" [-\u2013\u2014] |; ?")
PAUSE: Final = re.compile(r"[,:|]\s{1,4}")
MAX_NAME_WORDS: Final = 4
"""Words on a line of its own, or before a dash, that may name who speaks behind it."""
MAX_ENDING: Final = 2
"""Letters of a genitive behind a name."""
WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")
MAX_PASSAGE: Final = 400
"""Characters of what is shown of a message in doubt."""
MIN_OWN_WORDS: Final = 3
"""Words, but for the commonest, by which a joke or a dream tells something itself."""
MAX_OPENING_WORDS: Final = 5
"""Words of a sentence in which a sigh is followed by what it sighs at: "oh I love …"."""
MAX_SCENE: Final = 3
"""Sentences before one without "I" that may set a scene in which somebody else speaks."""
QUESTION_MARKS: Final = frozenset("?\uff1f\u061f\u037e")


def drop_doubtful(extraction: Extraction, inputs: ExtractionInput) -> Extraction:
    """Return what rules have read without what rests on words that may be another's."""
    doubtful = {each.id for each in inputs.messages if is_foreign(each)}

    def is_sure(quotes: Iterable[Quote]) -> bool:
        return doubtful.isdisjoint(quote.message for quote in quotes)

    return replace(
        extraction,
        claims=tuple(each for each in extraction.claims if is_sure(each.quotes)),
        relations=tuple(each for each in extraction.relations if is_sure(each.quotes)),
        mentions=tuple(each for each in extraction.mentions if is_sure(each.quotes)),
        same_as_claims=tuple(each for each in extraction.same_as_claims if is_sure(each.quotes)),
    )


def is_foreign(message: Message) -> bool:
    """Tell whether what the person wrote may be somebody else's words."""
    return message.trust == "person" and (is_borrowed(message) or may_have_other_speaker(message))


def is_doubtful(message: Message) -> bool:
    """Tell whether a message may be about words that are not the person's, or not meant.

    It asks or orders something, or what it tells is another's, or unreal.
    """
    return (
        not QUESTION_MARKS.isdisjoint(message.text)
        or is_borrowed(message)
        or is_unreal(message)
        or may_have_other_speaker(message)
        or has_order(message.text, message.language)
    )


def has_doubtful_words(case: ValidationCase) -> bool:
    """Tell whether a claim rests on words of the person's that may be another's, or not meant.

    For reading by a model, which may be deceived about what is meant: what it claims on such words
    is not believed before the person confirms it. An order counts only in the quoted sentence,
    since people tell and ask in one message; of questions ``speech_acts`` judges each clause.
    Whoever is deceived may cite something harmless, and claim what stands beside it: so what states
    the claim better counts, too.
    """
    return any(
        is_doubtful_quote(span, case.view)
        or (
            span.message.trust == "person"
            and (
                has_waking_beside(span)
                or is_sighed_at(span)
                or is_supposed(span)
                or (is_about_oneself(case) and is_thought_of_another(span))
            )
        )
        for span in list_stating_spans(case)
    )


def list_stating_spans(case: ValidationCase) -> Iterator[QuoteSpan]:
    """Yield the quotes of a claim, and the clauses beside them that share more words with it."""
    claim = case.claim
    for span in case.spans:
        yield span
        text, language = span.message.text, span.message.language
        words = get_content_stems(f"{claim.text} {claim.value}", language)
        shared = len(words & get_content_stems(span.sentence_text, language))
        for start, end in split_clauses(text):
            is_beside = end <= span.start or span.end <= start
            if is_beside and len(words & get_content_stems(text[start:end], language)) > shared:
                yield replace(span, start=start, end=end)


def is_about_oneself(case: ValidationCase) -> bool:
    """Tell whether a claim is about the person, and does not begin with somebody's name."""
    claim = case.claim
    return claim.subject == "person" and not claim.text.startswith(tuple(claim.names))


def is_doubtful_quote(span: QuoteSpan, view: SegmentView) -> bool:
    """Tell whether a quote of the person's may be another's words, or not meant."""
    return span.message.trust == "person" and (
        is_borrowed(span.message, before=span.end)
        or is_in_joke_or_dream(span)
        or may_have_other_speaker(span.message)
        or has_order(span.sentence_text, span.message.language)
        or is_laughed_off(span, view)
    )


def is_laughed_off(span: QuoteSpan, view: SegmentView) -> bool:
    """Tell whether the person goes on with a laugh, or calls it a joke.

    What they laugh at behind an answer judges ``speech_acts``.
    """
    answer = next(iter(view.list_after(span.message)), None)
    if answer is None or answer.trust != "person":
        return False
    start, end = next(iter(split_clauses(answer.text)), (0, 0))
    opening = fold_punctuation(answer.text[start:end])
    cues = load_cues_for(answer.text, answer.language)[:1]
    return any(each.joke.search(opening) or each.laughter.search(opening) for each in cues)


def is_borrowed(message: Message, *, before: int | None = None) -> bool:
    """Tell whether a message is formatted like a document, or is a text by somebody else.

    Dreams and stories count only if they begin ``before`` a place in it.
    """
    end = len(message.text) if before is None else before
    cues = load_cues_for(message.text, message.language)[0]
    return is_preformatted(message.text, cues) or any(
        each.kind not in {"quoted", "fiction"} or (each.kind == "fiction" and each.start < end)
        for each in list_borrowed_spans(message)
    )


def is_unreal(message: Message) -> bool:
    """Tell whether a message jokes, tells a dream, a night or a rumor, supposes or sighs."""
    plain = fold_punctuation(message.text)
    cues = load_cues_for(message.text, message.language)[0]
    return (
        is_joke_or_dream(message)
        or ends_with_waking(message)
        or cues.dream_night.search(plain) is not None
        or any(
            begins_with_sigh(each, cues) or begins_supposing(each, cues)
            for each in find_sentences(message.text)
        )
    )


def has_waking_beside(span: QuoteSpan) -> bool:
    """Tell whether a message tells of waking before or behind a quote, which may be a dream."""
    plain = fold_punctuation(span.message.text)
    return any(
        found.end() <= span.start or span.end <= found.start()
        for cues in load_cues_for(span.message.text, span.message.language)[:1]
        for found in cues.waking.finditer(plain)
    )


def ends_with_waking(message: Message) -> bool:
    """Tell whether a message tells something of its author, and behind it that they woke."""
    plain = fold_punctuation(message.text)
    cues = load_cues_for(message.text, message.language)[0]
    *_, end = 0, *(found.start() for found in cues.waking.finditer(plain))
    return cues.self.search(plain, 0, end) is not None


def is_sighed_at(span: QuoteSpan) -> bool:
    """Tell whether a quoted sentence begins with a sigh."""
    cues = load_cues_for(span.message.text, span.message.language)[0]
    return any(begins_with_sigh(each, cues) for each in list_quoted_sentences(span))


def is_supposed(span: QuoteSpan) -> bool:
    """Tell whether a sentence before a quote supposes something, which the quote may go on with."""
    cues = load_cues_for(span.message.text, span.message.language)[0]
    sentences = find_sentences(span.message.text)
    return any(begins_supposing(each, cues) for each in sentences if each.end <= span.start)


def begins_supposing(sentence: SentenceSpan, cues: AttributionCues) -> bool:
    """Tell whether a sentence begins with an invitation to suppose something.

    A condition ("if I'm late") is over with its sentence.
    """
    found = cues.condition.match(sentence.text.lstrip()[:MAX_SENTENCE_CHARS])
    return found is not None and not get_cue_words(cues.language).condition.search(found.group())


def begins_with_sigh(sentence: SentenceSpan, cues: AttributionCues) -> bool:
    """Tell whether a sentence begins with a sigh at what it likes, or at a yes or no of its own.

    People sigh so when they mean the opposite: "Oh I love a long queue", "oh no, I'm a surgeon".
    """
    opening = WORD.findall(sentence.text)[:MAX_OPENING_WORDS]
    if not opening or opening[0] not in INTERJECTIONS:
        return False
    plain = " ".join(opening)
    return any(each.search(plain) for each in (cues.likes, cues.affirmation, cues.negation))


def is_thought_of_another(span: QuoteSpan) -> bool:
    """Tell whether a quote may tell what somebody else thinks, of whom the message speaks before.

    Its author is in none of its sentences, and somebody else is in one before them: "Mum slammed
    the window. These bells, what a torment!"
    """
    cues = load_cues_for(span.message.text, span.message.language)[0]
    if any(cues.self.search(each.text) for each in list_quoted_sentences(span)):
        return False
    before = [each for each in find_sentences(span.message.text) if each.end <= span.start]
    return any(speaks_of_another(each, span.message, cues) for each in before[-MAX_SCENE:])


def speaks_of_another(sentence: SentenceSpan, message: Message, cues: AttributionCues) -> bool:
    """Tell whether a sentence speaks of somebody else, by a pronoun, kinship or a name."""
    if any(each.search(sentence.text) for each in (cues.kin, cues.other, cues.theirs)):
        return True
    _, *words = WORD.findall(message.text[sentence.start : sentence.end]) or [""]
    return get_traits(cues.language).name_capitals != "nouns" and any(map(str.istitle, words))


def list_quoted_sentences(span: QuoteSpan) -> list[SentenceSpan]:
    """Return the sentences of a message that a quote is part of."""
    sentences = find_sentences(span.message.text)
    return [each for each in sentences if each.start < span.end and span.start < each.end]


def is_joke_or_dream(message: Message) -> bool:
    """Tell whether a message jokes, tells a dream or a rumor."""
    return speaks_of_dreams(message) or next(find_unreal_words(message), None) is not None


def speaks_of_dreams(message: Message) -> bool:
    """Tell whether a message speaks of dreams, perhaps of none: "the dream of my life"."""
    plain = fold_punctuation(message.text)
    return any(
        each.dream_noun.search(plain) for each in load_cues_for(message.text, message.language)[:1]
    )


def find_unreal_words(message: Message) -> Iterator[tuple[int, int]]:
    """Yield where a message says that something is a joke, a dream or a rumor."""
    plain = fold_punctuation(message.text)
    for cues in load_cues_for(message.text, message.language)[:1]:
        for each in (cues.joke, cues.dream, cues.attribution):
            yield from (found.span() for found in each.finditer(plain))


def is_in_joke_or_dream(span: QuoteSpan) -> bool:
    """Tell whether a quote may belong to a joke, a dream or a rumor that its message tells.

    It does not if its sentence stands before one that tells such a thing in words of its own: "I'm
    71. Last night I dreamed of a twin." A later "just kidding" takes back all that is before it.
    """
    return speaks_of_dreams(span.message) or any(
        span.end > start or not is_told_apart(sentence, (place - start, end - start), span.message)
        for place, end in find_unreal_words(span.message)
        for start, sentence in [find_sentence(span.message.text, place)]
    )


def find_sentence(text: str, place: int) -> tuple[int, str]:
    """Return the start and the text of the sentence at a place."""
    for found in SENTENCE.finditer(text):
        if found.start() <= place < found.end():
            return found.start(), found.group()
    return 0, text


def get_doubtful_passage(span: QuoteSpan) -> str:
    """Return the whole sentences of a quote, with those around it that tell a joke or a dream.

    So whoever is asked whether it is so sees what made it doubtful: "I don't live there any more".
    """
    text = span.message.text
    signs = [start for start, _ in find_unreal_words(span.message)]
    sentences = [
        found.span()
        for found in SENTENCE.finditer(text)
        if (found.start() < span.end and span.start < found.end())
        or any(found.start() <= each < found.end() for each in signs)
    ]
    start = min((each for each, _ in sentences), default=span.start)
    end = max((each for _, each in sentences), default=span.end)
    if end - start > MAX_PASSAGE:
        return " ".join(span.sentence_text.split())[:MAX_PASSAGE]
    return text[start:end].strip()


def is_told_apart(sentence: str, sign: tuple[int, int], message: Message) -> bool:
    """Tell whether a sentence says something itself, beside the words by which it is no fact."""
    start, end = sign
    words = WORD.findall(fold_punctuation(sentence[:start] + " " + sentence[end:]))
    stop_words = get_traits(message.language).stop_words
    return sum(each not in stop_words for each in words) >= MIN_OWN_WORDS


def may_have_other_speaker(message: Message) -> bool:
    """Tell whether "I" in a message may be somebody else who speaks in it.

    It stands behind words for speaking, or behind a pause before which somebody else is named; what
    stands in quotation marks is known to be another's.
    """
    start, end = find_quoted_part(message) or (0, 0)
    own = message.text[:start] + " " * (end - start) + message.text[end:]
    plain = BREAK.sub("| ", fold_punctuation(LINE_BREAK.sub("| ", own)))
    return is_introduced_by_other(message) or any(
        is_spoken_by_other(each.group(), cues)
        for cues in load_cues_for(message.text, message.language)[:1]
        for each in SENTENCE.finditer(plain)
    )


def is_introduced_by_other(message: Message) -> bool:
    """Tell whether a message begins with somebody's name beside that of its speaker.

    As in "It's Viktor, on Nora's phone." in Nora's chat.
    """
    first = SENTENCE.search(message.text)
    own = message.speaker.split()[:1]
    if first is None or not own:
        return False
    cues = load_cues_for(message.text, message.language)[0]
    _, *words = WORD.findall(first.group()) or [""]
    others = [each for each in words if not is_form_of_name(each, own[0])]
    names_both = len(others) < len(words) and any(each[0].isupper() for each in others)
    return names_both and not cues.self.search(fold_punctuation(first.group()))


def is_form_of_name(word: str, name: str) -> bool:
    """Tell whether a word is a name, perhaps with the ending of a genitive."""
    rest = word.casefold().removeprefix(name.casefold())
    return rest != word.casefold() and len(rest) <= MAX_ENDING


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
    words = before.split()
    if all(each.strip(".,!|") in get_traits(cues.language).stop_words for each in words):
        return False  # "hey"
    is_short = pause == ":" or len(words) <= MAX_NAME_WORDS
    return is_short and not cues.label.search(before)


def is_preformatted(text: str, cues: AttributionCues) -> bool:
    """Tell whether a text has marks of no sentence, or lines that are not its author's."""
    own = drop_starred_opening(text, cues.language)
    if MARKUP.search(EMOTICON.sub(" ", own)) is not None:
        return True
    lines = [line for line in text.splitlines() if line.strip()]
    return len(lines) > MAX_LINES and not are_own_lines(text, cues)


def are_own_lines(text: str, cues: AttributionCues) -> bool:
    """Tell whether a few short lines were written one after the other, as in a chat.

    Their author is in each of them, but for a greeting, and none introduces another's words.
    """
    first, *others = text.strip().splitlines()
    told = others if len(first.split()) <= MAX_GREETING_WORDS else [first, *others]
    return len(others) < MAX_OWN_LINES and all(
        ": " not in f"{(plain := fold_punctuation(each))} "
        and len(plain) <= MAX_LINE_CHARS
        and cues.self.search(plain)
        for each in told
    )


def find_quoted_part(message: Message) -> tuple[int, int] | None:
    """Return where the first quotation of a message starts and the last one ends, if there is any.

    What stands between two quotations counts as quoted, too.
    """
    spans = [found.span() for found in QUOTATION_MARK.finditer(message.text)]
    spans += [(each.start, each.end) for each in list_borrowed_spans(message)]
    return (min(spans)[0], max(end for _, end in spans)) if spans else None
