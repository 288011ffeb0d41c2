"""The command line, called in this process: quicker, where the process itself does not matter."""

import io
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import keyring
import pytest
from keyring.backends.fail import Keyring as NoKeyring

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
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No keyring, no key in the environment, a home of the test's own."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    for variable in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY",
                     "GROQ_API_KEY", "MISTRAL_API_KEY", "OPENROUTER_API_KEY"):  # fmt: skip
        monkeypatch.delenv(variable, raising=False)
    before = keyring.get_keyring()
    keyring.set_keyring(NoKeyring())
    yield
    keyring.set_keyring(before)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data folder."""
    return tmp_path / "data"
