"""What is chosen is measured, whatever becomes of it."""

import asyncio

import pytest

from oldfriend.domain.errors import InvalidInput
from oldfriend_evals import catalogue
from oldfriend_evals.catalogue import MEASUREMENTS, chosen, measured_apart
from oldfriend_evals.measuring import Measure, Scope


def test_all_measurements_run_unless_some_are_chosen():
    assert chosen(None) == list(MEASUREMENTS)
    assert chosen(["say", "recall"]) == ["recall", "say"]


def test_unknown_measurement_name_is_refused_listing_the_known_ones():
    with pytest.raises(InvalidInput, match=r"'speed'.*recall"):
        chosen(["speed"])


def test_measurement_timeout_is_reported_as_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A machine that has too much to do costs one number, not all of them."""

    async def never(_: Scope) -> list[Measure]:
        async with asyncio.timeout(0):
            await asyncio.sleep(1)
        return []

    monkeypatch.setattr(catalogue, "MEASUREMENTS", {"slow": never})
    scope = Scope(quick=True, locomo=None, float_model=None)

    assert catalogue.measure("slow", scope)[0].note == "failed: it took too long"


@pytest.mark.slow
def test_missing_prerequisite_is_named_instead_of_a_value():
    scope = Scope(quick=True, locomo=None, float_model=None)

    measures = measured_apart("embedding", scope)

    assert [measure.value for measure in measures] == [None, None]
    assert "OLDFRIEND_BENCH_FLOAT_MODEL" in measures[0].note
