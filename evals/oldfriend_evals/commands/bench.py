"""oldfriend bench: benchmarks of retrieval, speed and size, with comparisons."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from oldfriend.cli.open_context import load_settings_from_options
from oldfriend.config.settings import limit_to_one_thread
from oldfriend.domain.clock import system_clock
from oldfriend.domain.errors import StoreUnusable
from oldfriend_evals.bench_measures import Measure, Scope
from oldfriend_evals.catalogue import list_chosen, measure_in_process
from oldfriend_evals.report import format_table, to_json


async def run(options: argparse.Namespace) -> int:
    """Run the benchmarks, print a table, and write JSON if asked to."""
    settings = load_settings_from_options(options)
    scope = Scope(
        quick=options.quick,
        locomo=settings.bench_data,
        float_model=settings.bench_float_model,
        postgres=settings.bench_postgres,
    )
    limit_to_one_thread()
    measures = run_benchmarks(list_chosen(options.only), scope)
    print(format_table(measures))
    if options.json:
        report = to_json(measures, quick=options.quick, at=system_clock())
        write_report(Path(options.json), report)
    return 0


def run_benchmarks(names: Sequence[str], scope: Scope) -> list[Measure]:
    """Run the benchmarks one after the other, naming each on standard error."""
    results: list[Measure] = []
    for number, name in enumerate(names, start=1):
        print(f"{number} of {len(names)}: {name} …", file=sys.stderr, flush=True)
        results += measure_in_process(name, scope)
    return results


def write_report(file: Path, report: str) -> None:
    """Write the report. Raises StoreUnusable."""
    try:
        file.write_text(report + "\n", encoding="utf-8")
    except OSError as error:
        raise StoreUnusable(f"{file} could not be written ({error.strerror}).") from error
