"""Build tagger: writes the fact tagger that ships with Oldfriend from its trained weights.

    python scripts/build_tagger.py WEIGHTS

WEIGHTS (.npz) is what `python -m oldfriend_evals.reader.train_tagger` wrote. The network becomes
one ONNX graph in int8, as the embedding model does in `build_minilm.py`.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
from build_minilm import Array, _floats, _ids
from build_reader import TARGET, ReaderGraph, calibrate
from onnx import TensorProto, helper

from oldfriend_evals.checksums import write_checksums


class TaggerGraph(ReaderGraph):
    """The encoder over two segments, with heads for each token."""

    def model(self) -> onnx.ModelProto:
        """Put the network together."""
        hidden = self._embedded()
        mask = self._node("Cast", "attention_mask", to=TensorProto.INT32)
        for number in range(6):
            hidden = self._layer(f"encoder.layer.{number}.", hidden, mask)
        outputs = [
            self._node("Sigmoid", self._head(hidden, "clause"), outputs=["clause"]),
            self._node("Sigmoid", self._head(hidden, "value"), outputs=["value"]),
        ]
        graph = helper.make_graph(
            nodes=self._nodes,
            name="oldfriend-fact-tagger",
            inputs=[
                *map(_ids, ("input_ids", "attention_mask", "segments")),
                *self._word_inputs(),
            ],
            outputs=[_floats(each) for each in outputs],
            initializer=self._tensors,
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)],
            ir_version=9,
        )

    def _head(self, hidden: str, name: str) -> str:
        matrix = self._tensor(self._trained[f"{name}.weight"].T.copy())
        product = self._node("MatMul", hidden, matrix)
        return self._node("Add", product, self._tensor(self._trained[f"{name}.bias"]))


def main() -> None:
    """Write the graph and the checksums of its folder."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("weights", type=Path)
    arguments.add_argument("--fp32", type=Path, help="also write the float graph, to compare with")
    chosen = arguments.parse_args()
    stored: Mapping[str, Array] = dict(np.load(chosen.weights))
    examples = {name[8:]: value for name, value in stored.items() if name.startswith("example:")}
    weights = {name: value for name, value in stored.items() if not name.startswith("example:")}
    if chosen.fp32:
        onnx.save(TaggerGraph(weights, None).model(), chosen.fp32)
    inputs = calibrate(TaggerGraph(weights, None), examples)
    onnx.save(TaggerGraph(weights, inputs).model(), TARGET / "tagger.onnx")
    write_checksums(TARGET, ["reader.onnx", "tagger.onnx"])


if __name__ == "__main__":
    main()
