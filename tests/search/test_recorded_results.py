"""However it is worked out, the same is found as before."""

import json

import pytest

from tests.search.recorded import RECORDED, answers, conversations

CONVERSATIONS = {name: (index, asked) for name, index, asked in conversations()}


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_search_results_match_the_recorded_ones(name):
    """Whoever makes the search cheaper must not change what it finds, nor why."""
    recorded = json.loads(RECORDED.read_text("utf-8"))[name]

    for answer, before in zip(answers(*CONVERSATIONS[name]), recorded, strict=True):
        (surely, *hits), (surely_before, *hits_before) = answer, before
        assert surely == pytest.approx(surely_before, abs=1e-4)
        assert [(seq, why) for seq, _, why in hits] == [(seq, why) for seq, _, why in hits_before]
        assert [score for _, score, _ in hits] == pytest.approx(
            [score for _, score, _ in hits_before], abs=1e-4
        )
