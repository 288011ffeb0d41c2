"""A message that is made to take long takes no longer than prose, and holds up nobody."""

from pathlib import Path

import pytest

from oldfriend_evals.hostile_text import (
    LENGTH,
    LONGEST_WAIT_MS,
    PROSE,
    UNITS,
    ThreadTimes,
    build_texts,
    compute_held_up_ms,
    find_longest_stretch_ms,
    handle_text,
    measure_costs,
    measure_health_waits,
)
from oldfriend_evals.temporary_stores import open_temporary_store
from tests.conftest import SIZE

pytestmark = pytest.mark.timeout(1800)

FEW = (
    PROSE,
    "blanks",
    "short lines",
    "run-on sentence",
    "statements",
    "adverbs",
    "stacked accents",
    "numerals",
    "opened quotations",
    "Chinese stops",
    "mixed",
)
NAMES = (PROSE, *UNITS) if SIZE == "full" else FEW
MOST_TIMES = 2
SLACK_MS = 50
LOOKS = 3
LONGEST_STRETCH_MS = 60
"""About the double of what the longest takes."""


@pytest.mark.slow
async def test_hostile_text_costs_at_most_twice_as_much_as_prose() -> None:
    """Accepted, answered, and read by rules."""
    texts = build_texts(LENGTH)
    async with open_temporary_store() as app:
        costs = await measure_costs(app, {name: texts[name] for name in NAMES})
    most = MOST_TIMES * costs[PROSE] + SLACK_MS

    assert {name: cost for name, cost in costs.items() if cost > most} == {}


@pytest.mark.slow
async def test_health_check_responds_while_hostile_text_is_processed(tmp_path: Path) -> None:
    """What seems slow is measured again: a busy machine is slow once, a hold-up always."""
    waits = {name: text for name, text in build_texts(LENGTH).items() if name in NAMES}
    for look in range(LOOKS):
        found = await measure_health_waits(tmp_path / str(look), waits)
        waits = {name: waits[name] for name, wait in found.items() if wait > LONGEST_WAIT_MS}
        if not waits:
            break

    assert list(waits) == []


@pytest.mark.slow
async def test_long_prose_is_processed_in_short_stretches() -> None:
    """While one message is answered and read, others are served in between."""
    text = build_texts(LENGTH)[PROSE]
    async with open_temporary_store() as app:
        await handle_text(app, "somebody else", text)  # what is opened once is opened by then
        stretches = [
            await find_longest_stretch_ms(handle_text(app, f"person {look}", text))
            for look in range(LOOKS)
        ]

    assert min(stretches) <= LONGEST_STRETCH_MS


@pytest.mark.parametrize(
    ("loop", "other", "expected"),
    [
        (ThreadTimes(5, 0), ThreadTimes(0, 0), 90),
        (ThreadTimes(5, 30), ThreadTimes(0, 40), 20),
        (ThreadTimes(70, 30), ThreadTimes(0, 40), 70),
    ],
    ids=["nobody else", "others had the processors", "its own work"],
)
def test_wait_for_health_counts_only_what_the_server_does(
    loop: ThreadTimes, other: ThreadTimes, expected: float
) -> None:
    """Of a wait of 90 ms, what other processes took is not the server's doing."""
    begun = dict.fromkeys(["loop", "other"], ThreadTimes(0, 0))

    assert compute_held_up_ms(90, begun, {"loop": loop, "other": other}, loop="loop") == expected
