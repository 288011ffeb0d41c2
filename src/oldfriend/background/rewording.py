"""How is a thinker asked to say again what cannot be believed in its words? Once, and why.

What is good stays as it is. Nothing here judges (``gates``) or asks (``thinking``).
"""

from dataclasses import replace
from typing import Final, get_args

from oldfriend.background.gates.bearing import BearingFault
from oldfriend.background.gates.ideas import IdeaFault, Sifted, untold_in
from oldfriend.background.gates.tone import ToneFault
from oldfriend.background.ideas import Idea, Ideas
from oldfriend.background.retrospect import Retrospect
from oldfriend.prompts.prompt import get_prompt
from oldfriend.turn.labelling import inert

BY_WORDS: Final[frozenset[IdeaFault]] = frozenset(
    {"not told", *get_args(ToneFault), *get_args(BearingFault)}
)
"""What other words can mend."""
PROMPT: Final = "reword/1"
LONGEST: Final = 300
"""Characters of an idea that are shown again."""


def wish_for(sifted: Sifted, retrospect: Retrospect) -> str:
    """What is said to a thinker about the words that it chose; nothing where they do."""
    prompt = get_prompt(PROMPT)
    lines = [
        prompt.render("refused", text=inert(idea.text[:LONGEST]), why=why(idea, fault, retrospect))
        for idea, fault in sifted.refused
        if fault in BY_WORDS
    ]
    return prompt.render("wish", refused="\n".join(lines)) if lines else ""


def why(idea: Idea, fault: IdeaFault, retrospect: Retrospect) -> str:
    """What is wrong with the words of an idea, in words for who chose them."""
    prompt, words = get_prompt(PROMPT), untold_in(idea, retrospect)
    untold = ", ".join(dict.fromkeys(words))
    return prompt.render("untold", words=inert(untold)) if fault == "not told" else fault


def reworded(found: Ideas, sifted: Sifted, again: Ideas) -> Ideas:
    """All ideas, with those that were said again in the place of those that had to be."""
    left_out = [idea for idea, fault in sifted.refused if fault in BY_WORDS]
    kept = [idea for idea in found.ideas if idea not in left_out]
    said = {idea.text for idea in kept}
    new = [replace(idea, said_again=PROMPT) for idea in again.ideas if idea.text not in said]
    return replace(
        found, ideas=(*kept, *new), malformed=found.malformed + again.malformed
    )  # fmt: skip
