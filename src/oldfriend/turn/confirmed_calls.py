"""Confirmed calls: runs the call that the person was asked about, once, if their next word is yes.

Only a whole message of the person's own says so, in the chat where they were asked, as an answer to
just that question, and in time. A yes after something else was said has the question asked again;
words that answer in part, or another question, end the wait, and nothing is done.
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from oldfriend.db.database import Transaction
from oldfriend.domain.clock import Micros
from oldfriend.domain.errors import NotFound
from oldfriend.domain.ids import MessageId
from oldfriend.domain.messages import PRESSED_DETAIL, Message
from oldfriend.llm.model import ToolCall
from oldfriend.memory.message_log import get_message, list_recent_messages
from oldfriend.prompts.prompt import get_reply_prompt
from oldfriend.turn.generate import build_executor
from oldfriend.turn.intent import Perception
from oldfriend.turn.request_handlers.forget_requests import FORGET
from oldfriend.turn.request_handlers.handler import HandledRequest
from oldfriend.turn.tools.belief_tools import build_question_anew
from oldfriend.turn.tools.command_tools import COMMAND_TOOLS
from oldfriend.turn.tools.confirmation import (
    ANSWERABLE_FOR,
    KeepPendingCall,
    SettlePendingCall,
)
from oldfriend.turn.tools.tool import ToolContext
from oldfriend.turn.tools.tool_executor import SUCCESS_STATUSES, ToolUse
from oldfriend.turn.tools.tool_words import ToolWords, load_tool_words, read_answer
from oldfriend.turn.turn_dependencies import TurnDependencies
from oldfriend.turn.turn_outcome import Utterance
from oldfriend.usage.tool_log import PendingCall, ToolUseStatus, find_pending_call

HANDLER_NAME = "confirmation"
ASKS: Final = re.compile(r"[?？]")
"""Stands in what was said last if a yes may answer that."""
WORD: Final = re.compile(r"[^\W_]+")
MAX_SAID_SINCE: Final = 20
"""Messages of the companion among which a question is found again."""
UNDONE_TEXTS: Final[Mapping[ToolUseStatus, str]] = {
    "failed": "gone",
    "end not known": "unsure",
    "declined": "declined",
    "expired": "expired",
}
"""What is said of a call that is not run; nothing of one that was dropped."""
SHOWN_BEFORE: Final = frozenset(each.name for each in COMMAND_TOOLS)
"""Calls of which the person was shown what they change: a label tells less."""


async def settle_pending_call(
    utterance: Utterance, perception: Perception, deps: TurnDependencies
) -> HandledRequest | None:
    """Return what becomes of the call that waits in this chat; None if none does."""
    if utterance.is_in_group or not utterance.is_persisted:
        return None
    deps = replace(deps, tools=(*deps.tools, *COMMAND_TOOLS))
    async with deps.search_deps.db.begin_read() as tx:
        pending = await find_pending_call(tx, utterance.person.id, utterance.message.chat)
        status = None
        if pending is not None:
            status = await judge_answer(tx, utterance, pending, now=deps.clock())
    words = load_tool_words(perception.reply_language)
    if pending is None or status is None:
        return refuse_command(utterance, words)
    if status == "asked":
        return await ask_again(utterance, pending, deps, language=perception.reply_language)
    specs = {spec.name: spec for spec in deps.tools}
    spec = specs.get(pending.call.name)
    if status == "done" and spec is None:
        spec = await deps.find_tool(pending.call.name)
        deps = deps if spec is None else replace(deps, tools=(*deps.tools, spec))
    label = words.get_label(pending.call.name, "" if spec is None else spec.label)
    if status == "done" and spec is not None:
        use = await run_confirmed(pending.call, utterance, deps)
        return build_handled(pending, use, label, words)
    if status == "dropped" and PRESSED_DETAIL in utterance.message.details:
        return refuse_command(utterance, words)  # below another question; this one waits on
    return await leave(pending, status, deps, label=label, words=words)


async def leave(
    pending: PendingCall,
    status: ToolUseStatus,
    deps: TurnDependencies,
    *,
    label: str,
    words: ToolWords,
) -> HandledRequest:
    """End the wait of a call that is not run, and tell why, but for one that was dropped."""
    if status == "done":
        status = "end not known" if await was_begun(pending.call, deps) else "failed"
    text = choose_undone_text(status, pending.call.name)
    return HandledRequest(
        name=HANDLER_NAME,
        text=words.say[text].format(label=label) if text else "",
        changes=(SettlePendingCall(pending=pending, status=status),),
        is_whole_message=bool(text),
        is_command=bool(text),
    )


def refuse_command(utterance: Utterance, words: ToolWords) -> HandledRequest | None:
    """Say that no question waits for this "/yes" or "/no"; None for all else."""
    text = utterance.own_words.strip()
    if not text.startswith("/") or read_answer(text) is None:
        return None
    return HandledRequest(name=HANDLER_NAME, text=words.say["nothing_asked"], is_command=True)


async def judge_answer(
    tx: Transaction, utterance: Utterance, pending: PendingCall, *, now: Micros
) -> ToolUseStatus:
    """Return what an utterance decides about a call: done, declined, expired or dropped.

    Or asked: it waits on, because its answer was not yet given, or not as the next word.
    """
    is_own = all(each.trust == "person" for each in utterance.messages)
    answer = read_answer(utterance.own_words) if is_own else None
    answered = await find_answered_message(tx, utterance)
    is_late = max(now, utterance.message.at) > pending.asked_at + ANSWERABLE_FOR
    is_late = is_late or now < pending.asked_at  # how much time has passed is not known then
    if utterance.message.turn == pending.turn or not is_own:
        return "dropped"
    if answer is None:
        return "dropped" if is_late or has_answer(utterance.own_words) else "asked"
    if answered is None or answered.turn != pending.turn:
        is_other = answered is None or ASKS.search(answered.text) is not None
        is_other = is_other or PRESSED_DETAIL in utterance.message.details
        if is_other or answer == "no":
            return "dropped"
        return "expired" if is_late else "asked"
    if answer == "no":
        return "declined"
    return "expired" if is_late else "done"


def has_answer(words: str) -> bool:
    """Tell whether a yes or no is among words, which then answer something in their own way."""
    return any(read_answer(each[0]) is not None for each in WORD.finditer(words))


async def ask_again(
    utterance: Utterance, pending: PendingCall, deps: TurnDependencies, *, language: str
) -> HandledRequest | None:
    """Repeat a question to which a yes was no longer the next word; None for all other words."""
    if read_answer(utterance.own_words) is None:
        return None
    async with deps.search_deps.db.begin_read() as tx:
        if pending.call.name == FORGET:
            asked = await build_question_anew(tx, utterance, pending.call, language=language)
        else:
            asked = await find_question(tx, utterance, pending), pending.call
    if asked is None or not asked[0]:
        settled = SettlePendingCall(pending=pending, status="dropped")
        text = load_tool_words(language).say["nothing_asked"]
        return HandledRequest(name=HANDLER_NAME, text=text, changes=(settled,), is_command=True)
    text, call = asked
    changes = (KeepPendingCall(call=call),)
    return HandledRequest(name=HANDLER_NAME, text=text, changes=changes, is_command=True)


async def find_question(tx: Transaction, utterance: Utterance, pending: PendingCall) -> str:
    """Return the words by which the person was asked about a call; "" if too much came since."""
    said = await list_recent_messages(
        tx,
        utterance.person.id,
        utterance.message.chat,
        limit=MAX_SAID_SINCE,
        before=utterance.messages[0].seq,
        role="companion",
    )
    return next((each.text for each in said if each.turn == pending.turn), "")


async def find_answered_message(tx: Transaction, utterance: Utterance) -> Message | None:
    """Return what an utterance answers: below which it was pressed, or what was said last."""
    person, pressed = utterance.person.id, utterance.message.details.get(PRESSED_DETAIL)
    if pressed is not None:
        try:
            return await get_message(tx, person, MessageId(pressed))
        except NotFound:
            return None
    last_said = await list_recent_messages(
        tx,
        person,
        utterance.message.chat,
        limit=1,
        before=utterance.messages[0].seq,
        role="companion",
    )
    return last_said[0] if last_said else None


def build_tool_context(utterance: Utterance, deps: TurnDependencies) -> ToolContext:
    """Return what a tool may use where no model was shown anything."""
    return ToolContext(
        prompt=get_reply_prompt(),
        clock=deps.clock,
        utterance=utterance,
        search_deps=deps.search_deps,
        person_name=utterance.person.name,
        recall_tokens=deps.limits.budget.snippets,
        shown_ids=set(),
    )


async def run_confirmed(call: ToolCall, utterance: Utterance, deps: TurnDependencies) -> ToolUse:
    """Run a call that the person has allowed; a turn that runs again does not repeat it."""
    executor = build_executor(build_tool_context(utterance, deps), deps, confirmed=call)
    await executor.execute(call)
    return executor.uses[-1]


def choose_undone_text(status: ToolUseStatus, name: str) -> str:
    """Return the name of what is said of a call that is not run; "" for nothing."""
    is_shown = status == "declined" and name in SHOWN_BEFORE
    return "declined_shown" if is_shown else UNDONE_TEXTS.get(status, "")


async def was_begun(call: ToolCall, deps: TurnDependencies) -> bool:
    """Tell whether an earlier attempt of this turn began a call whose end nobody knows."""
    begun = await deps.call_store.list_begun()
    return any(each.matches(call) and each.result is None for each in begun)


def build_handled(
    pending: PendingCall, use: ToolUse, label: str, words: ToolWords
) -> HandledRequest:
    """Tell what came of a call in words that no model wrote."""
    is_done = use.status in SUCCESS_STATUSES
    part = ("done_with" if use.result else "done") if is_done else "failed"
    if use.status == "end not known":
        part = "unsure"
    framed = words.say[part].format(label=label, result=use.summary or use.result)
    is_own_sentence = is_done and use.summary and not use.sources  # not words from outside
    return HandledRequest(
        name=HANDLER_NAME,
        text=use.summary if is_own_sentence else framed,
        changes=(*use.changes, SettlePendingCall(pending=pending, status="done")),
        records=use.records,
        uses=(use,),
        is_command=True,
    )
