"""What does the person want to be held on to? A tool that notes their exact words.

It only says what will be noted: the turn decides it, and the shell keeps it with the reply.
"""

from oldfriend.llm.model import Tool
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.noting import find_words, is_same_note
from oldfriend.turn.outcome import Utterance
from oldfriend.turn.tools.ability import Ability, Arguments

NOTE = "note"


def note(prompt: Prompt, said: Utterance, *, noted: str | None) -> Ability:
    """The tool that notes; ``noted`` is what a rule has noted of the same message."""

    async def use(arguments: Arguments) -> str:
        found = find_words(said, str(arguments["words"]))
        if found is None:
            return prompt.render("not_their_words")
        if noted is not None and is_same_note(found.words, noted):
            return prompt.render("noted_before", note=noted)
        return prompt.render("noted_now", note=found.words)

    return Ability(
        tool=Tool(
            name=NOTE,
            description=prompt.render("note"),
            parameters={
                "type": "object",
                "properties": {
                    "words": {"type": "string", "description": prompt.render("note_words")}
                },
                "required": ["words"],
                "additionalProperties": False,
            },
        ),
        kind="idempotent",
        use=use,
    )
