"""Which messages tell that something has changed or was wrong."""

import pytest

from oldfriend.lang.update_detection import compute_update_logit


@pytest.mark.parametrize(
    ("update", "chatter"),
    [
        ("turns out the vet is on thursday now, they moved it", "the vet has a nice garden"),
        ("scratch that, we are not flying anymore", "we saw a plane in the clouds"),
        (
            "nee doch nicht, der Termin ist jetzt am Montag, wurde verschoben",
            "Montag hat es geregnet, der Bus war voll.",
        ),
        ("al final no voy a Lisboa, lo he cancelado", "en Lisboa hay muchas cuestas"),
        ("finalement on ne part plus, tout est annulé", "il pleut sur le marché"),
        ("哦不对，是星期四，改了", "今天的汤很好喝"),
    ],
)
def test_an_update_reads_more_like_one_than_chatter(update: str, chatter: str) -> None:
    """In several languages, and whatever it is about."""
    assert compute_update_logit(update) > compute_update_logit(chatter) + 0.5


def test_an_empty_text_tells_no_update() -> None:
    """Nor does it fail."""
    assert compute_update_logit("") < 0
