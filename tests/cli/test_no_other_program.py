"""No command starts a program of others: no compiler, no linker, no shell."""

import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.fakes.slow_model import slow_model
from tests.processes import Program, line_of

AUDITED = """
import os, runpy, sys

log = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
STARTS = {"subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "os.spawn"}

def note(event, arguments):
    if event in STARTS:
        os.write(log, f"{event} {arguments[:2]}\\n".encode())

sys.addaudithook(note)
sys.argv = ["oldfriend", *sys.argv[2:]]
runpy.run_module("oldfriend", run_name="__main__")
"""
CHAT = "[21/11/2026, 10:00:00] Nora: hello there\n[21/11/2026, 10:01:00] Bo: hi\n"
STARTS_S = 3.0
READER = "oldfriend.transfer.sandbox_reader"
"""Our own: files of others are read in a process apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Audited(Program):
    """The command line, with every program that it starts noted in a file."""

    def command(self, *arguments: str | bytes | Path) -> list[str | bytes | Path]:
        """How the command is called."""
        return [sys.executable, "-c", AUDITED, self.log, *arguments]

    @property
    def log(self) -> Path:
        """Where it is noted."""
        return self.data.parent / "started"


@pytest.fixture
def audited(tmp_path: Path) -> Audited:
    """A command line on data of its own."""
    return Audited(data=tmp_path / "data")


@pytest.mark.slow
@pytest.mark.parametrize("what", ["import", "doctor", "status", "connect"])
def test_command_starts_no_subprocess(audited: Audited, tmp_path: Path, what: str) -> None:
    """Also where keys are looked for, in every keyring that there may be."""
    chat = tmp_path / "chat.txt"
    chat.write_text(CHAT)
    audited.done("say", "My boat is called Dora")
    more: dict[str, list[str | Path]] = {
        "import": ["import", chat, "--me", "Nora"],
        "connect": ["connect", "forget", "--provider", "openai"],
    }
    ended = audited(*more.get(what, [what]))

    assert ended.code in {0, 1}, ended.stderr
    others = [each for each in audited.log.read_text().splitlines() if READER not in each]
    assert others == []


MODEL = """[models]
main = ["slow:one"]
[providers.slow]
kind = "{kind}"
base_url = "{url}"
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["openai", "openai-responses", "anthropic"])
def test_model_call_starts_no_subprocess(audited: Audited, kind: str) -> None:
    """Neither what makes it ready nor the request itself."""
    with slow_model() as model:
        model.says, model.pause_s = "All is well.", 0.001
        audited.data.mkdir(parents=True)
        settings = MODEL.format(kind=kind, url=model.url)
        (audited.data / "oldfriend.toml").write_text(settings)
        audited("say", "Hello there")
        with audited.started("--set", "serve.port=0", "serve") as process:
            assert line_of(process.stdout)
            time.sleep(STARTS_S)
            process.send_signal(signal.SIGTERM)
            assert process.wait(60) == 0

    assert audited.log.read_text() == ""
    assert model.about or kind != "openai"  # the only kind that this model speaks


@pytest.mark.slow
def test_serve_starts_no_subprocess(audited: Audited) -> None:
    """From its start to its end."""
    with audited.started("--set", "serve.port=0", "serve") as process:
        assert line_of(process.stdout)
        time.sleep(STARTS_S)
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0

    assert audited.log.read_text() == ""
