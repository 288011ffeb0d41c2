"""What was learned fits the code that uses it."""

import json

import numpy as np

from oldfriend.search.features import compute_features
from oldfriend.search.fusion import (
    ANSWERABILITY_FEATURES,
    WEIGHTS_FILE,
    FusionModel,
    FusionNet,
    load_weights,
)
from oldfriend.search.message_search import CHAT_TYPES, compute_chat_types, prepare_ranking
from tests.search.conversation import asking, index_of


def test_fusion_weights_file_matches_the_feature_names_and_shapes():
    """Whoever changes a feature learns anew: `scripts/learn_fusion.py`."""
    evidence = prepare_ranking(index_of(), asking("What is the boat's name?"))
    assert evidence is not None
    names, table = compute_features(evidence)
    chat = compute_chat_types(evidence)

    learned = load_weights()
    assert learned.feature_names == names
    assert learned.fusion.weights.shape == (len(CHAT_TYPES), table.shape[1])
    assert len(learned.answerability_weights) == len(ANSWERABILITY_FEATURES)
    assert learned.fusion.score(table, chat).shape == (len(table),)
    assert (learned.fusion.std > 0).all()


def test_fusion_weights_file_names_only_permitted_training_data():
    """A licence that forbids commercial use would bind whoever runs this; decision 0026."""
    about = json.loads(WEIGHTS_FILE.read_text("utf-8"))["about"]

    assert "written for Oldfriend" in about
    assert "LoCoMo" not in about
    assert "NC" not in about


def test_chat_type_features_are_computed_from_the_history():
    """No setting says it."""
    told = []
    for role in ("other", "companion"):
        evidence = prepare_ranking(index_of(role=role), asking("boat"))
        assert evidence is not None
        told.append(compute_chat_types(evidence).tolist())

    friends, companion = told
    assert friends[:4] == [1, 0, 1, 0]  # a companion speaks in one of them, vectors in neither
    assert companion[:4] == [1, 1, 1, 0]
    assert 0 < friends[4] <= 1


def test_fusion_score_is_the_linear_part_plus_the_net_outputs():
    """Each part by itself."""
    features, chat = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32), np.array([1, 0.5], np.float32)
    net = FusionNet(
        hidden_weights=np.array([[1.0], [0.0], [2.0]], np.float32),
        hidden_bias=np.array([-1.0], np.float32),
        output_weights=np.array([10.0], np.float32),
    )
    fusion = FusionModel(
        weights=np.array([[1.0, 0.0], [0.0, 2.0]], np.float32),
        mean=np.zeros(2, np.float32),
        std=np.ones(2, np.float32),
        nets=(net,),
    )

    assert fusion.score(features, chat).tolist() == [1 + 2 + 10, 3 + 4 + 30]
