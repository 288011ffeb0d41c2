"""What the grader of replies lets pass is known, and does not grow."""

from oldfriend_evals.bench_measures import Scope
from oldfriend_evals.grader_check import measure_grader


async def test_grader_passes_few_wrong_replies() -> None:
    """As first measured on replies that nobody had tuned to; a better grader lets fewer pass."""
    wrong, strict, right = await measure_grader(Scope(quick=True, locomo=None, float_model=None))

    assert wrong.value is not None and wrong.value <= 30
    assert strict.value is not None and strict.value <= 11
    assert right.value is not None and right.value >= 40
