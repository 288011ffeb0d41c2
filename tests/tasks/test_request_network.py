"""The request networks: a second view of what a message asks for."""

import subprocess
import sys

import numpy as np
import pytest

from oldfriend.tasks.request_features import list_tokens
from oldfriend.tasks.request_network import WEIGHTS_FILE, load_networks, score_message
from oldfriend.tasks.request_tagger import KINDS, LABELS, load_weights, mix
from tests.tasks.test_time_phrases import read

MAX_BYTES = 3_000_000
WORDS_OF_A_LONG_MESSAGE = 60
MAX_SHARE_OF_OTHERS = 0.5
"""Of the time of the thread that reads; with several threads the others take far more than it."""
MEASURE_OTHER_THREADS = f"""
import time
from oldfriend.tasks.request_features import list_tokens
from oldfriend.tasks.request_network import score_message
tokens = list_tokens("word " * {WORDS_OF_A_LONG_MESSAGE}, [], [])
score_message(tokens)
whole, own = time.process_time(), time.thread_time()
for _ in range(50):
    score_message(tokens)
own = time.thread_time() - own
print((time.process_time() - whole - own) / own)
"""


def test_scores_are_logarithms_of_shares_for_each_token_and_the_message() -> None:
    """A token alone is scored, too: the convolutions reach beyond both ends."""
    for text in ("milk", "wake me at six, the bread waits"):
        tokens = list_tokens(text, [], [])
        labels, kinds = score_message(tokens)
        assert labels.shape == (len(tokens), len(LABELS))
        assert kinds.shape == (len(KINDS),)
        assert (labels <= 0).all()
        assert (kinds <= 0).all()


def test_where_two_views_disagree_neither_is_sure() -> None:
    """What one is sure of and the other doubts is less likely than the first alone says."""
    sure, doubtful = np.log([0.98, 0.02]), np.log([0.3, 0.7])
    mixed = mix(sure, doubtful, 0.5)
    assert doubtful[0] < np.log(mixed[0]) < sure[0]
    assert mixed.sum() == pytest.approx(1)


def test_messages_are_scored_in_one_thread() -> None:
    """Without any setting of the process: the library's other threads wait in a busy loop."""
    ran = subprocess.run(
        [sys.executable, "-c", MEASURE_OTHER_THREADS],
        env={},
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(ran.stdout) < MAX_SHARE_OF_OTHERS


def test_weights_are_small_and_load_once() -> None:
    """They wait for the first message, and stay."""
    assert WEIGHTS_FILE.stat().st_size < MAX_BYTES
    assert load_networks() is load_networks()
    assert load_weights() is load_weights()


@pytest.mark.parametrize(
    ("language", "text", "when"),
    [
        ("en", "every year on nov 30 get on me about the DOT physical", "FREQ=YEARLY"),
        ("es", "entrega a las 7 de la tarde en el centro, me pita media hora antes", "18:30"),
    ],
)
def test_request_without_a_usual_word_is_read(language: str, text: str, when: str) -> None:
    """The linear weights alone took both for talk."""
    found = read(language, text)
    assert when in found[0]
