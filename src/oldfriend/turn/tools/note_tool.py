"""Note tool: notes the person's exact words.

It only reports what will be noted: the turn decides it, and the caller stores it with the reply.
"""

from typing import Final

from oldfriend.llm.model import ToolDefinition
from oldfriend.turn.note_extraction import find_own_words, is_same_note
from oldfriend.turn.tools.tool import BoundTool, ToolArguments, ToolContext, ToolSpec

NOTE_TOOL = "note"


def build_note_tool(context: ToolContext) -> BoundTool:
    """Build the tool that notes the person's exact words, once."""
    prompt, noted_text = context.prompt, context.noted_text

    async def use(arguments: ToolArguments) -> str:
        found = find_own_words(context.utterance, str(arguments["words"]))
        if found is None:
            return prompt.render("not_their_words")
        if noted_text is not None and is_same_note(found.text, noted_text):
            return prompt.render("noted_before", note=noted_text)
        return prompt.render("noted_now", note=found.text)

    return BoundTool(
        definition=ToolDefinition(
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


NOTE: Final = ToolSpec(name=NOTE_TOOL, build=build_note_tool)
