"""A message that is made to take long takes no longer than prose, and holds up nobody."""

from pathlib import Path

import pytest

from oldfriend_evals.hostile_text import (
    LENGTH,
    LONGEST_WAIT_MS,
    PROSE,
    UNITS,
    all_texts,
    costs_of,
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
