"""What ships with the package is read only as it was shipped."""

from importlib.resources import files
from pathlib import Path

import pytest

from oldfriend.domain.bundled_files import CHECKSUMS_FILE, read_bundled_file
from oldfriend.domain.errors import InstallationDamaged
from oldfriend.lang.glossing import FOLDER as GLOSSARIES
from oldfriend.lang.message_acts import WEIGHTS_FILE as ACTS_FILE
from oldfriend.search.fusion import WEIGHTS_FILE as SEARCH_FILE
from oldfriend.search.spelling import LANGUAGES, get_lexicon_path
from oldfriend_evals.checksums import write_checksums

PACKAGE = Path(str(files("oldfriend")))
LEARNED = (".npz", ".npy", ".onnx", ".gz")
"""What the names of networks and weights end with; besides them, search has a JSON file."""


def learned_files() -> list[Path]:
    """All networks and weights of the package."""
    found = [path for path in PACKAGE.rglob("*") if path.suffix in LEARNED]
    return sorted([*found, SEARCH_FILE])


def shipped_beside(path: Path, name: str) -> str:
    """The text of a file in the folder of a network."""
    file = path.parent / name
    return file.read_text("utf-8") if file.is_file() else ""


def test_every_weight_file_is_listed_in_a_notice():
    """In the notice of its folder, by its name: nobody may ship what nobody may use."""
    found = learned_files()

    lexica = map(get_lexicon_path, LANGUAGES)
    assert {ACTS_FILE, SEARCH_FILE, *lexica, GLOSSARIES / "es.tsv.gz"} < set(found)
    assert [path for path in found if path.name not in shipped_beside(path, "NOTICE")] == []


def test_every_network_and_weight_file_has_a_checksum():
    """What is damaged would be wrong without looking wrong."""
    listed = {path: shipped_beside(path, CHECKSUMS_FILE).split() for path in learned_files()}

    assert [path for path, names in listed.items() if path.name not in names] == []


@pytest.mark.parametrize("path", [ACTS_FILE, SEARCH_FILE, get_lexicon_path("en")])
def test_shipped_weight_file_passes_its_checksum(path):
    assert read_bundled_file(path) == path.read_bytes()


def test_damaged_or_missing_bundled_file_raises_an_error(tmp_path):
    """Nor one that is missing, and each is named."""
    file = tmp_path / "weights.npz"
    file.write_bytes(b"as it was shipped")
    write_checksums(tmp_path, [file.name])
    file.write_bytes(b"as it was shippee")

    with pytest.raises(InstallationDamaged, match=r"weights\.npz is damaged"):
        read_bundled_file(file)
    with pytest.raises(InstallationDamaged, match=r"other\.npz"):
        read_bundled_file(tmp_path / "other.npz")
