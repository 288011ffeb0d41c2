"""What does a model read in a stretch of talk? Asked in one go, or in two for weak models.

What it answers is not believed yet: see ``checking``. Knows no database.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Literal

from oldfriend.background.extraction import Extraction, Material
from oldfriend.background.form import EVERYTHING, FIRST_PASS, SECOND_PASS, form_of
from oldfriend.background.gates.talk import language_of
from oldfriend.background.laying_out import aliases_of, scene_of, talk_of
from oldfriend.background.parsing import Legend, extraction_from
from oldfriend.domain.json import JsonValue
from oldfriend.llm.model import Model, Request, Turn
from oldfriend.prompts.prompt import Prompt, get_prompt
from oldfriend.turn.structured import ask_for

PROMPT: Final = "extract/4"
"""Which words the model is asked with; named as the author of all that it reads."""

MOST_TOKENS: Final = 6_000
"""Of an answer: three events, five patterns and a dozen facts with their quotes take half."""

PASSES: Final[dict[int, tuple[Sequence[str], ...]]] = {
    1: (EVERYTHING,),
    2: (FIRST_PASS, SECOND_PASS),
}


async def read_by_model(
    model: Model, material: Material, *, passes: Literal[1, 2] = 1
) -> Extraction:
    """Everything that a model reads in the material, with its quotes as it gave them.

    Raises BrokenOutput where it gives nothing usable twice, and what the model raises.
    """
    found = [await read_parts(model, material, wanted) for wanted in PASSES[passes]]
    return joined(found)


async def read_parts(model: Model, material: Material, wanted: Sequence[str]) -> Extraction:
    """Some parts of what there is to read."""
    prompt = get_prompt(PROMPT)
    legend = Legend(aliases=aliases_of(material), zone=material.messages[0].zone)

    def parse(answer: JsonValue) -> Extraction:
        return extraction_from(answer, legend, author=prompt.id, wanted=wanted)

    return await ask_for(model, request_for(material, prompt, wanted), parse)


def request_for(material: Material, prompt: Prompt, wanted: Sequence[str]) -> Request:
    """What a model is asked."""
    changing = [scene_of(material, prompt, language_of(material))]
    if wanted != EVERYTHING:
        changing.append(prompt.render("wanted", wanted=", ".join(wanted)))
    return Request(
        purpose="extract",
        prompt=prompt.id,
        stable=prompt.render("stable"),
        changing="\n\n".join(changing),
        turns=(Turn(role="house", text=prompt.render("ask", messages=talk_of(material, prompt))),),
        output=form_of(wanted),
        most_tokens=MOST_TOKENS,
        shown=shown_in(material),
    )


def shown_in(material: Material) -> tuple[str, ...]:
    """The ids of everything that the model gets to see."""
    return (
        *(message.id for message in (*material.before, *material.messages)),
        *(known.memory.id for known in material.known),
        *(entity.id for entity in material.entities),
    )


def joined(found: Sequence[Extraction]) -> Extraction:
    """What was read in several passes, as one."""
    first, *rest = found
    for more in rest:
        first = replace(
            first,
            claims=first.claims + more.claims,
            ties=first.ties + more.ties,
            names=first.names + more.names,
            samenesses=first.samenesses + more.samenesses,
            topics=first.topics or more.topics,
            summary=first.summary or more.summary,
            mood=first.mood or more.mood,
            self_check=joined_checks(first, more),
            malformed=first.malformed + more.malformed,
        )
    return first


def joined_checks(one: Extraction, other: Extraction) -> dict[str, str]:
    """What was found when looking again, in both passes."""
    return {
        name: " ".join(filter(None, [one.self_check.get(name), other.self_check.get(name)]))
        for name in {**one.self_check, **other.self_check}
    }
