"""What was learned fits the code that uses it."""

import numpy as np

from oldfriend.memory.search.chats import CHAT_KINDS, kind_of_chat
from oldfriend.memory.search.features import features_of
from oldfriend.memory.search.finding import gather
from oldfriend.memory.search.judgement import JUDGED_BY
from oldfriend.memory.search.weights import Fusion, Net, learned_weights
from tests.memory.search.conversation import asking, index_of


def test_the_learned_file_knows_the_same_features_in_the_same_order():
    """Whoever changes a feature learns anew: `scripts/learn_fusion.py`."""
    evidence = gather(index_of(), asking("What is the boat's name?"))
    assert evidence is not None
    names, table = features_of(evidence)
    chat = kind_of_chat(evidence)

    learned = learned_weights()
    assert learned.features == names
    assert learned.fusion.weights.shape == (len(CHAT_KINDS), table.shape[1])
    assert len(learned.judgement) == len(JUDGED_BY)
    assert learned.fusion.score(table, chat).shape == (len(table),)


def test_the_kind_of_chat_is_told_from_the_history():
    """No setting says it."""
    told = []
    for role in ("other", "companion"):
        evidence = gather(index_of(role=role), asking("boat"))
        assert evidence is not None
        told.append(kind_of_chat(evidence).tolist())

    friends, companion = told
    assert friends[:4] == [1, 0, 1, 0]  # a companion speaks in one of them, vectors in neither
    assert companion[:4] == [1, 1, 1, 0]
    assert 0 < friends[4] <= 1


def test_a_score_is_the_sum_for_the_kind_of_chat_and_what_the_nets_add():
    """Each part by itself."""
    features, chat = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), np.array([1, 0.5], np.float32)
    net = Net(
        inward=np.array([[1.0], [0.0], [2.0]], np.float32),
        shift=np.array([-1.0], np.float32),
        outward=np.array([10.0], np.float32),
    )
    fusion = Fusion(
        weights=np.array([[1.0, 0.0], [0.0, 2.0]], np.float32),
        mean=np.zeros(2, np.float32),
        spread=np.ones(2, np.float32),
        nets=(net,),
    )

    assert fusion.score(features, chat).tolist() == [1 + 2 + 10, 3 + 4 + 30]
