"""oldfriend bench: finding, speed and weight, measured beside what they are compared with."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from oldfriend.app.choices.settings import limit_to_one_thread
from oldfriend.cli.opening import settings_from
from oldfriend.domain.clock import system_clock
from oldfriend.domain.errors import StoreUnusable
from oldfriend.evals.catalogue import chosen, measured_apart
from oldfriend.evals.measuring import Measure, Scope
from oldfriend.evals.report import as_json, as_table


async def run(options: argparse.Namespace) -> int:
    """Measure, print a table, and write JSON where it is wanted."""
    settings = settings_from(options)
    scope = Scope(
        quick=options.quick, locomo=settings.bench_data, float_model=settings.bench_float_model,
        postgres=settings.bench_postgres,
    )  # fmt: skip
    limit_to_one_thread()
    measures = measured(chosen(options.only), scope)
    print(as_table(measures))
    if options.json:
        report = as_json(measures, quick=options.quick, at=system_clock())
        write(Path(options.json), report)
    return 0


def measured(names: Sequence[str], scope: Scope) -> list[Measure]:
    """Take the measurements one after the other, saying which."""
    measures: list[Measure] = []
    for number, name in enumerate(names, start=1):
        print(f"{number} of {len(names)}: {name} …", file=sys.stderr, flush=True)
        measures += measured_apart(name, scope)
    return measures


def write(file: Path, report: str) -> None:
    """Write the report. Raises StoreUnusable."""
    try:
        file.write_text(report + "\n", encoding="utf-8")
    except OSError as error:
        raise StoreUnusable(f"{file} could not be written ({error.strerror}).") from error
