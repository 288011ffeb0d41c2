"""The reader that ships with Oldfriend finds the words that answer, or says why it cannot."""

import shutil
from pathlib import Path

import pytest

from oldfriend.domain.errors import EmbeddingFailed
from oldfriend.llm.adapters.local_networks import NETWORKS_FOLDER, LocalReader
from oldfriend.llm.reading import OWN_SPEAKER, Passage

CAT = Passage(text="got a cat btw, shes called miso and hates rain", speaker=OWN_SPEAKER)
JOB = Passage(text="started at the bakery on mill lane last week, up at 4 every day", speaker="me")
NOTHING = Passage(text="lol no way", speaker=OWN_SPEAKER)


async def test_reader_ranks_the_answering_passage_first_and_finds_its_span() -> None:
    """Whatever the order in which they are given."""
    readings = await LocalReader().read("what is my cat called", [NOTHING, JOB, CAT])

    assert max(readings, key=lambda each: each.logit) is readings[2]
    assert "miso" in CAT.text[readings[2].start : readings[2].end]


async def test_reader_result_is_independent_of_batching() -> None:
    """Padding is not read."""
    alone = (await LocalReader().read("where do i work", [JOB]))[0]
    beside = (await LocalReader().read("where do i work", [CAT, JOB, NOTHING]))[1]

    assert beside.logit == pytest.approx(alone.logit, abs=1e-3)
    assert (beside.start, beside.end) == (alone.start, alone.end)


@pytest.mark.parametrize("text", ["", " ", "\udcff", "你好", "word " * 5_000, "\u200b" * 1_000_000])
async def test_reader_accepts_any_text(text: str) -> None:
    """Without a failure; the words lie within it."""
    reading = (await LocalReader().read(text, [Passage(text=text, speaker="me", before=text)]))[0]

    assert 0 <= reading.start <= reading.end <= len(text)


async def test_reader_without_passages_does_not_load_the_network() -> None:
    """Nor loaded."""
    assert await LocalReader(Path("nowhere")).read("where do i work", []) == []


async def test_damaged_reader_network_raises_an_error(tmp_path: Path) -> None:
    """By its checksum."""
    shutil.copytree(NETWORKS_FOLDER, tmp_path / "reader")
    with (tmp_path / "reader" / "reader.onnx").open("r+b") as file:
        file.seek(1_000_000)
        file.write(b"\0\1\2\3")
    with pytest.raises(EmbeddingFailed, match="damaged"):
        await LocalReader(tmp_path / "reader").read("where do i work", [JOB])
