"""Finding is measured with the weights that ship where nothing may be learned."""

import gzip
import json

import numpy as np

from oldfriend_evals.retrieval_quality import measure_locomo


def embed(texts):
    """The same vector for each text: words alone decide."""
    return np.full((len(texts), 384), 384**-0.5, np.float32)


def conversation(number):
    """A conversation in LoCoMo's format, in which each line answers one question."""
    names = ["kayak", "violin", "cactus", "lantern"]
    return {
        "id": f"conv-{number}",
        "turns": [
            (f"D1:{at}", "1", "Mia", f"2023-05-0{at + 1}T10:00", f"I bought a {name} today")
            for at, name in enumerate(names)
        ],
        "questions": [
            {"question": f"When did Mia buy the {name}?", "evidence": [f"D1:{at}"], "category": 2}
            for at, name in enumerate(names)
        ],
    }


def test_locomo_is_measured_with_the_shipped_weights(tmp_path):
    """One conversation would not do to learn from the others."""
    file = tmp_path / "locomo.json.gz"
    file.write_bytes(gzip.compress(json.dumps({"conversations": [conversation(1)]}).encode()))

    measures = {each.name: each for each in measure_locomo(file, embed)}

    assert measures["LoCoMo r@1"].value == 100
    assert "not learned from it" in measures["LoCoMo r@10"].note


def test_missing_locomo_file_is_reported_as_not_measured(tmp_path):
    """As a line of the table."""
    (missing,) = measure_locomo(tmp_path / "nowhere.json.gz", embed)

    assert missing.value is None
