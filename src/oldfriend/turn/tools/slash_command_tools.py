"""Slash command tools: a model does what a command of the person's would, for what they just asked.

It is decided and worded by the handler of the command itself. What ends or deletes something is
asked about first.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from oldfriend.domain.errors import InvalidInput
from oldfriend.lang.command_menu import CommandMenu
from oldfriend.lang.reply_language import AUTO, find_first_language, find_language
from oldfriend.turn.intent import perceive
from oldfriend.turn.request_handlers.checklist_requests import CHECKLIST_REQUESTS
from oldfriend.turn.request_handlers.checklist_requests import COMMAND as CHECKLIST_COMMAND
from oldfriend.turn.request_handlers.handler import HandledRequest, HandlerContext, RequestHandler
from oldfriend.turn.request_handlers.language_requests import LANGUAGE_REQUESTS
from oldfriend.turn.request_handlers.memory_requests import CloseConversation
from oldfriend.turn.request_handlers.own_data_requests import OWN_DATA_REQUESTS
from oldfriend.turn.request_handlers.proactive_requests import PROACTIVE_REQUESTS
from oldfriend.turn.request_handlers.project_requests import (
    CLOSE_WORDS,
    PROJECT_REQUESTS,
    split_name,
)
from oldfriend.turn.request_handlers.skill_requests import FURTHER, SKILL_REQUESTS
from oldfriend.turn.tools.confirmation import KeepPendingCall
from oldfriend.turn.tools.task_tools import WORDS, bind, check_asked, check_told
from oldfriend.turn.tools.tool import BoundTool, ToolArguments, ToolContext, ToolOutput, ToolSpec
from oldfriend.turn.tools.tool_groups import TASKS_GROUP

HANDLERS: Final[dict[str, RequestHandler]] = {
    "language": LANGUAGE_REQUESTS,
    "project": PROJECT_REQUESTS,
    "skill": SKILL_REQUESTS,
    CHECKLIST_COMMAND: CHECKLIST_REQUESTS,
    "purge": OWN_DATA_REQUESTS,
    "active": PROACTIVE_REQUESTS,
    "quiet": PROACTIVE_REQUESTS,
    "digest": PROACTIVE_REQUESTS,
    "recap": PROACTIVE_REQUESTS,
}
"""The commands that a model may use, and what handles them."""
NEVER_FROM_OUTSIDE: Final = frozenset(
    {"purge", "active", "quiet", "digest", "recap", "language", "skill", CHECKLIST_COMMAND}
)
"""What no model does in a turn in which it may have read what others have written."""


def check_argument(context: ToolContext, command: str, argument: str) -> None:
    """Raise InvalidInput unless the person has just named what a command is for."""
    if command == "language":
        wanted, own = find_language(argument), context.utterance.own_words
        if wanted is None or wanted not in {AUTO, find_first_language(own)}:
            raise InvalidInput("The person has not named that language. Ask them.")
    elif command == "skill":
        _, text = split_name(argument)
        if text is None or not text.startswith(FURTHER):
            raise InvalidInput("Name the skill and what it is to say beside: “Letters: + shorter”.")
        check_told(context, text, is_whole=True)  # it stands in every later prompt
    elif command == CHECKLIST_COMMAND:
        verb, _, line = argument.partition(" ")
        check_told(context, line, is_whole=verb.casefold() != "remove")
    elif command == "project" and argument.lower() not in CLOSE_WORDS:
        if split_name(argument)[1] is not None:
            raise InvalidInput("How to be in a project is said by the person alone: “/project”.")
        check_told(context, argument)


async def handle(context: ToolContext, command: str, argument: str) -> HandledRequest:
    """Have the handler of a command decide. Raises InvalidInput if it has nothing to do."""
    text = f"/{command} {argument}".strip()
    handled = await HANDLERS[command].handle(build_handler_context(context, text))
    if handled is None:
        raise InvalidInput("There is nothing to do for that.")
    return handled


def build_handler_context(context: ToolContext, text: str) -> HandlerContext:
    """Return what a handler reads for a text that stands in for the person's own words."""
    utterance, person = context.utterance, context.utterance.person
    fixed = person.language if person.has_fixed_language else None
    perception = perceive(utterance.own_words, utterance.addressee)
    return HandlerContext(
        utterance=utterance,
        perception=replace(perception, fixed_language=fixed),
        db=context.search_deps.db,
        clock=context.clock,
        model_name=context.prompt.name,  # whichever: one is answering
        decided=tuple(context.decided),
        left=text,
    )


def build_use_command(context: ToolContext) -> BoundTool:
    """Build the tool that uses a command for the person."""

    async def use(arguments: ToolArguments) -> ToolOutput:
        check_asked(context, arguments)
        if context.has_read_outside and arguments.get("command") in NEVER_FROM_OUTSIDE:
            raise InvalidInput("Not in a turn in which something outside was asked for.")
        command, argument = (str(arguments.get(each) or "") for each in ("command", "argument"))
        argument = "" if command == "purge" else argument.strip()
        check_argument(context, command, argument)
        handled = await handle(context, command, argument)
        return build_output(context, handled)

    properties: dict[str, Any] = {
        "command": {"type": "string", "enum": [*HANDLERS]},
        "argument": {
            "type": "string",
            "description": "Name of the language or project (off: close it); “skill: + more”; "
            "heartbeat (list of what to look at): “add …”, “remove …”, “every 90”; "
            "active (how readily you speak first): off, shy, normal, lively; quiet: “22-8”, off; "
            "digest: daily, weekly, off; recap: weekly, off",
        },
        "words": WORDS,
    }
    return bind(
        "use_command",
        "Fix the language of replies, open a project, add to a skill, say when you may "
        "speak first, or ask about forgetting all.",
        properties,
        use,
        required=["command", "words"],
    )


def build_output(context: ToolContext, handled: HandledRequest) -> ToolOutput:
    """Return what a command has decided; nothing that the turn has decided already."""
    if handled.asked_call is not None:
        asked = KeepPendingCall(call=handled.asked_call)
        text = context.prompt.render("asked_first")
        return ToolOutput(text=text, changes=(asked,), question=handled.text)
    new = tuple(each for each in handled.changes if each not in context.decided)
    context.decided.extend(new)
    return ToolOutput(
        text=handled.text, changes=new, records=handled.records, summary=handled.text if new else ""
    )


def build_new_conversation(context: ToolContext) -> BoundTool:
    """Build the tool that ends this conversation."""

    async def use(_: ToolArguments) -> ToolOutput:
        text = CommandMenu.load(context.utterance.system_language).say["new_begun"]
        return ToolOutput(text=text, changes=(CloseConversation(),), summary=text)

    return bind("new_conversation", "Begin a new conversation.", {}, use, required=[])


SLASH_COMMAND_TOOLS: Final[Sequence[ToolSpec]] = (
    ToolSpec(name="use_command", build=build_use_command, group=TASKS_GROUP),
    ToolSpec(
        name="new_conversation",
        build=build_new_conversation,
        needs_confirmation=True,
        group=TASKS_GROUP,
    ),
)
