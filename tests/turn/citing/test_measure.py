"""How often the sources of a reply are told right, over 150 replies in five languages."""

from tests.turn.citing.measure import precision, recall, replies_traced


def test_cited_sources_reach_precision_and_recall_thresholds() -> None:
    """Of what is told as its reasons hardly anything is wrong, and little is missing."""
    told = [*replies_traced()]

    assert len(told) >= 150
    assert precision(told) >= 0.93
    assert recall(told) >= 0.80
