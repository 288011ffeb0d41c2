"""The fact tagger that ships with Oldfriend marks what to remember, or says why it cannot."""

import shutil
from pathlib import Path

import pytest

from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.llm.adapters.local_networks import (
    MAX_WINDOWS,
    NETWORKS_FOLDER,
    LocalFactTagger,
    LocalReader,
)
from oldfriend.llm.reading import Passage

MIXED = "lol the bus was late again. my brother otis moved to cardiff in june. so tired"


def test_tagger_scores_the_fact_clause_highest() -> None:
    """Chatter beside it does not."""
    tagged = LocalFactTagger().tag(MIXED, "")

    best = max(tagged, key=lambda each: each.score)
    assert MIXED[best.start : best.end] == "my brother otis moved to cardiff in june."
    assert all(each.score < best.score / 2 for each in tagged if each is not best)


@pytest.mark.parametrize("text", ["", " ", "\udcff", "你好", "word " * 5_000, "\u200b" * 100_000])
def test_any_text_can_be_tagged(text: str) -> None:
    """Without a failure; clauses lie within it."""
    for each in LocalFactTagger().tag(text, text):
        assert 0 <= each.start < each.end <= len(text)
        assert 0 <= each.score <= 1


def test_tagger_reads_a_long_message_in_windows() -> None:
    """What stands at its end is found, too, unless it is very long."""
    text = "the rain went on and on. " * 60 + "my brother otis moved to cardiff in june."
    end = LocalFactTagger().tag(text, "")[-1]

    assert text[end.start : end.end].startswith("my brother")
    assert end.score > 0.3
    assert len(LocalFactTagger().tag("a b c d. " * 100_000, "")) < 100 * MAX_WINDOWS


def test_damaged_tagger_network_raises_an_error(tmp_path: Path) -> None:
    """By its checksum."""
    shutil.copytree(NETWORKS_FOLDER, tmp_path / "reader")
    with (tmp_path / "reader" / "tagger.onnx").open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"\0\1\2\3")
    with pytest.raises(EmbeddingFailed, match="damaged"):
        LocalFactTagger(tmp_path / "reader", threads=2).tag(MIXED, "")


async def test_reader_works_when_the_tagger_file_is_missing(tmp_path: Path) -> None:
    """Each checks its own file."""
    shutil.copytree(NETWORKS_FOLDER, tmp_path / "networks")
    (tmp_path / "networks" / "tagger.onnx").unlink()

    with pytest.raises(EmbeddingFailed):
        LocalFactTagger(tmp_path / "networks").tag(MIXED, "")
    reader = LocalReader(tmp_path / "networks")
    assert await reader.read("who moved", [Passage(text=MIXED, speaker="me")])
