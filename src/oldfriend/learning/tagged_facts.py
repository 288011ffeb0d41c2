"""Tagged facts: passages that the fact tagger finds worth remembering, as quotes of the person.

Only for reading without a model. What rules have read from the same words is not said again.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Final

from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.domain.memories import QUOTE_KEY, MemoryState
from oldfriend.domain.messages import Message
from oldfriend.lang.language_pack import get_traits
from oldfriend.lang.message_acts import classify_act
from oldfriend.learning.extraction import Claim, Extraction, ExtractionInput, Quote
from oldfriend.llm.reading import FactTagger, TaggedClause
from oldfriend.turn.injection_detection import detect_injection

TAGGER_AUTHOR: Final = "tagger/1"
"""The tagger's name and version, as evidence and changes cite them."""
MIN_SCORE: Final = 0.5
"""Score of a clause to be kept."""
MIN_CONTEXT_SCORE: Final = 0.05
"""Score of a clause to be kept beside such a one."""
MAX_GAP: Final = 1
"""Clauses with a lower score that a passage may span."""
MIN_COMMAND: Final = 0.3
"""Probability of an order; one that is kept would steer the companion whenever it is recalled."""
CONFIDENCE: Final = 0.8
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
            if is_taggable(message) and not any(note in message.text for note in notes)
            for claim in list_tagged_claims(
                message, tagger.tag(message.text, before), extraction.claims
            )
        ]
    except EmbeddingFailed:
        return extraction
    return replace(extraction, claims=(*extraction.claims, *claims))


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
    """Yield a claim for each passage with a clause of a high score that rules have not read."""
    picked = [
        clause
        for clause in clauses
        if clause.score >= MIN_SCORE
        and not tells_what_ended(message.text[clause.start : clause.end], message.language)
        and not is_command(message.text[clause.start : clause.end])
        and not is_read_by_rules(message, clause, read)
    ]
    for start, end in list_passages(clauses):
        if any(start <= clause.start and clause.end <= end for clause in picked):
            yield build_quote_claim(message, message.text[start:end])


def build_quote_claim(message: Message, words: str) -> Claim:
    """Build the claim that quotes words of a message."""
    return Claim(
        kind="fact",
        key=QUOTE_KEY,
        value=words,
        text=get_traits(message.language).said.format(words),
        quotes=(Quote(message=message.id, text=words),),
        confidence=CONFIDENCE,
    )


def list_passages(clauses: Iterable[TaggedClause]) -> list[tuple[int, int]]:
    """Return where passages start and end: neighboring clauses that may belong to a fact.

    A clause alone often lacks whom or what it is about, which stands beside it.
    """
    passages: list[tuple[int, int]] = []
    gap = 0
    for clause in clauses:
        if clause.score < MIN_CONTEXT_SCORE:
            gap += 1
            continue
        is_near = bool(passages) and gap <= MAX_GAP
        if is_near and clause.end - passages[-1][0] <= MAX_CHARS:
            passages[-1] = passages[-1][0], clause.end
        elif clause.end - clause.start <= MAX_CHARS:
            passages.append((clause.start, clause.end))
        gap = 0
    return passages


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
    """Tell whether a claim rests on words of the clause, or has its value from it."""
    words = message.text[clause.start : clause.end]
    return any(
        quote.message == message.id
        and (
            quote.text in words
            or (bool(claim.value) and claim.value.casefold() in words.casefold())
        )
        for claim in claims
        for quote in claim.quotes
    )
