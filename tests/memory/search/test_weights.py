"""What was learned fits the code that uses it."""

from oldfriend.memory.search.features import features_of
from oldfriend.memory.search.finding import gather
from oldfriend.memory.search.judgement import JUDGED_BY
from oldfriend.memory.search.weights import learned_weights
from tests.memory.search.conversation import asking, index_of


def test_the_learned_file_knows_the_same_features_in_the_same_order():
    """Whoever changes a feature learns anew: `scripts/learn_fusion.py`."""
    evidence = gather(index_of(), asking("What is the boat's name?"))
    assert evidence is not None
    names, table = features_of(evidence)

    assert learned_weights().features == names
    assert table.shape[1] == len(names)
    assert len(learned_weights().judgement) == len(JUDGED_BY)
