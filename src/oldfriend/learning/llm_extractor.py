"""LLM extractor: reads claims from a segment with one model call, or two for weak models.

Its output is not believed yet; ``validate`` checks it. Uses no database.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

from oldfriend.domain.json import JsonValue
from oldfriend.learning.extraction import Extraction, ExtractionInput
from oldfriend.learning.extraction_parser import ParseContext, parse_extraction
from oldfriend.learning.extraction_prompt import assign_aliases, render_scene, render_segment
from oldfriend.learning.extraction_schema import ALL_PARTS, FIRST_PASS, SECOND_PASS, build_schema
from oldfriend.learning.validation.segment_view import detect_person_language
from oldfriend.llm.model import CompletionRequest, LanguageModel, PromptTurn
from oldfriend.prompts.prompt import Prompt, get_prompt
from oldfriend.turn.structured_output import complete_structured

PROMPT: Final = "extract/4"
"""Prompt of the extraction; named as the author of all that it extracts."""

MAX_TOKENS: Final = 6_000
"""Tokens of an answer: three events, five patterns and a dozen facts with quotes take half."""

PASSES: Final[dict[int, tuple[Sequence[str], ...]]] = {
    1: (ALL_PARTS,),
    2: (FIRST_PASS, SECOND_PASS),
}


async def extract_with_model(
    model: LanguageModel, inputs: ExtractionInput, *, passes: Literal[1, 2] = 1
) -> Extraction:
    """Extract claims with a model, with the quotes as the model gave them.

    Raises BrokenOutput if its answer is unusable twice, and what the model raises.
    """
    found = [await extract_parts(model, inputs, wanted) for wanted in PASSES[passes]]
    return merge_extractions(found)


async def extract_parts(
    model: LanguageModel, inputs: ExtractionInput, parts: Sequence[str]
) -> Extraction:
    """Extract some parts with one model call."""
    prompt = get_prompt(PROMPT)
    context = ParseContext(aliases=assign_aliases(inputs), zone=inputs.messages[0].zone)

    def parse(answer: JsonValue) -> Extraction:
        return parse_extraction(answer, context, author=prompt.id, parts=parts)

    return await complete_structured(model, build_extraction_request(inputs, prompt, parts), parse)


def build_extraction_request(
    inputs: ExtractionInput, prompt: Prompt, parts: Sequence[str]
) -> CompletionRequest:
    """Build the request for an extraction."""
    changing = [render_scene(inputs, prompt, detect_person_language(inputs))]
    if parts != ALL_PARTS:
        changing.append(prompt.render("wanted", wanted=", ".join(parts)))
    return CompletionRequest(
        purpose="extract",
        prompt=prompt.id,
        stable=prompt.render("stable"),
        changing="\n\n".join(changing),
        turns=(
            PromptTurn(
                role="house", text=prompt.render("ask", messages=render_segment(inputs, prompt))
            ),
        ),
        output=build_schema(parts),
        most_tokens=MAX_TOKENS,
        shown=list_shown_ids(inputs),
    )


def list_shown_ids(inputs: ExtractionInput) -> tuple[str, ...]:
    """Return the ids of everything that the model is shown."""
    return (
        *(message.id for message in (*inputs.context_messages, *inputs.messages)),
        *(known.memory.id for known in inputs.known),
        *(entity.id for entity in inputs.entities),
    )


def merge_extractions(extractions: Sequence[Extraction]) -> Extraction:
    """Merge the extractions of several passes into one."""
    first, *rest = extractions
    for more in rest:
        first = replace(
            first,
            claims=first.claims + more.claims,
            relations=first.relations + more.relations,
            mentions=first.mentions + more.mentions,
            same_as_claims=first.same_as_claims + more.same_as_claims,
            topics=first.topics or more.topics,
            summary=first.summary or more.summary,
            mood=first.mood or more.mood,
            self_check=merge_self_checks(first, more),
            malformed=first.malformed + more.malformed,
        )
    return first


def merge_self_checks(one: Extraction, other: Extraction) -> dict[str, str]:
    """Join the self-check notes of both passes."""
    return {
        name: " ".join(filter(None, [one.self_check.get(name), other.self_check.get(name)]))
        for name in {**one.self_check, **other.self_check}
    }
