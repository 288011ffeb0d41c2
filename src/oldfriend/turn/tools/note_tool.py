"""Note tool: notes the person's exact words.

It only reports what will be noted: the turn decides it, and the caller stores it with the reply.
"""

from oldfriend.llm.model import ToolSpec
from oldfriend.prompts.prompt import Prompt
from oldfriend.turn.note_extraction import find_own_words, is_same_note
from oldfriend.turn.tools.tool import BoundTool, ToolArguments
from oldfriend.turn.turn_outcome import Utterance

NOTE_TOOL = "note"


def build_note_tool(prompt: Prompt, utterance: Utterance, *, noted_text: str | None) -> BoundTool:
    """Build the note tool; ``noted_text`` is what a rule has noted from the same message."""

    async def use(arguments: ToolArguments) -> str:
        found = find_own_words(utterance, str(arguments["words"]))
        if found is None:
            return prompt.render("not_their_words")
        if noted_text is not None and is_same_note(found.text, noted_text):
            return prompt.render("noted_before", note=noted_text)
        return prompt.render("noted_now", note=found.text)

    return BoundTool(
        definition=ToolSpec(
            name=NOTE_TOOL,
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
        run=use,
    )
