"""LLM rephrase: asks the model once to reword rejected items, and says why they were rejected.

Accepted items stay as they are. Validation is in ``validation``, model calls in
``reflection_runner``.
"""

from dataclasses import replace
from typing import Final, get_args

from oldfriend.learning.reflection_context import ReflectionContext
from oldfriend.learning.reflection_output import Idea, ParsedIdeas
from oldfriend.learning.validation.reflection_checks import (
    IdeaRejectionReason,
    ValidatedIdeas,
    list_ungrounded_idea_words,
)
from oldfriend.learning.validation.tone import ToneViolation
from oldfriend.learning.validation.tone_of_judgment import JudgementViolation
from oldfriend.prompts.prompt import get_prompt
from oldfriend.turn.prompt_labels import sanitize

REWORDABLE: Final[frozenset[IdeaRejectionReason]] = frozenset(
    {"not told", *get_args(ToneViolation), *get_args(JudgementViolation)}
)
"""Rejection reasons that other words can fix."""
PROMPT: Final = "reword/1"
MAX_LENGTH: Final = 300
"""Characters of an idea that are shown again."""


def render_reword_instruction(validated: ValidatedIdeas, reflection: ReflectionContext) -> str:
    """Render the request to reword rejected ideas; "" if there are none."""
    prompt = get_prompt(PROMPT)
    lines = [
        prompt.render(
            "refused",
            text=sanitize(idea.text[:MAX_LENGTH]),
            why=explain_rejection(idea, reason, reflection),
        )
        for idea, reason in validated.rejected_ideas
        if reason in REWORDABLE
    ]
    return prompt.render("wish", refused="\n".join(lines)) if lines else ""


def explain_rejection(
    idea: Idea, reason: IdeaRejectionReason, reflection: ReflectionContext
) -> str:
    """Explain to the model why an idea's wording was rejected."""
    prompt, words = get_prompt(PROMPT), list_ungrounded_idea_words(idea, reflection)
    ungrounded = ", ".join(dict.fromkeys(words))
    return prompt.render("untold", words=sanitize(ungrounded)) if reason == "not told" else reason


def replace_reworded(
    found: ParsedIdeas, validated: ValidatedIdeas, again: ParsedIdeas
) -> ParsedIdeas:
    """Return all ideas, with reworded ones in place of those that had to be reworded."""
    left_out = [idea for idea, reason in validated.rejected_ideas if reason in REWORDABLE]
    kept = [idea for idea in found.ideas if idea not in left_out]
    kept_texts = {idea.text for idea in kept}
    new = [replace(idea, reworded_by=PROMPT) for idea in again.ideas if idea.text not in kept_texts]
    return replace(found, ideas=(*kept, *new), malformed=found.malformed + again.malformed)
