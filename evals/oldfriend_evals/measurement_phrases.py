"""Measurements in strangers' phrases: how reliably their values are read, offline.

Whoever says a phrase weighed 71.0 kg the day before. Silently wrong is a value other than the one
told, or one that nobody told.
"""

import asyncio
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, Literal

from oldfriend.app.app_context import AppContext
from oldfriend.turn.request_handlers.handler import HandledRequest
from oldfriend.turn.request_handlers.measurement_requests import (
    RecordMeasurements,
    handle_measurement,
)
from oldfriend_evals.bench_measures import Measure, Scope
from oldfriend_evals.task_request_eval import read_cases, say
from oldfriend_evals.temporary_stores import open_temporary_store

MATERIAL: Final = Path(__file__).parent / "measurement_phrases.jsonl"
ZONE: Final = "Europe/Madrid"
LOGGED_BEFORE: Final = {"message": "weight 71.0 kg", "language": "en"}

Grade = Literal["right", "missed", "taken as question", "wrong value", "invented"]
SILENTLY_WRONG: Final[frozenset[Grade]] = frozenset({"wrong value", "invented"})


async def store_phrase(
    app: AppContext, case: Mapping[str, Any], number: int, *, at: str
) -> HandledRequest | None:
    """Say a phrase and store what it tells."""
    return await say(
        app, {**case, "said_at": at, "zone": ZONE}, number, handle_measurement, is_stored=True
    )


def list_values(handled: HandledRequest | None) -> list[str]:
    """List the values that are recorded, a pair as "120/80"."""
    changes = handled.changes if handled is not None else ()
    told = [
        each
        for change in changes
        if isinstance(change, RecordMeasurements)
        for each in change.measured
    ]
    return [
        f"{each.value:g}" if each.second_value is None else f"{each.value:g}/{each.second_value:g}"
        for each in told
    ]


def grade(expect: Mapping[str, Any], handled: HandledRequest | None) -> Grade:
    """Compare what was recorded with what was told."""
    values = list_values(handled)
    if expect["kind"] == "none":
        return "right" if handled is None else "invented"
    if expect["kind"] == "query":
        return "invented" if values else "missed" if handled is None else "right"
    if not values:
        return "missed" if handled is None else "taken as question"
    told = expect["value"]
    meant = told if isinstance(told, str) else f"{float(told):g}"
    return "right" if meant in values else "wrong value"


async def grade_all(
    cases: Iterable[Mapping[str, Any]],
) -> list[tuple[Mapping[str, Any], Grade, HandledRequest | None]]:
    """Grade all cases, each said by somebody else."""
    async with open_temporary_store() as app:
        graded = []
        for number, case in enumerate(cases):
            await store_phrase(app, LOGGED_BEFORE, number, at="2026-11-28T08:00:00")
            handled = await store_phrase(app, case, number, at="2026-11-29T09:00:00")
            graded.append((case, grade(case["expect"], handled), handled))
    return graded


async def measure_measurement_phrases(scope: Scope) -> list[Measure]:
    """Measure the cases in the repository, which are training material."""
    del scope
    graded = await grade_all(read_cases([MATERIAL]))
    count = Counter(found for _, found, _ in graded)
    wrong = sum(count[each] for each in SILENTLY_WRONG)
    return [
        Measure(
            name="told measurements: right",
            value=count["right"] / len(graded),
            unit="of all",
            note=f"{len(graded)} phrases in five languages, looked at; {wrong} silently wrong",
        )
    ]


def report(
    graded: Iterable[tuple[Mapping[str, Any], Grade, HandledRequest | None]],
) -> Iterator[str]:
    """Yield each case that is not right, the grades of each language, and of all."""
    by_language: dict[str, Counter[Grade]] = defaultdict(Counter)
    for case, found, handled in graded:
        by_language[case["language"]][found] += 1
        if found != "right":
            text = "" if handled is None else handled.text
            yield f"{case['id']} {found}: {case['message']!r}"
            yield f"    meant {case['expect']}, took {list_values(handled)} {text!r}"
    for language, count in by_language.items():
        yield f"{language} {dict(count)}"
    total = sum(by_language.values(), Counter[Grade]())
    wrong = sum(total[each] for each in SILENTLY_WRONG)
    yield f"right {total['right']} of {total.total()}, silently wrong {wrong}, {dict(total)}"


def main() -> None:
    """Grade the cases of some files, or those in the repository."""
    paths = map(Path, sys.argv[1:] or [str(MATERIAL)])
    for line in report(asyncio.run(grade_all(read_cases(paths)))):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main()
