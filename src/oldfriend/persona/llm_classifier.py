"""LLM classifier: finds statements in material by a model, and keeps those it really quotes."""

from collections.abc import Mapping
from typing import Final

from oldfriend.domain.json import JsonValue
from oldfriend.learning.field_parsers import (
    Fields,
    parse_choice,
    parse_fraction,
    parse_list,
    parse_object,
    parse_text,
)
from oldfriend.llm.model import CompletionRequest, LanguageModel, PromptTurn
from oldfriend.persona.findings import FINDING_KINDS, TRAIT_TOPICS, PersonaFinding
from oldfriend.persona.sources import SourceChunk
from oldfriend.prompts.prompt import get_prompt
from oldfriend.turn.structured_output import complete_structured

DRAFT_PROMPT: Final = "draft/1"
MAX_OUTPUT_TOKENS: Final = 2_000
FINDINGS_SCHEMA: Final[Mapping[str, JsonValue]] = {
    "type": "object",
    "properties": {
        "found": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"enum": [*FINDING_KINDS]},
                    "text": {"type": "string"},
                    "quote": {"type": "string"},
                    "confidence": {"type": "number"},
                    "about": {"enum": [*TRAIT_TOPICS]},
                },
                "required": ["kind", "text", "quote", "confidence"],
            },
        }
    },
    "required": ["found"],
}


async def classify_by_model(model: LanguageModel, chunk: SourceChunk) -> list[PersonaFinding]:
    """Return what a model finds in a chunk. Raises BrokenOutput, and what the model raises."""
    prompt = get_prompt(DRAFT_PROMPT)
    ask = prompt.render("ask", source=chunk.source, text=chunk.text)
    request = CompletionRequest(
        purpose="classify",
        prompt=prompt.id,
        stable=prompt.render("stable"),
        turns=(PromptTurn(role="house", text=ask),),
        output=FINDINGS_SCHEMA,
        most_tokens=MAX_OUTPUT_TOKENS,
    )
    return await complete_structured(model, request, lambda answer: parse_findings(answer, chunk))


def parse_findings(answer: JsonValue, chunk: SourceChunk) -> list[PersonaFinding]:
    """Parse the findings of an answer that quote the chunk. Raises ValueError."""
    found = [parse_object(each, "each") for each in parse_list(parse_object(answer, "it"), "found")]
    findings = [parse_finding(each, chunk) for each in found]
    return [each for each in findings if each.text and each.quote and each.quote in chunk.text]


def parse_finding(fields: Fields, chunk: SourceChunk) -> PersonaFinding:
    """Parse one finding. Raises ValueError."""
    quote = fields.get("quote")
    return PersonaFinding(
        kind=parse_choice(fields, "kind", FINDING_KINDS, FINDING_KINDS[1]),
        text=parse_text(fields, "text"),
        quote=quote.strip() if isinstance(quote, str) else "",
        confidence=parse_fraction(fields, "confidence", 0.0),
        about=parse_choice(fields, "about", TRAIT_TOPICS, TRAIT_TOPICS[0]),
        source=f"{chunk.source}:{chunk.line}",
    )
