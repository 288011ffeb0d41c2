"""Whoever installs the built wheel has the command and the library, without this checkout."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import SIZE

ROOT = Path(__file__).parents[1]
LIBRARY = """
from oldfriend import Memory
with Memory.open("sqlite:///memory.db", person="Nora") as memory:
    memory.add("My cat is called Miso.")
    print(memory.recall("cat")[0].text)
"""
UV = shutil.which("uv") or next(
    (str(each) for each in [ROOT / ".uv/bin/uv"] if each.exists()), None
)


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command; return what it prints."""
    ended = subprocess.run(
        command, cwd=cwd, capture_output=True, text=True, timeout=280, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def list_pythons() -> list[str]:
    """List this Python, and at full size the others here that the package is for."""
    if SIZE != "full":
        return [sys.executable]
    others = Path("~/.pyenv/versions").expanduser().glob("3.1[1-4].*/bin/python")
    minors = {each.parts[-3].rsplit(".", 1)[0]: str(each) for each in sorted(others)}
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    return [sys.executable, *(path for minor, path in sorted(minors.items()) if minor != own)]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from this checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    assert UV is not None
    run(UV, "build", "-q", "--wheel", "-o", folder, ROOT, cwd=folder)
    return next(folder.glob("oldfriend-*.whl"))


@pytest.mark.slow
@pytest.mark.skipif(UV is None, reason="uv builds it")
@pytest.mark.parametrize("python", list_pythons())
def test_installed_wheel_answers_and_remembers(wheel: Path, tmp_path: Path, python: str) -> None:
    """The command, the library, and the marker of its types; nothing comes from the checkout."""
    assert UV is not None
    own = tmp_path / "own"
    run(UV, "venv", "-q", "--python", python, own, cwd=tmp_path)
    run(UV, "pip", "install", "-q", "--python", own / "bin/python", wheel, cwd=tmp_path)

    data = tmp_path / "data"
    said = run(own / "bin/oldfriend", "--data", data, "say", "Hello!", cwd=tmp_path)
    where = run(
        own / "bin/python", "-c", "import oldfriend; print(oldfriend.__file__)", cwd=tmp_path
    )

    assert said.strip()
    assert Path(where.strip()).is_relative_to(own)
    assert (Path(where.strip()).parent / "py.typed").exists()
    found = run(own / "bin/python", "-c", LIBRARY, cwd=tmp_path)
    assert found.strip() == "My cat is called Miso."


@pytest.mark.slow
@pytest.mark.skipif(UV is None, reason="uv runs it")
def test_uvx_runs_the_command(wheel: Path, tmp_path: Path) -> None:
    """Without installing it first."""
    assert UV is not None
    shown = run(UV, "tool", "run", "-q", "--from", wheel, "oldfriend", "--version", cwd=tmp_path)

    assert shown.startswith("oldfriend ")
