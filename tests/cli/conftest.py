"""The command line, called in this process: quicker, where the process itself does not matter."""

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from oldfriend.cli.main import main
from tests.processes import Finished

Call = Callable[..., Finished]


@pytest.fixture
def call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Call:
    """Carry out one command line on data of its own."""
    monkeypatch.setenv("OLDFRIEND_DATA", str(tmp_path / "data"))
    monkeypatch.delenv("OLDFRIEND_DATABASE", raising=False)
    monkeypatch.setenv("LC_ALL", "en_GB.UTF-8")

    def call(*arguments: str, stdin: str = "") -> Finished:
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        try:
            code = main(arguments)
        except SystemExit as stop:  # argparse's way to end
            code = int(stop.code or 0)
        said = capsys.readouterr()
        return Finished(code=code, stdout=said.out, stderr=said.err)

    return call


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data folder."""
    return tmp_path / "data"
