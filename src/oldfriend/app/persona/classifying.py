"""What does a model find in a piece of the material? Findings whose words really stand there."""

from collections.abc import Mapping
from typing import Final

from oldfriend.app.persona.findings import ABOUTS, FINDING_KINDS, Finding
from oldfriend.app.persona.material import Piece
from oldfriend.background.fields import (
    Fields,
    choice_in,
    list_in,
    object_from,
    share_in,
    text_in,
)
from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import Model, Request, Turn
from oldfriend.prompts.prompt import get_prompt
from oldfriend.turn.structured import ask_for

PROMPT: Final = "draft/1"
MOST_TOKENS: Final = 2_000
FORM: Final[Mapping[str, JsonValue]] = {
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
                    "about": {"enum": [*ABOUTS]},
                },
                "required": ["kind", "text", "quote", "confidence"],
            },
        }
    },
    "required": ["found"],
}


async def classify(model: Model, piece: Piece) -> list[Finding]:
    """What a model finds in a piece. Raises BrokenOutput, and what the model raises."""
    prompt = get_prompt(PROMPT)
    ask = prompt.render("ask", source=piece.source, text=piece.text)
    request = Request(
        purpose="classify", prompt=prompt.id, stable=prompt.render("stable"),
        turns=(Turn(role="house", text=ask),), output=FORM, most_tokens=MOST_TOKENS,
    )  # fmt: skip
    return await ask_for(model, request, lambda answer: findings_from(answer, piece))


def findings_from(answer: JsonValue, piece: Piece) -> list[Finding]:
    """The findings of an answer that rest on words of the piece. Raises ValueError."""
    found = [object_from(each, "each") for each in list_in(object_from(answer, "it"), "found")]
    findings = [finding_from(each, piece) for each in found]
    return [each for each in findings if each.text and each.quote and each.quote in piece.text]


def finding_from(fields: Fields, piece: Piece) -> Finding:
    """One finding. Raises ValueError."""
    quote = fields.get("quote")
    return Finding(
        kind=choice_in(fields, "kind", FINDING_KINDS, FINDING_KINDS[1]),
        text=text_in(fields, "text"),
        quote=quote.strip() if isinstance(quote, str) else "",
        confidence=share_in(fields, "confidence", 0.0),
        about=choice_in(fields, "about", ABOUTS, ABOUTS[0]),
        source=f"{piece.source}:{piece.line}",
    )
