"""What other accounts of the machine may change is said, with the command that mends it."""

import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from oldfriend.app import doctor_checks
from oldfriend.app.app_context import AppContext
from oldfriend.app.doctor_checks import check_permissions
from oldfriend.config.keys import get_keys_path
from oldfriend.config.settings import Settings
from oldfriend.runtime.health_checks import run_checks

NOBODY = 65_534


@pytest.fixture
def install(settings: Settings, settings_folder: Path, tmp_path: Path) -> Settings:
    """An install in a folder with a blank in its name, with settings and keys."""
    data = tmp_path / "the data"
    data.mkdir(mode=0o700)
    for file in ((data / "oldfriend.toml"), (data / "oldfriend.db"), get_keys_path(data)):
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file.touch(mode=0o600)
    return replace(settings, data=data, database=f"sqlite:///{data / 'oldfriend.db'}")


def paths_of(install: Settings) -> list[Path]:
    """What could be open."""
    keys = get_keys_path(install.data)
    return [install.data, install.file, install.data / "oldfriend.db", keys, keys.parent]


@pytest.mark.parametrize("which", range(5))
@pytest.mark.parametrize("bits", [0o002, 0o022, 0o1002])
def test_world_writable_file_is_reported_with_a_working_chmod_command(
    install: Settings, which: int, bits: int
) -> None:
    """The folder, the settings, the memory, the keys and their folder, each with its command."""
    assert check_permissions(install) == []
    path = paths_of(install)[which]
    path.chmod(path.stat().st_mode | bits)
    (found,) = check_permissions(install)

    assert not found.is_ok
    assert str(path) in found.text
    command = found.text.rpartition("To prevent that: ")[2]
    subprocess.run(shlex.split(command), check=True)
    assert check_permissions(install) == []


def test_group_writable_folder_is_reported_unless_the_group_is_private(
    install: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not where it is the owner's own, as many systems make one for each account."""
    install.data.chmod(0o770)
    monkeypatch.setattr(doctor_checks, "is_private_group", lambda group, owner: True)
    assert check_permissions(install) == []
    monkeypatch.undo()
    found = install.data.stat()
    assert not doctor_checks.is_private_group(NOBODY, found.st_uid)


async def test_doctor_reports_a_world_writable_data_folder(app: AppContext) -> None:
    """Beside all else."""
    app.settings.data.mkdir(mode=0o700, exist_ok=True, parents=True)
    app.settings.data.chmod(0o777)
    texts = [each.text for each in await run_checks(app) if not each.is_ok]

    assert any(f"chmod go-w {app.settings.data}" in text for text in texts)
