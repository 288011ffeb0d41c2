"""The catalogue of measurements, each under a name and in a fresh process."""

import asyncio
import multiprocessing
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from types import MappingProxyType
from typing import TypeAlias

from oldfriend.domain.errors import InvalidInput, OldfriendError
from oldfriend_evals.answers import measure_answers
from oldfriend_evals.bench_beliefs import measure_belief_recall
from oldfriend_evals.bench_embeddings import measure_embedding
from oldfriend_evals.bench_entities import measure_relations
from oldfriend_evals.bench_import import measure_import
from oldfriend_evals.bench_learning import measure_learning
from oldfriend_evals.bench_measures import Measure, Scope, build_unmeasured
from oldfriend_evals.bench_quantization import measure_quantization
from oldfriend_evals.bench_queue import measure_queue_claims
from oldfriend_evals.blind_lives import measure_blind_lives
from oldfriend_evals.disk_space import measure_disk_space
from oldfriend_evals.footprint import measure_chat, measure_install, measure_say, measure_start
from oldfriend_evals.grader_check import measure_grader
from oldfriend_evals.hostile_text import measure_hostile_text
from oldfriend_evals.idle_reminders import measure_idling
from oldfriend_evals.languages import measure_languages
from oldfriend_evals.library_use import measure_first_recall, measure_single_adds
from oldfriend_evals.lives.scorecard import measure_lives
from oldfriend_evals.lives.state_scorecard import measure_companion_state
from oldfriend_evals.load import measure_load
from oldfriend_evals.measurement_phrases import measure_measurement_phrases
from oldfriend_evals.model_reading import measure_model_reading
from oldfriend_evals.page_events import measure_page_events
from oldfriend_evals.page_lists import measure_page_lists
from oldfriend_evals.page_loading import measure_page_loading
from oldfriend_evals.page_scrolling import measure_page_scrolling
from oldfriend_evals.page_weight import measure_page_weight
from oldfriend_evals.poison.measure_gates import measure_false_refusals
from oldfriend_evals.reader_cost import measure_reading
from oldfriend_evals.reminders_due import measure_reminders
from oldfriend_evals.reply_prompts import measure_reply_prompts
from oldfriend_evals.retrieval_quality import measure_retrieval
from oldfriend_evals.rule_reading import measure_rule_reading
from oldfriend_evals.second_search import measure_second_search
from oldfriend_evals.speed import measure_adding, measure_crowd, measure_recall, measure_turn
from oldfriend_evals.task_request_eval import measure_task_requests
from oldfriend_evals.telegram_load import measure_telegram
from oldfriend_evals.throughput import measure_turns

Measurement: TypeAlias = Callable[[Scope], Awaitable[list[Measure]]]

MEASUREMENTS: Mapping[str, Measurement] = MappingProxyType(
    {
        "retrieval": measure_retrieval,
        "languages": measure_languages,
        "recall": measure_recall,
        "second search": measure_second_search,
        "belief recall": measure_belief_recall,
        "relations": measure_relations,
        "answers": measure_answers,
        "task requests": measure_task_requests,
        "measurement phrases": measure_measurement_phrases,
        "blind lives": measure_blind_lives,
        "grader": measure_grader,
        "gates": measure_false_refusals,
        "reading": measure_reading,
        "model reading": measure_model_reading,
        "reply prompts": measure_reply_prompts,
        "crowd": measure_crowd,
        "quantization": measure_quantization,
        "adding": measure_adding,
        "single adds": measure_single_adds,
        "first recall": measure_first_recall,
        "hostile text": measure_hostile_text,
        "rules": measure_rule_reading,
        "learning": measure_learning,
        "turn": measure_turn,
        "queue claims": measure_queue_claims,
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
        "inner life": measure_companion_state,
        "embedding": measure_embedding,
        "import": measure_import,
        "disk space": measure_disk_space,
        "start": measure_start,
        "say": measure_say,
        "chat": measure_chat,
        "install": measure_install,
    }
)

OLD_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "asked tasks": "task requests",
        "finding": "retrieval",
        "remembering": "belief recall",
        "ties": "relations",
        "told measurements": "measurement phrases",
        "narrow": "quantization",
        "believing": "learning",
        "claiming": "queue claims",
    }
)
"""Names of before under which a measurement can still be chosen."""


def list_chosen(only: Sequence[str] | None) -> list[str]:
    """The names to measure, in the catalogue's order. Raises InvalidInput for an unknown one."""
    wanted = None if only is None else {OLD_NAMES.get(name, name) for name in only}
    unknown = sorted((wanted or set()) - set(MEASUREMENTS))
    if unknown:
        raise InvalidInput(
            f"{unknown[0]!r} cannot be measured. There are: {', '.join(MEASUREMENTS)}."
        )
    return [name for name in MEASUREMENTS if wanted is None or name in wanted]


def measure_in_process(name: str, scope: Scope) -> list[Measure]:
    """Measure in a process that is free of the caches and the memory of what ran before."""
    fresh = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=fresh) as apart:
        return apart.submit(take_measurement, name, scope).result()


def take_measurement(name: str, scope: Scope) -> list[Measure]:
    """Take one measurement; a failure is told in its place."""
    try:
        return asyncio.run(run_measurement(name, scope))
    except OldfriendError as error:
        return [build_unmeasured(name, f"failed: {error}")]
    except TimeoutError:  # on a machine that has too much to do; what else is measured is told
        return [build_unmeasured(name, "failed: it took too long")]


async def run_measurement(name: str, scope: Scope) -> list[Measure]:
    """Take one measurement."""
    return await MEASUREMENTS[name](scope)
