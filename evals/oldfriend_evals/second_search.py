"""Cost of a second search: automatic recall, and what a model looks for after it."""

from functools import partial
from typing import Final

from oldfriend.domain.ids import TurnId, new_id
from oldfriend.domain.messages import UnloggedMessage
from oldfriend.memory.message_log import WriteTarget, write_message
from oldfriend.memory.people import get_companion
from oldfriend.memory.sessions import ensure_open_session
from oldfriend.prompts.prompt import get_reply_prompt
from oldfriend.turn.full_recall import recall_in_full
from oldfriend.turn.intent import Addressee
from oldfriend.turn.recalled import RecallQuery, RecallResult, get_item_id
from oldfriend.turn.reply_context import MAX_RECALLED
from oldfriend.turn.tools.search_memory import build_search_tool
from oldfriend.turn.tools.tool import ToolContext
from oldfriend.turn.turn_outcome import Utterance
from oldfriend_evals.bench_measures import (
    Action,
    Measure,
    Scope,
    build_upper_target,
    measure_medians_ms,
)
from oldfriend_evals.corpus import FIRST_DAY
from oldfriend_evals.speed import CACHE_WARMING, Setting, open_setting

ROOM: Final = 1_500
"""Tokens for the results of searches, as a turn has them."""


async def measure_second_search(scope: Scope) -> list[Measure]:
    """Recall and a search after it, beside recall alone; without what the model takes."""
    size = 1_000 if scope.quick else 10_000
    async with open_setting(size) as here:
        utterance = await say_utterance(here)
        texts = list(here.vectors)
        turns: list[tuple[Action, ...]] = [
            (
                partial(recall_for_reply, here, text),
                partial(recall_then_search, here, utterance, text, other),
            )
            for text, other in zip(texts, texts[1:] + texts[:1], strict=True)
        ]
        await measure_medians_ms(turns[:CACHE_WARMING])
        reference, value = await measure_medians_ms(turns)
    return [
        Measure(
            name=f"recall among {size:,} messages and a search after it",
            value=value,
            unit="ms",
            reference=reference,
            target=build_upper_target(2),
            note="reference: recall alone, as for a reply; beside the model and embedding",
        )
    ]


async def say_utterance(here: Setting) -> Utterance:
    """Have something said that the searches are for."""
    now = here.app.clock()
    async with here.app.db.begin_write() as tx:
        companion = await get_companion(tx)
        said = UnloggedMessage(
            role="person",
            speaker=here.line.person.name,
            text="Where was that again?",
            at=now,
            zone="UTC",
            trust="person",
        )
        place = WriteTarget(
            chat=here.line.chat,
            session=await ensure_open_session(tx, here.line.chat, now),
            turn=TurnId(new_id(now)),
        )
        message = await write_message(tx, place, said, now=now)
    assert message is not None
    return Utterance(
        message=message,
        person=here.line.person,
        companion=companion,
        is_first_in_chat=False,
        addressee=Addressee(name=companion.name, languages=("en",)),
    )


async def recall_for_reply(here: Setting, text: str) -> RecallResult:
    """Recall as for a reply."""
    query = RecallQuery(text=text, language="en", at=FIRST_DAY)
    return await recall_in_full(
        here.app.search_deps, here.line.person, query, limit=MAX_RECALLED, is_selective=True
    )


async def recall_then_search(here: Setting, utterance: Utterance, text: str, other: str) -> None:
    """Recall for one question, and search for another, with what was recalled in view."""
    found = await recall_for_reply(here, text)
    tool = build_search_tool(
        ToolContext(
            prompt=get_reply_prompt(),
            clock=here.app.clock,
            utterance=utterance,
            search_deps=here.app.search_deps,
            person_name=utterance.person.name,
            recall_tokens=ROOM,
            shown_ids={*map(get_item_id, found.messages), *map(get_item_id, found.beliefs)},
        )
    )
    await tool.run({"query": other})
