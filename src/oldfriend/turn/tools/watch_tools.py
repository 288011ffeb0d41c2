"""Watch tools: a model has a page watched for the person, lists what is watched, or ends it.

It is decided and worded as the person's own "/watch" is. Only an address and a limit that they
have just written are used.
"""

import re
from dataclasses import replace
from typing import Any, Final

from oldfriend.domain.errors import InvalidInput
from oldfriend.turn.request_handlers.handler import HandledRequest
from oldfriend.turn.store_change import StoreChange
from oldfriend.turn.tools.slash_command_tools import build_handler_context, build_output
from oldfriend.turn.tools.task_tools import WORDS, bind, check_asked
from oldfriend.turn.tools.tool import BoundTool, ToolArguments, ToolContext, ToolOutput, ToolSpec
from oldfriend.turn.tools.tool_groups import TASKS_GROUP
from oldfriend.turn.watch_changes import WatchChange
from oldfriend.turn.watch_requests import MAX_TEXT_CHARS, handle_watch_request
from oldfriend.watches.amounts import NUMBER, parse_amount
from oldfriend.web.links import list_links

NAME: Final = "watch_page"
NUMBER_NAME: Final = "watch_number"
WRITTEN_NUMBER: Final = re.compile(NUMBER, re.ASCII)


def build_watch_tools(*, may_read_pages: bool) -> tuple[ToolSpec, ...]:
    """Build the tools for watches; that of pages where they may be read."""
    page = ToolSpec(name=NAME, build=bind_watch_page, group=TASKS_GROUP)
    number = ToolSpec(name=NUMBER_NAME, build=bind_watch_number, group=TASKS_GROUP)
    return (number, page) if may_read_pages else (number,)


def bind_watch_page(context: ToolContext) -> BoundTool:
    """Bind the tool to a turn."""

    async def use(arguments: ToolArguments) -> ToolOutput:
        check_asked(context, arguments)
        text = build_command(context, arguments)
        handled = await handle_watch_request(
            build_handler_context(context, text), may_read_pages=True
        )
        if handled is None:
            raise InvalidInput("Name one address, and one limit at most.")
        return build_watch_output(context, handled)

    properties: dict[str, Any] = {
        "action": {"type": "string", "enum": ["start", "end", "list"]},
        "url": {"type": "string", "description": "The address, as the person wrote it"},
        "below": {"type": "number", "description": "Tell once its price is below this"},
        "above": {"type": "number", "description": "Tell once its price is above this"},
        "words": WORDS,
    }
    return bind(
        NAME,
        "Watch a page and tell the person once when it changes or its price passes a limit.",
        properties,
        use,
        required=["action", "words"],
    )


def bind_watch_number(context: ToolContext) -> BoundTool:
    """Bind the tool for the person's own numbers to a turn."""

    async def use(arguments: ToolArguments) -> ToolOutput:
        check_asked(context, arguments)
        measure = str(arguments["measure"]).replace("_", " ").strip()
        text = f"/watch stop {measure}"
        if arguments["action"] == "start":
            if context.has_read_outside:
                raise InvalidInput("Not in a turn in which something outside was asked for.")
            unit = str(arguments.get("unit") or "")
            text = f"/watch {measure} {read_written_limit(context, arguments)} {unit}".strip()
        handled = await handle_watch_request(
            build_handler_context(context, text), may_read_pages=False
        )
        if handled is None or (arguments["action"] == "start" and not handled.records):
            raise InvalidInput("That is no measure with a limit that it can have.")
        return build_watch_output(context, handled)

    properties: dict[str, Any] = {
        "action": {"type": "string", "enum": ["start", "end"]},
        "measure": {"type": "string", "description": "In English, such as weight or steps"},
        "below": {"type": "number", "description": "Tell each time a number passes below this"},
        "above": {"type": "number", "description": "Tell each time a number passes above this"},
        "unit": {"type": "string", "description": "As the person wrote it, such as kg"},
        "words": WORDS,
    }
    return bind(
        NUMBER_NAME,
        "Tell the person whenever a number of theirs, such as their weight, passes a limit.",
        properties,
        use,
        required=["action", "measure", "words"],
    )


def build_command(context: ToolContext, arguments: ToolArguments) -> str:
    """Return the command that says the same. Raises InvalidInput for what was not just said."""
    action, url = str(arguments["action"]), str(arguments.get("url") or "").strip()
    if action == "list":
        return "/watches"
    if action == "end":
        return f"/watch stop {url}"
    if context.has_read_outside:
        raise InvalidInput("Not in a turn in which something outside was asked for.")
    own = context.utterance.own_words
    if url not in list_links(own):
        raise InvalidInput("The person has not written that address in the last message. Ask them.")
    sides = any(arguments.get(side) is not None for side in ("below", "above"))
    return (
        f"/watch {url} {read_written_limit(context, arguments, url)}" if sides else f"/watch {url}"
    )


def read_written_limit(context: ToolContext, arguments: ToolArguments, url: str = "") -> str:
    """Return the one limit with its side, as it was written. Raises InvalidInput for any other."""
    own = context.utterance.own_words
    limits = [
        (side, arguments[side]) for side in ("below", "above") if arguments.get(side) is not None
    ]
    own = own.replace(url, " ") if url else own
    written = {parse_amount(each): each for each in WRITTEN_NUMBER.findall(own)}
    side, limit = limits[0] if limits else ("", None)
    if len(limits) != 1 or not isinstance(limit, int | float) or float(limit) not in written:
        raise InvalidInput("The person has not told one such limit in the last message. Ask them.")
    return f"{side} {written[float(limit)]}"


def build_watch_output(context: ToolContext, handled: HandledRequest) -> ToolOutput:
    """Return what was decided, with the person's own words in each new watch."""
    changes = tuple(with_own_words(context, each) for each in handled.changes)
    return build_output(context, replace(handled, changes=changes))


def with_own_words(context: ToolContext, change: StoreChange) -> StoreChange:
    """Return a change whose new watch keeps the words in which it was asked for."""
    if not isinstance(change, WatchChange) or change.earlier is not None:
        return change
    text = context.utterance.own_words.strip()[:MAX_TEXT_CHARS]
    return replace(change, watch=replace(change.watch, text=text))
