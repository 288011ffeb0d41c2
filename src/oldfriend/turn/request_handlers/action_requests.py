"""Action requests: something to be done at a time and told: "every Monday look up …".

At its time it only reads: what another handler would change, or ask about first, is refused.
"""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from oldfriend.tasks.action_phrases import AskedAction, load_action_phrases
from oldfriend.tasks.asked_task import AskedTask
from oldfriend.tasks.sentence_words import split_sentences
from oldfriend.tasks.task_desk import DeskDecision, TaskDesk
from oldfriend.tasks.task_phrases import TaskPhrases, load_task_phrases
from oldfriend.turn.request_handlers.handled_tasks import build_handled, open_desk
from oldfriend.turn.request_handlers.handler import (
    MAX_SENTENCES,
    HandledRequest,
    HandlerContext,
    RequestHandler,
)
from oldfriend.turn.request_handlers.request_kinds import RequestKind, choose_kind, find_request

NAME: Final = "actions"
COMMAND: Final = re.compile(
    r"\s{0,9}/schedule(?:@\w{1,64})?(?:\s{1,9}(?P<rest>[^\n]{1,300}))?\s{0,9}", re.IGNORECASE
)
COMMANDS: Final = frozenset({"/schedule"})
LOOKED_UP: Final[frozenset[RequestKind]] = frozenset(
    {
        "none",
        "action_at",
        "reminder_new",
        "todo_new",
        "number_ask",
        "diary_ask",
        "goal_ask",
        "clock",
    }
)
"""What is likely asked to be done at a time without its time, which changes nothing."""


def build_action_handler(others: Sequence[RequestHandler]) -> RequestHandler:
    """Build the handler; what one of the others would change is no action."""

    async def handle(context: HandlerContext) -> HandledRequest | None:
        return await handle_action_request(context, others)

    return RequestHandler(name=NAME, handle=handle)


async def handle_action_request(
    context: HandlerContext, others: Sequence[RequestHandler] = ()
) -> HandledRequest | None:
    """Put on the list what a message asks to have done at a time."""
    language = context.perception.language
    command = COMMAND.fullmatch(context.text)
    if command is not None:
        desk = await open_desk(context, load_task_phrases(language))
        asked = keep_asked_day(desk.phrases, command["rest"] or "")
        if not asked.what:
            decision = DeskDecision(text=desk.wording.say("action_usage"))
        elif await would_change(context, asked.what, language, others):
            decision = DeskDecision(text=desk.wording.say("action_changes", text=asked.what))
        else:
            task = replace(desk.build(asked.what), kind="action", time_words=asked.time_words)
            decision = desk.add(desk.set_time(task, asked.told))
        return replace(build_handled(desk, [decision], is_whole=True, is_command=True), name=NAME)
    sentences = split_sentences(context.text)
    languages = dict.fromkeys((language, context.utterance.message.language, "en"))
    for at, sentence in enumerate(sentences[:MAX_SENTENCES]):
        for each in languages:
            asked_action = load_action_phrases(each).read(sentence)
            if asked_action is None:
                continue
            desk = await open_desk(context, load_task_phrases(each))
            rest = " ".join([*sentences[:at], *sentences[at + 1 :]])
            decision = decide(desk, asked_action)
            if await would_change(context, asked_action.what, each, others):
                decision = DeskDecision(
                    text=desk.wording.say("action_changes", text=asked_action.what)
                )
            handled = build_handled(desk, [decision], is_whole=not rest)
            return replace(handled, name=NAME, rest=rest)
    return await handle_likely(context, others)


async def handle_likely(
    context: HandlerContext, others: Sequence[RequestHandler]
) -> HandledRequest | None:
    """Put on the list what a message most likely asks to have done, whatever its words."""
    language = context.perception.language
    found = find_request(context.text, language, "action_at")
    asked = load_action_phrases(language).read_timed(found.said) if found is not None else None
    if found is None or asked is None:
        return None
    desk = await open_desk(context, load_task_phrases(language))
    decision = decide(desk, asked)
    is_other = choose_kind(asked.what, language) not in LOOKED_UP
    if is_other and await would_change(context, asked.what, language, others):
        decision = DeskDecision(text=desk.wording.say("action_changes", text=asked.what))
    handled = build_handled(desk, [decision], is_whole=not found.rest)
    return replace(handled, name=NAME, rest=found.rest)


def keep_asked_day(phrases: TaskPhrases, text: str) -> AskedTask:
    """Return what a command asks for; a day behind it is what it is about ("what's on today")."""
    asked = phrases.read_command_reminder(text)
    before, what, behind = text.partition(asked.what) if asked.what else ("", "", "")
    told = phrases.read_time(what + behind)
    if before.strip() and told and told.day and not told.clock and not told.every:
        sure = None if asked.told is None else replace(asked.told, doubt=None)
        return replace(asked, what=phrases.clean(what + behind), told=sure)
    return asked


def decide(desk: TaskDesk, asked: AskedAction) -> DeskDecision:
    """Put an action on the list with its time, or with the question about it."""
    task = replace(desk.build(asked.what), kind="action", time_words=asked.time_words)
    return desk.add(desk.set_time(task, asked.told))


async def would_change(
    context: HandlerContext, what: str, language: str, others: Sequence[RequestHandler]
) -> bool:
    """Tell whether a handler would change something for an action, or ask about it first."""
    asked = replace(context, left=load_action_phrases(language).find_question(what))
    for handler in others:
        request = await handler.handle(asked)
        if request is not None:
            return handler.only_acts or is_acting(request)
    return False


def is_acting(handled_request: HandledRequest) -> bool:
    """Tell whether a request changes something, or asks the person about doing so."""
    return bool(handled_request.changes) or handled_request.asked_call is not None


def keep_reading(handler: RequestHandler) -> RequestHandler:
    """Return a handler that handles only what changes nothing."""

    async def handle(context: HandlerContext) -> HandledRequest | None:
        request = await handler.handle(context)
        return None if request is None or is_acting(request) else request

    return replace(handler, handle=handle)
