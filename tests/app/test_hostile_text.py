"""A message that is made to take long takes no longer than prose, and holds up nobody."""

from pathlib import Path

import pytest

from oldfriend_evals.hostile_text import (
    LENGTH,
    LONGEST_WAIT_MS,
    PROSE,
    UNITS,
    ThreadTimes,
    all_texts,
    costs_of,
    handle,
    held_up_ms,
    longest_stretch_ms,
    waits_for_health,
)
from oldfriend_evals.stores import temporary_house
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
    texts = all_texts(LENGTH)
    async with temporary_house() as app:
        costs = await costs_of(app, {name: texts[name] for name in NAMES})
    most = MOST_TIMES * costs[PROSE] + SLACK_MS

    assert {name: cost for name, cost in costs.items() if cost > most} == {}


@pytest.mark.slow
async def test_health_check_responds_while_hostile_text_is_processed(tmp_path: Path) -> None:
    """What seems slow is measured again: a busy machine is slow once, a hold-up always."""
    waits = {name: text for name, text in all_texts(LENGTH).items() if name in NAMES}
    for look in range(LOOKS):
        found = await waits_for_health(tmp_path / str(look), waits)
        waits = {name: waits[name] for name, wait in found.items() if wait > LONGEST_WAIT_MS}
        if not waits:
            break

    assert list(waits) == []


@pytest.mark.slow
async def test_long_prose_is_processed_in_short_stretches() -> None:
    """While one message is answered and read, others are served in between."""
    text = all_texts(LENGTH)[PROSE]
    async with temporary_house() as app:
        await handle(app, "somebody else", text)  # what is opened once is opened by then
        stretches = [
            await longest_stretch_ms(handle(app, f"person {look}", text)) for look in range(LOOKS)
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

    assert held_up_ms(90, begun, {"loop": loop, "other": other}, loop="loop") == expected
