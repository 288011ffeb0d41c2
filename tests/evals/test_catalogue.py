"""What is chosen is measured, whatever becomes of it."""

import asyncio

import pytest

from oldfriend.domain.errors import InvalidInput
from oldfriend_evals import catalogue
from oldfriend_evals.bench_measures import Measure, Scope
from oldfriend_evals.catalogue import MEASUREMENTS, OLD_NAMES, list_chosen, measure_in_process


def test_all_measurements_run_unless_some_are_chosen():
    assert list_chosen(None) == list(MEASUREMENTS)
    assert list_chosen(["say", "recall"]) == ["recall", "say"]


def test_measurement_is_still_chosen_by_its_name_of_before():
    assert list_chosen(["claiming", "narrow"]) == ["quantization", "queue claims"]
    assert all(name in MEASUREMENTS for name in OLD_NAMES.values())


def test_unknown_measurement_name_is_refused_listing_the_known_ones():
    with pytest.raises(InvalidInput, match=r"'speed'.*recall"):
        list_chosen(["speed"])


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

    assert catalogue.take_measurement("slow", scope)[0].note == "failed: it took too long"


@pytest.mark.slow
def test_missing_prerequisite_is_named_instead_of_a_value():
    scope = Scope(quick=True, locomo=None, float_model=None)

    measures = measure_in_process("embedding", scope)

    assert [measure.value for measure in measures] == [None, None]
    assert "OLDFRIEND_BENCH_FLOAT_MODEL" in measures[0].note
