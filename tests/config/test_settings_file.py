"""A choice is written beside what stands in the file, and nothing else of it changes."""

import stat
from pathlib import Path

import pytest

from oldfriend.config.settings import load_settings
from oldfriend.config.settings_file import update_settings_file
from oldfriend.domain.errors import InvalidInput

MINE = """\
# Written by hand.
[limits]  # how much
lease_s = 20 # shorter than usual

[providers.mine]
base_url = "http://10.0.0.7/v1"
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with settings that somebody wrote."""
    file = tmp_path / "oldfriend.toml"
    file.write_text(MINE, encoding="utf-8")
    return file


def test_update_keeps_existing_settings_and_comments(path: Path) -> None:
    """And what is written can be read."""
    update_settings_file(
        path,
        {
            "models.main": ["mine:llama"],
            "providers.mine.kind": "openai",
            "providers.other.base_url": "http://10.0.0.8/v1",
            "embedder.dimension": 7,
            "embedder.model": "mine:embed",
            "models.small": None,
        },
    )
    settings = load_settings({}, data=str(path.parent))

    text = path.read_text(encoding="utf-8")
    assert all(line in text for line in MINE.splitlines())
    assert settings.models.main == ("mine:llama",)
    assert settings.providers["mine"].kind == "openai"
    assert settings.providers["other"].base_url == "http://10.0.0.8/v1"
    assert settings.embedder.dimension == 7
    assert settings.limits.lease_s == 20


def test_adding_and_removing_settings_restores_the_file(path: Path) -> None:
    """An empty section goes with its last key."""
    chosen = {"models.main": ["a:b"], "embedder.model": "a:b", "embedder.dimension": 4}
    update_settings_file(path, chosen)
    update_settings_file(path, dict.fromkeys(chosen))

    assert path.read_text(encoding="utf-8").strip() == MINE.strip()


def test_missing_settings_file_is_created_with_its_folder(tmp_path: Path) -> None:
    """With its folder, and a word on what does not belong there."""
    path = tmp_path / "new" / "oldfriend.toml"
    update_settings_file(path, {"models.main": ["a:b"]})

    assert "Do not put keys here" in path.read_text(encoding="utf-8")
    assert load_settings({}, data=str(path.parent)).models.main == ("a:b",)
    assert [each.name for each in path.parent.iterdir()] == ["oldfriend.toml"]


def test_update_keeps_private_file_permissions(path: Path) -> None:
    """Whoever shut it had a reason."""
    path.chmod(0o600)
    update_settings_file(path, {"models.main": ["a:b"]})

    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("text", ["[models\n", "models = 3\n"])
def test_unparseable_settings_file_is_not_changed(path: Path, text: str) -> None:
    """It is said what is wrong with it."""
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput, match="oldfriend.toml"):
        update_settings_file(path, {"models.main": ["a:b"]})

    assert path.read_text(encoding="utf-8") == text
