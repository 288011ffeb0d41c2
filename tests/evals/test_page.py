"""What is measured of the page is a real process, asked as a browser asks it, beside a bare one."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from typing_extensions import override

from oldfriend_evals.bench_measures import Scope
from oldfriend_evals.bench_server import Server, connect, fetch_status, serve
from oldfriend_evals.page_events import measure_first_word
from oldfriend_evals.page_lists import API, PATHS, compare_with_baseline, fetch, serve_both
from oldfriend_evals.page_loading import measure_page_loading
from oldfriend_evals.page_weight import measure_open
from oldfriend_evals.processes import ProcessFailed
from tests.journeys.browsers import NEEDS_CHROMIUM

Both = tuple[Server, Server, str]


@pytest.fixture
async def servers() -> AsyncIterator[Both]:
    """Ours and the bare one, with a short history."""
    async with serve_both(messages=75, beliefs=60) as found:
        yield found


@pytest.mark.slow
async def test_bare_server_answers_equal_the_api_answers(servers: Both) -> None:
    """To the letter, and each is measured beside the other; who shows no token learns nothing."""
    ours, bare, token = servers
    async with AsyncExitStack() as stack:
        to_ours = await stack.enter_async_context(connect(ours, token))
        to_bare = await stack.enter_async_context(connect(bare))
        stranger = await stack.enter_async_context(connect(ours))
        answers = [(await fetch(to_ours, API + path), await fetch(to_bare, path)) for path in PATHS]
        with pytest.raises(ProcessFailed, match="401"):
            await fetch(stranger, f"{API}/memories")
    measured = await compare_with_baseline("beliefs", "/memories", (ours, bare), token, 1)

    assert all(one == other for one, other in answers)
    assert all(b'"items":[{' in one for one, _ in answers)
    assert measured.value is not None
    assert measured.reference is not None
    assert measured.value > measured.reference > 0


@pytest.mark.slow
async def test_open_pages_are_measured_once_all_of_them_listen() -> None:
    """More of them than one person may have open."""
    measured = await measure_open("pages", 35)

    assert measured.value is not None
    assert 0 <= measured.value < 35
    assert measured.target is not None


@pytest.mark.slow
async def test_first_word_latency_is_measured_beside_the_bare_server() -> None:
    """Ours and the bare handler's, in one run; each page of the one who asked."""
    measured = await measure_first_word(rounds=1)

    assert measured.value is not None
    assert measured.reference is not None
    assert min(measured.value, measured.reference) > 0


class Hurried(asyncio.SelectorEventLoop):
    """A loop whose clock can be put forward."""

    passed_s = 0.0

    @override
    def time(self) -> float:
        """What its clock says."""
        return super().time() + self.passed_s


@pytest.mark.slow
def test_long_measurement_is_not_cut_off_by_the_start_timeout(tmp_path: Path) -> None:
    """Only a start that hangs is given up, not whoever scrolls for minutes afterwards."""
    with asyncio.Runner(loop_factory=Hurried) as runner:
        loop = runner.get_loop()
        assert isinstance(loop, Hurried)

        async def measure_for_an_hour() -> int:
            async with serve(tmp_path) as server:
                loop.passed_s += 3600
                await asyncio.sleep(0.01)
                return await fetch_status(server, "/ready")

        assert runner.run(measure_for_an_hour()) == 200


@NEEDS_CHROMIUM
@pytest.mark.slow
async def test_cold_load_is_measured_beside_a_static_page_of_as_many_bytes() -> None:
    """In a browser that has nothing of either."""
    (measured,) = await measure_page_loading(Scope(quick=True, locomo=None, float_model=None))

    assert measured.value is not None
    assert measured.reference is not None
    assert measured.value > measured.reference > 0
