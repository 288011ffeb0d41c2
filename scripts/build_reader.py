"""Build reader: writes the reader that ships with Oldfriend from its trained weights.

    python scripts/build_reader.py WEIGHTS

WEIGHTS (.npz) is what `python -m oldfriend_evals.reader.train` wrote. The network becomes one ONNX
graph in int8, as the embedding model does in `build_minilm.py`.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from build_minilm import Array, Network, _floats, _ids
from onnx import TensorProto, helper

from oldfriend_evals.checksums import write_checksums

TARGET = Path(__file__).parents[1] / "src/oldfriend/llm/local_reader"


class ReaderGraph(Network):
    """The encoder over two segments, with a logit for the pair and two for each token."""

    def __init__(self, weights: Mapping[str, Array], examples: Mapping[str, Array] | None) -> None:
        """Take the trained weights, by the names of the encoder and those of the heads."""
        super().__init__(weights, examples)
        self._trained = weights

    def model(self) -> onnx.ModelProto:
        """Put the network together."""
        hidden = self._embedded()
        mask = self._node("Cast", "attention_mask", to=TensorProto.INT32)
        for number in range(6):
            hidden = self._layer(f"encoder.layer.{number}.", hidden, mask)
        graph = helper.make_graph(
            nodes=self._nodes,
            name="oldfriend-reader",
            inputs=[
                *map(_ids, ("input_ids", "attention_mask", "segments")),
                *self._word_inputs(),
                *(
                    helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", "length"])
                    for name in ("asked", "outside")
                ),
            ],
            outputs=[_floats(self._logit(hidden)), _floats(self._span(hidden))],
            initializer=self._tensors,
        )
        return helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)],
            ir_version=9,
        )

    def _embedded(self) -> str:
        length = self._node("Shape", "input_ids", start=1, end=2)
        start = self._tensor(np.array([0]))
        positions = self._tensor(self._trained["embeddings.position_embeddings.weight"][:256])
        place = self._node("Slice", positions, start, length, start)
        table = self._tensor(self._trained["embeddings.token_type_embeddings.weight"])
        placed = self._node("Add", place, self._node("Gather", table, "segments"))
        return self._sum_normalised("embeddings.LayerNorm", self._word_vectors(), placed)

    def _logit(self, hidden: str) -> str:
        unit = self._node("LpNormalization", hidden, axis=-1, p=2)
        close = self._node("MatMul", unit, self._node("Transpose", unit, perm=[0, 2, 1]))
        outside = self._node("Unsqueeze", "outside", self._tensor(np.array([1])))
        inside = self._node("Add", close, outside)
        last = self._tensor(np.array([2]))
        best = self._node("ReduceMax", inside, last, keepdims=0)
        weighted = self._node("Mul", best, "asked")
        total = self._node("ReduceSum", weighted, self._tensor(np.array([1])), keepdims=0)
        gained = self._node("Mul", total, self._tensor(self._trained["gain"]))
        first = self._node("Gather", hidden, self._tensor(np.array(0)), axis=1)
        weight = self._tensor(self._trained["relevance.weight"][0])
        relevance = self._node("MatMul", first, weight)
        bias = self._tensor(self._trained["relevance.bias"])
        summed = self._node("Add", relevance, gained)
        return self._node("Add", summed, bias, outputs=["logit"])

    def _span(self, hidden: str) -> str:
        matrix = self._tensor(self._trained["span.weight"].T.copy())
        product = self._node("MatMul", hidden, matrix)
        biased = self._node("Add", product, self._tensor(self._trained["span.bias"]))
        outside = self._node("Unsqueeze", "outside", self._tensor(np.array([2])))
        return self._node("Add", biased, outside, outputs=["span"])


def calibrate(network: Network, examples: Mapping[str, Array]) -> dict[str, Array]:
    """Return what each matrix of a float graph reads over examples, a row for each token."""
    model = network.model()
    model.graph.output.extend(map(_floats, network.inputs.values()))
    session = onnxruntime.InferenceSession(model.SerializeToString())
    rows: dict[str, list[Array]] = {matrix: [] for matrix in network.inputs}
    feeds = [
        {name: values[number : number + 1, :length] for name, values in examples.items()}
        for number, length in enumerate(examples["attention_mask"].sum(axis=1))
    ]
    for feed in feeds:
        for matrix, value in zip(rows, session.run([*network.inputs.values()], feed), strict=True):
            rows[matrix].append(value[0])
    return {matrix: np.concatenate(values) for matrix, values in rows.items()}


def main() -> None:
    """Write the graph and its checksum."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("weights", type=Path)
    arguments.add_argument("--fp32", type=Path, help="also write the float graph, to compare with")
    chosen = arguments.parse_args()
    stored = dict(np.load(chosen.weights))
    examples = {name[8:]: value for name, value in stored.items() if name.startswith("example:")}
    weights = {name: value for name, value in stored.items() if not name.startswith("example:")}
    if chosen.fp32:
        onnx.save(ReaderGraph(weights, None).model(), chosen.fp32)
    TARGET.mkdir(exist_ok=True)
    onnx.save(
        ReaderGraph(weights, calibrate(ReaderGraph(weights, None), examples)).model(),
        TARGET / "reader.onnx",
    )
    write_checksums(TARGET, ["reader.onnx", "tagger.onnx"])


if __name__ == "__main__":
    main()
