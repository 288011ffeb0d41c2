"""Tagged facts: what the fact tagger finds worth remembering in messages, as quotes of the person.

Only for reading without a model. What rules have read from the same words is not said again.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from typing import Final

from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.domain.memories import QUOTE_KEY, MemoryState
from oldfriend.domain.messages import Message
from oldfriend.lang.language_pack import get_traits
from oldfriend.lang.message_acts import classify_act
from oldfriend.learning.doubt import find_quoted_part, is_doubtful
from oldfriend.learning.extraction import Claim, Extraction, ExtractionInput, Quote
from oldfriend.learning.quote_confidence import estimate_confidence, is_believed
from oldfriend.llm.reading import FactTagger, TaggedClause
from oldfriend.search import extract_link_terms
from oldfriend.turn.attribution.cues import load_cues_for
from oldfriend.turn.injection_detection import detect_injection

TAGGER_AUTHOR: Final = "tagger/1"
"""The tagger's name and version, as evidence and changes cite them."""
MIN_SCORE: Final = 0.3
"""Score of the best clause of what may be quoted."""
MIN_CONTEXT_SCORE: Final = 0.05
"""Score of a clause to be kept beside such a one."""
MAX_GAP: Final = 1
"""Clauses with a lower score that a passage may span."""
MIN_COMMAND: Final = 0.3
"""Probability of an order; one that is kept would steer the companion whenever it is recalled."""
MIN_UNREAD: Final = 2
"""Content words behind an "and" that say something of their own."""
MAX_CHARS: Final = 240
"""Characters of a passage; a longer one is no single fact."""


def add_tagged_facts(
    extraction: Extraction, inputs: ExtractionInput, tagger: FactTagger
) -> Extraction:
    """Return an extraction with the facts that the tagger finds in the person's messages.

    Unchanged if the tagger cannot be loaded.
    """
    notes = [each.memory.value or each.memory.text for each in inputs.known if is_note(each)]
    try:
        claims = [
            claim
            for message, before in pair_with_previous(inputs)
            if is_taggable(message)
            and not any(note in message.text for note in notes)
            and not is_doubtful(message)
            for claim in list_tagged_claims(
                message, tagger.tag(message.text, before), extraction.claims
            )
        ]
    except EmbeddingFailed:
        return extraction
    return replace(extraction, claims=(*extraction.claims, *claims), is_tagged=True)


def pair_with_previous(inputs: ExtractionInput) -> Iterator[tuple[Message, str]]:
    """Yield each message to read with the text of the one before it."""
    before = inputs.context_messages[-1].text if inputs.context_messages else ""
    for message in inputs.messages:
        yield message, before
        before = message.text


def is_note(known: MemoryState) -> bool:
    """Tell whether a belief is a note, whose words are kept already."""
    return known.memory.kind == "note"


def is_taggable(message: Message) -> bool:
    """Tell whether a message is the person's own words in a language the tagger reads."""
    return (
        message.role == "person"
        and message.trust == "person"
        and "forwarded_from" not in message.details
        and get_traits(message.language).is_tagged
        and detect_injection(message.text).risk == "none"
    )


def list_tagged_claims(
    message: Message, clauses: Sequence[TaggedClause], read: Sequence[Claim]
) -> Iterator[Claim]:
    """Yield a claim for each stretch with a clause of a high score that rules have not read."""
    picked = [
        clause
        for clause in clauses
        if clause.score >= MIN_SCORE
        and not tells_what_ended(message.text[clause.start : clause.end], message.language)
        and not is_command(message.text[clause.start : clause.end])
        and not is_read_by_rules(message, clause, read)
    ]
    for start, end in list_stretches(message, clauses):
        if any(start <= clause.start and clause.end <= end for clause in picked):
            scores = [each.score for each in clauses if start <= each.start and each.end <= end]
            confidence = estimate_confidence(scores)
            if is_believed(confidence):
                yield build_quote_claim(message, message.text[start:end], confidence)


def build_quote_claim(message: Message, words: str, confidence: float) -> Claim:
    """Build the claim that quotes words of a message."""
    return Claim(
        kind="fact",
        key=QUOTE_KEY,
        value=words,
        text=get_traits(message.language).said.format(words),
        quotes=(Quote(message=message.id, text=words),),
        confidence=confidence,
    )


def list_stretches(message: Message, clauses: Sequence[TaggedClause]) -> list[tuple[int, int]]:
    """Return where what may be quoted of a message starts and ends: all of it, if it is short.

    Words cut out of their sentence may say what the whole does not. Of a message that is long, or
    has two lines, or quotes somebody, its passages beside the quotation.
    """
    text, quoted = message.text, find_quoted_part(message)
    start, end = len(text) - len(text.lstrip()), len(text.rstrip())
    if quoted is None and end - start <= MAX_CHARS and "\n" not in text[start:end]:
        return [(start, end)]
    breaks = [found.span() for found in re.finditer("\n", text)]
    return list_passages(clauses, [*breaks, *([quoted] if quoted else [])])


def list_passages(
    clauses: Iterable[TaggedClause], breaks: Sequence[tuple[int, int]] = ()
) -> list[tuple[int, int]]:
    """Return where passages start and end: neighboring clauses that may belong to a fact.

    A clause alone often lacks whom or what it is about, which stands beside it. No passage holds
    anything of a break.
    """
    passages: list[tuple[int, int]] = []
    gap = 0
    for clause in clauses:
        if clause.score < MIN_CONTEXT_SCORE or is_broken(clause.start, clause.end, breaks):
            gap += 1
            continue
        is_near = bool(passages) and gap <= MAX_GAP
        is_near = is_near and not is_broken(passages[-1][0], clause.end, breaks)
        if is_near and clause.end - passages[-1][0] <= MAX_CHARS:
            passages[-1] = passages[-1][0], clause.end
        elif clause.end - clause.start <= MAX_CHARS:
            passages.append((clause.start, clause.end))
        gap = 0
    return passages


def is_broken(start: int, end: int, breaks: Iterable[tuple[int, int]]) -> bool:
    """Tell whether a stretch holds anything of a break."""
    return any(first < end and last > start for first, last in breaks)


def is_command(words: str) -> bool:
    """Tell whether a clause may rather order something than tell it."""
    return classify_act(words)["command"] >= MIN_COMMAND


def tells_what_ended(words: str, language: str) -> bool:
    """Tell whether a clause only tells what is so no more: "I used to work at the docks."."""
    ended, now = load_ended_patterns(language)
    return ended.search(words) is not None and now.search(words) is None


@cache
def load_ended_patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compile how a language tells what has ended, and what is so instead."""
    traits = get_traits(language)
    ended, now = (re.compile(each or "(?!)", re.IGNORECASE) for each in (traits.ended, traits.now))
    return ended, now


def is_read_by_rules(message: Message, clause: TaggedClause, claims: Iterable[Claim]) -> bool:
    """Tell whether claims rest on words of the clause, or have their value from it.

    They leave something unread that says more behind an "and".
    """
    words = message.text[clause.start : clause.end]
    read = [
        claim
        for claim in claims
        for quote in claim.quotes
        if quote.message == message.id
        and (
            quote.text in words
            or (bool(claim.value) and claim.value.casefold() in words.casefold())
        )
    ]
    told = extract_link_terms(
        " ".join(f"{each.text} {each.value}" for each in read), message.language
    )
    return bool(read) and not any(
        len(terms) >= MIN_UNREAD and told.isdisjoint(terms)
        for terms in map(
            partial(extract_link_terms, language=message.language), split_at_and(words, message)
        )
    )


def split_at_and(words: str, message: Message) -> list[str]:
    """Return the parts of a clause that an "and" joins; none if there is none."""
    cues = load_cues_for(message.text, message.language)[:1]
    parts = [part for each in cues for part in each.continuation.split(words.lower())]
    return parts if len(parts) > 1 else []
