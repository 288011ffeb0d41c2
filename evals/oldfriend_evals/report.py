"""The report of results: a table to read, and JSON to compare with the next time."""

import json
import os
import platform
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from importlib.metadata import version

from oldfriend import __version__
from oldfriend.domain.clock import Micros, from_micros
from oldfriend_evals.bench_measures import Measure, Target

HEADS = ("what", "measured", "reference", "ratio", "target", "reached")
LIBRARIES = ("apsw", "numpy", "onnxruntime")
REACHED = {True: "yes", False: "NO", None: ""}


def format_table(measures: Iterable[Measure]) -> str:
    """One line for each measure, its note in brackets below; a note is not said twice in a row."""
    measures = list(measures)
    rows = [HEADS, *map(build_cells, measures)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [align_row(HEADS, widths), "  ".join("-" * width for width in widths)]
    last_note = ""
    for row, measure in zip(rows[1:], measures, strict=True):
        lines.append(align_row(row, widths))
        if measure.note != last_note and measure.note:
            lines.append(f"    ({measure.note})")
        last_note = measure.note
    return "\n".join(lines)


def build_cells(measure: Measure) -> tuple[str, ...]:
    """What stands in the columns."""
    if measure.value is None:
        return (measure.name, "not measured", "", "", format_target(measure.target), "")
    return (
        measure.name,
        f"{format_number(measure.value)} {measure.unit}".rstrip(),
        "" if measure.reference is None else f"{format_number(measure.reference)} {measure.unit}",
        "" if measure.ratio is None else f"{measure.ratio:.2f}",
        format_target(measure.target),
        REACHED[measure.reached],
    )


def align_row(row: Sequence[str], widths: Sequence[int]) -> str:
    """A line whose first column stands left and whose others stand right."""
    first, *others = zip(row, widths, strict=True)
    return "  ".join([first[0].ljust(first[1]), *(cell.rjust(width) for cell, width in others)])


def format_target(target: Target | None) -> str:
    """A target as a sign and a number."""
    return "" if target is None else f"{'≤' if target.sense == 'at most' else '≥'} {target.limit:g}"


def format_number(value: float) -> str:
    """Three digits that count, or all before the point."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def to_json(measures: Iterable[Measure], *, quick: bool, at: Micros) -> str:
    """Everything, with the machine it was measured on."""
    report = {
        "at": from_micros(at).isoformat(timespec="seconds"),
        "oldfriend": __version__,
        "quick": quick,
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} processors",
        "libraries": {name: version(name) for name in LIBRARIES},
        "measures": [
            {**asdict(measure), "ratio": measure.ratio, "reached": measure.reached}
            for measure in measures
        ],
    }
    return json.dumps(report, ensure_ascii=False, indent=2)
