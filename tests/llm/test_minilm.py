"""The embedder that ships with Oldfriend: right, repeatable, and clear when it cannot work."""

import asyncio
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.llm.adapters.minilm import BUNDLED_FOLDER, MiniLM

ORIGINAL = [
    json.loads(line)
    for line in Path(__file__)
    .parents[1]
    .joinpath("data/minilm.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


@pytest.fixture(scope="module")
def embedder():
    return MiniLM()


async def test_the_vectors_are_those_of_the_original_model(embedder):
    """Eight bits instead of thirty-two must not move what is close to what."""
    vectors = await embedder.embed([row["text"] for row in ORIGINAL])

    cosines = (vectors * np.array([row["vector"] for row in ORIGINAL])).sum(axis=1)
    assert cosines.mean() >= 0.985
    assert cosines.min() >= 0.96


async def test_embeddings_are_ordered_and_normalized(embedder):
    """Rows stay in the order of the texts, although texts of like length run together."""
    texts = ["a " * (7 * n % 50) + "boat" for n in range(60)]

    vectors = await embedder.embed(texts)

    assert vectors.shape == (60, embedder.dimension)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.allclose(vectors[33], (await embedder.embed([texts[33]]))[0], atol=1e-3)


async def test_embedding_is_independent_of_the_batch(embedder):
    """An import that was interrupted and resumed finds the same as one that was not."""
    company = [row["text"] for row in ORIGINAL]

    together = await embedder.embed(company)

    for text, vector in zip(company, together, strict=True):
        assert (await embedder.embed([text]))[0] @ vector > 0.9999


async def test_no_texts_give_an_empty_array(embedder):
    """Nothing to embed is not an error."""
    assert (await embedder.embed([])).shape == (0, embedder.dimension)


@pytest.mark.parametrize("text", ["", " \n", "\x00", "\ud800", "\ud83d lone", "word " * 200_000])
async def test_any_string_has_a_vector(embedder, text):
    """Nobody's message can stop the others from being embedded."""
    [vector] = await embedder.embed([text])

    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


async def test_similar_meaning_has_a_higher_cosine(embedder):
    """That is what vectors are for."""
    question, answer, other = await embedder.embed(
        ["What is my cat called?", "Our kitten's name is Luna.", "The train to Porto was late."]
    )

    assert question @ answer > question @ other + 0.2


async def test_concurrent_first_calls_share_one_model():
    """Two people who speak at once must not load it twice, nor disturb each other."""
    embedder = MiniLM()

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(embedder.embed(["hello there"])) for _ in range(8)]

    assert all(np.array_equal(task.result(), tasks[0].result()) for task in tasks)


@pytest.mark.parametrize("name", ["model.onnx", "vocab.txt", "words.npy", "SHA256SUMS"])
async def test_a_missing_file_is_named(tmp_path, name):
    """A broken installation must be recognised from the message."""
    folder = shutil.copytree(BUNDLED_FOLDER, tmp_path / "model")
    (folder / name).unlink()

    with pytest.raises(EmbeddingFailed, match=name):
        await MiniLM(folder).embed(["hello"])


async def test_damaged_model_file_raises_an_error(tmp_path):
    """A flipped bit would give vectors that are wrong without looking wrong."""
    folder = shutil.copytree(BUNDLED_FOLDER, tmp_path / "model")
    graph = bytearray((folder / "model.onnx").read_bytes())
    graph[10_000_000] ^= 1
    (folder / "model.onnx").write_bytes(graph)

    with pytest.raises(EmbeddingFailed, match=r"model\.onnx is damaged"):
        await MiniLM(folder).embed(["hello"])


def test_onnx_runtime_is_imported_lazily():
    """A command that never embeds must not pay for it."""
    code = "import sys, oldfriend.llm.adapters.minilm as m; m.MiniLM(); print(*sys.modules)"

    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout

    assert b"onnxruntime" not in modules


def test_onnx_runtime_telemetry_writes_no_files(tmp_path: Path) -> None:
    """ONNX Runtime keeps events in the home folder and sends them, unless it is told not to."""
    code = """
import asyncio
from oldfriend.llm.adapters.minilm import MiniLM
asyncio.run(MiniLM().embed(["hello"]))
"""
    subprocess.run([sys.executable, "-c", code], check=True, env={"HOME": str(tmp_path)})

    assert list(tmp_path.rglob("*")) == []
