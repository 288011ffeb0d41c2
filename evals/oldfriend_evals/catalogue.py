"""What can be measured? Each under a name, each in a fresh process."""

import asyncio
import multiprocessing
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from types import MappingProxyType
from typing import TypeAlias

from oldfriend.domain.errors import InvalidInput, OldfriendError
from oldfriend_evals.acquainted import measure_ties
from oldfriend_evals.answers import measure_answers
from oldfriend_evals.asked_tasks import measure_asked_tasks
from oldfriend_evals.believing import measure_believing
from oldfriend_evals.blind_lives import measure_blind_lives
from oldfriend_evals.bulk import measure_import
from oldfriend_evals.claiming import measure_claiming
from oldfriend_evals.disk_space import measure_disk_space
from oldfriend_evals.grader_check import measure_grader
from oldfriend_evals.hostile_text import measure_hostile_text
from oldfriend_evals.idle_reminders import measure_idling
from oldfriend_evals.languages import measure_languages
from oldfriend_evals.library_use import measure_first_recall, measure_single_adds
from oldfriend_evals.lives.appraising import measure_lives
from oldfriend_evals.lives.within import measure_inner_life
from oldfriend_evals.load import measure_load
from oldfriend_evals.meaning import measure_embedding
from oldfriend_evals.measuring import Measure, Scope, not_measured
from oldfriend_evals.model_reading import measure_model_reading
from oldfriend_evals.narrow import measure_narrow
from oldfriend_evals.page_events import measure_page_events
from oldfriend_evals.page_lists import measure_page_lists
from oldfriend_evals.page_loading import measure_page_loading
from oldfriend_evals.page_scrolling import measure_page_scrolling
from oldfriend_evals.page_weight import measure_page_weight
from oldfriend_evals.poison.measure_gates import measure_false_refusals
from oldfriend_evals.quality import measure_finding
from oldfriend_evals.reader_cost import measure_reading
from oldfriend_evals.remembering import measure_remembering
from oldfriend_evals.reminders_due import measure_reminders
from oldfriend_evals.reply_prompts import measure_reply_prompts
from oldfriend_evals.rule_reading import measure_rule_reading
from oldfriend_evals.second_search import measure_second_search
from oldfriend_evals.speed import measure_adding, measure_crowd, measure_recall, measure_turn
from oldfriend_evals.telegram_load import measure_telegram
from oldfriend_evals.throughput import measure_turns
from oldfriend_evals.told_measurements import measure_told_measurements
from oldfriend_evals.weight import measure_chat, measure_install, measure_say, measure_start

Measuring: TypeAlias = Callable[[Scope], Awaitable[list[Measure]]]

MEASUREMENTS: Mapping[str, Measuring] = MappingProxyType(
    {
        "finding": measure_finding,
        "languages": measure_languages,
        "recall": measure_recall,
        "second search": measure_second_search,
        "remembering": measure_remembering,
        "ties": measure_ties,
        "answers": measure_answers,
        "asked tasks": measure_asked_tasks,
        "told measurements": measure_told_measurements,
        "blind lives": measure_blind_lives,
        "grader": measure_grader,
        "gates": measure_false_refusals,
        "reading": measure_reading,
        "model reading": measure_model_reading,
        "reply prompts": measure_reply_prompts,
        "crowd": measure_crowd,
        "narrow": measure_narrow,
        "adding": measure_adding,
        "single adds": measure_single_adds,
        "first recall": measure_first_recall,
        "hostile text": measure_hostile_text,
        "rules": measure_rule_reading,
        "believing": measure_believing,
        "turn": measure_turn,
        "claiming": measure_claiming,
        "reminders": measure_reminders,
        "idle reminders": measure_idling,
        "throughput": measure_turns,
        "load": measure_load,
        "telegram": measure_telegram,
        "page events": measure_page_events,
        "page lists": measure_page_lists,
        "page loading": measure_page_loading,
        "page scrolling": measure_page_scrolling,
        "page weight": measure_page_weight,
        "lives": measure_lives,
        "inner life": measure_inner_life,
        "embedding": measure_embedding,
        "import": measure_import,
        "disk space": measure_disk_space,
        "start": measure_start,
        "say": measure_say,
        "chat": measure_chat,
        "install": measure_install,
    }
)


def chosen(only: Sequence[str] | None) -> list[str]:
    """The names to measure, in the catalogue's order. Raises InvalidInput for an unknown one."""
    unknown = [name for name in only or () if name not in MEASUREMENTS]
    if unknown:
        raise InvalidInput(
            f"{unknown[0]!r} cannot be measured. There are: {', '.join(MEASUREMENTS)}."
        )
    return [name for name in MEASUREMENTS if only is None or name in only]


def measured_apart(name: str, scope: Scope) -> list[Measure]:
    """Measure in a process that is free of the caches and the memory of what ran before."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=fresh) as apart:
        return apart.submit(measure, name, scope).result()


def measure(name: str, scope: Scope) -> list[Measure]:
    """Take one measurement; a failure is told in its place."""
    try:
        return asyncio.run(measure_now(name, scope))
    except OldfriendError as error:
        return [not_measured(name, f"failed: {error}")]
    except TimeoutError:  # on a machine that has too much to do; what else is measured is told
        return [not_measured(name, "failed: it took too long")]


async def measure_now(name: str, scope: Scope) -> list[Measure]:
    """Take one measurement."""
    return await MEASUREMENTS[name](scope)
