"""Tagged facts: clauses that the fact tagger finds worth remembering, as quotes of the person.

Only for reading without a model. What rules have read from the same words is not said again.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.domain.memories import QUOTE_KEY
from oldfriend.domain.messages import Message
from oldfriend.lang.language_pack import get_traits
from oldfriend.lang.message_acts import classify_act
from oldfriend.learning.extraction import Claim, Extraction, ExtractionInput, Quote
from oldfriend.llm.tagging import FactTagger, TaggedClause
from oldfriend.turn.injection_detection import detect_injection

MIN_SCORE: Final = 0.5
"""Score of a clause to be kept."""
CONFIDENCE: Final = 0.8
MAX_CHARS: Final = 200
"""Characters of a clause; a longer one is no single fact."""


def add_tagged_facts(
    extraction: Extraction, inputs: ExtractionInput, tagger: FactTagger
) -> Extraction:
    """Return an extraction with the facts that the tagger finds in the person's messages.

    Unchanged if the tagger cannot be loaded.
    """
    try:
        claims = [
            claim
            for message, before in pair_with_previous(inputs)
            if is_taggable(message)
            for claim in list_tagged_claims(message, tagger.tag(message.text, before))
        ]
    except EmbeddingFailed:
        return extraction
    new = (each for each in claims if not is_read_by_rules(each.quotes[0], extraction.claims))
    return replace(extraction, claims=(*extraction.claims, *new))


def pair_with_previous(inputs: ExtractionInput) -> Iterator[tuple[Message, str]]:
    """Yield each message to read with the text of the one before it."""
    before = inputs.context_messages[-1].text if inputs.context_messages else ""
    for message in inputs.messages:
        yield message, before
        before = message.text


def is_taggable(message: Message) -> bool:
    """Tell whether a message is the person's own words in a language the tagger reads."""
    return (
        message.role == "person"
        and message.trust == "person"
        and "forwarded_from" not in message.details
        and get_traits(message.language).is_tagged
        and detect_injection(message.text).risk == "none"
    )


def list_tagged_claims(message: Message, clauses: Iterable[TaggedClause]) -> Iterator[Claim]:
    """Yield a claim for each clause with a high score."""
    for clause in clauses:
        words = message.text[clause.start : clause.end]
        if clause.score >= MIN_SCORE and len(words) <= MAX_CHARS and not is_command(words):
            yield Claim(
                kind="fact",
                key=QUOTE_KEY,
                value=words,
                text=get_traits(message.language).said.format(words),
                quotes=(Quote(message=message.id, text=words),),
                confidence=CONFIDENCE,
            )


def is_command(words: str) -> bool:
    """Tell whether a clause rather orders something than tells it."""
    acts = classify_act(words)
    return max(acts, key=lambda act: acts[act]) == "command"


def is_read_by_rules(quote: Quote, claims: Iterable[Claim]) -> bool:
    """Tell whether a claim rests on words of the clause, or has its value from it."""
    words = quote.text.casefold()
    return any(
        each.message == quote.message
        and (each.text in quote.text or (bool(claim.value) and claim.value.casefold() in words))
        for claim in claims
        for each in claim.quotes
    )
