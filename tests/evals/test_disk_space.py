"""How much a message takes on disk is measured with everything that comes of it."""

import pytest

from oldfriend_evals.bench_measures import Scope
from oldfriend_evals.disk_space import MOST_BYTES, live_and_measure, measure_disk_space

MESSAGES = 120
SCOPE = Scope(quick=True, locomo=None, float_model=None)


@pytest.mark.slow
async def test_disk_space_measurement_fills_every_relevant_table() -> None:
    """Words, vectors, beliefs with their words, receipts, traces, and calls of models."""
    sizes = await live_and_measure(MESSAGES, marks=2)

    assert [each.messages for each in sizes] == [0, MESSAGES // 2, MESSAGES]
    grown = {name for name, size in sizes[-1].parts.items() if size > sizes[0].parts.get(name, 0)}
    assert {
        "message",
        "message_vector",
        "memory_vector",
        "change",
        "evidence",
        "receipt",
        "receipt_trace",
        "model_call",
        "tick",
    } <= grown
    assert sum(sizes[-1].parts.values()) == sizes[-1].bytes


@pytest.mark.slow
async def test_disk_space_per_message_stays_under_its_target() -> None:
    """With a model, all in; measured in `oldfriend bench` over months."""
    whole, _ = await measure_disk_space(SCOPE)

    assert whole.value is not None
    assert 1_000 < whole.value < MOST_BYTES
    assert whole.reached
