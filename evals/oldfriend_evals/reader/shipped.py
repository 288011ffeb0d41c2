"""Weights of a network that ships: its int8 graph read back as floats, to learn on from them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper

from oldfriend_evals.reader.network import LAYERS, WIDTH

MAX_POSITIONS: Final = 512
"""Positions of the published encoder."""

Floats: TypeAlias = npt.NDArray[np.float32]
Tensors: TypeAlias = Mapping[str, npt.NDArray[np.float32]]


def load_shipped_weights(file: Path) -> dict[str, Floats]:
    """Return the matrices, biases and norms of a graph that ``scripts/build_tagger.py`` wrote.

    By their published names; the word table is in a file of its own. Positions beyond those that
    ship are 0.
    """
    graph = onnx.load(file).graph
    tensors = {each.name: numpy_helper.to_array(each) for each in graph.initializer}
    made = {name: node for node in graph.node for name in node.output}
    linears = iter(_list_linears(graph, tensors, made))
    norms = iter([node for node in graph.node if node.op_type == "LayerNormalization"])
    weights: dict[str, Floats] = {}

    def add_norm(name: str) -> None:
        node = next(norms)
        weights[f"{name}.weight"], weights[f"{name}.bias"] = (tensors[n] for n in node.input[1:3])

    def add_linear(*names: str) -> None:
        matrix, bias = next(linears)
        rows = np.split(matrix, len(names), axis=1)
        for name, part, shift in zip(names, rows, np.split(bias, len(names)), strict=True):
            weights[f"{name}.weight"], weights[f"{name}.bias"] = part.T.copy(), shift

    add_norm("embeddings.LayerNorm")
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}."
        add_linear(*(f"{layer}attention.self.{part}" for part in ("query", "key", "value")))
        add_linear(f"{layer}attention.output.dense")
        add_norm(f"{layer}attention.output.LayerNorm")
        add_linear(f"{layer}intermediate.dense")
        add_linear(f"{layer}output.dense")
        add_norm(f"{layer}output.LayerNorm")
    return weights | _load_embeddings(graph, tensors) | _load_heads(tensors, made)


def _load_heads(tensors: Tensors, made: Mapping[str, onnx.NodeProto]) -> dict[str, Floats]:
    """Return the weights of the two heads, each a product and a sum before its output."""
    weights: dict[str, Floats] = {}
    for head in ("clause", "value"):
        summed = made[made[head].input[0]]
        product = made[summed.input[0]]
        weights[f"{head}.weight"] = tensors[product.input[1]].T.copy()
        weights[f"{head}.bias"] = tensors[summed.input[1]]
    return weights


def _load_embeddings(graph: onnx.GraphProto, tensors: Tensors) -> dict[str, Floats]:
    """Return the vectors of positions and segments."""
    sliced = next(node for node in graph.node if node.op_type == "Slice")
    gathered = next(node for node in graph.node if node.op_type == "Gather")
    positions = np.zeros((MAX_POSITIONS, WIDTH), np.float32)
    positions[: len(tensors[sliced.input[0]])] = tensors[sliced.input[0]]
    return {
        "embeddings.position_embeddings.weight": positions,
        "embeddings.token_type_embeddings.weight": tensors[gathered.input[0]],
    }


def _list_linears(
    graph: onnx.GraphProto,
    tensors: Tensors,
    made: Mapping[str, onnx.NodeProto],
) -> Iterator[tuple[Floats, Floats]]:
    """Yield matrix (input × output) and bias of each multiplication in bytes, in order."""
    for node in graph.node:
        if node.op_type == "MatMulIntegerToFloat":
            even = made[made[node.input[0]].input[0]].input[1]
            whole, scale = tensors[node.input[1]].astype(np.float32), tensors[node.input[3]]
            yield tensors[even][:, None] * whole * scale, tensors[node.input[6]].astype(np.float32)
