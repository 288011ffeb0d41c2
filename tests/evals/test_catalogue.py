"""What is chosen is measured, whatever becomes of it."""

import asyncio

import pytest

from oldfriend.domain.errors import InvalidInput
from oldfriend_evals import catalogue
from oldfriend_evals.catalogue import MEASUREMENTS, chosen, measured_apart
from oldfriend_evals.measuring import Measure, Scope


def test_everything_is_measured_unless_something_is_chosen():
    assert chosen(None) == list(MEASUREMENTS)
    assert chosen(["say", "recall"]) == ["recall", "say"]


def test_an_unknown_name_is_refused_with_those_that_are_known():
    with pytest.raises(InvalidInput, match=r"'speed'.*recall"):
        chosen(["speed"])


def test_what_takes_too_long_is_said_and_the_others_are_measured(
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
def test_what_is_missing_is_said_in_place_of_a_number():
    scope = Scope(quick=True, locomo=None, float_model=None)

    measures = measured_apart("embedding", scope)

    assert [measure.value for measure in measures] == [None, None]
    assert "OLDFRIEND_BENCH_FLOAT_MODEL" in measures[0].note
