"""A file is read in a process of its own: what ends it is told, and harms nothing else."""

import json
import os
import signal
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from oldfriend.domain.errors import ImportRefused, ParserCrashed, ParserNotStarted
from oldfriend.domain.i18n_messages import LocalizedText
from oldfriend.transfer.formats.format_detection import detect_format
from oldfriend.transfer.preview import build_preview
from oldfriend.transfer.sandbox_process import InspectionTask, MessageStream, inspect_in_sandbox
from oldfriend.transfer.sandbox_reader import DEFAULT_LIMITS
from oldfriend.transfer.wire_format import encode_text
from tests.conftest import SIZE
from tests.processes import until
from tests.transfer.hostile_files import files_to_refuse, harmless_files, zipped

TO_REFUSE = files_to_refuse(is_full=SIZE == "full")
HARMLESS = harmless_files()
CHAT = "".join(
    f"{n % 28 + 1:02d}/01/2024, 21:{n % 60:02d} - {('Ana', 'Ben')[n % 2]}: message {n} \U0001f600\n"
    for n in range(3_000)
)


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    """A chat of two people."""
    path = tmp_path / "WhatsApp Chat with Ben.txt"
    path.write_text(CHAT)
    return path


@pytest.fixture
def endless(tmp_path: Path) -> Path:
    """A sound file at which a reader is busy for a good while."""
    path = tmp_path / "long.jsonl"
    one = json.dumps({"speaker": "Ana", "at": "2024-05-03", "text": "hello there " * 20})
    path.write_text(f"{one}\n" * 200_000)
    return path


def code_of(error: ImportRefused) -> str:
    """By which code an error can be said elsewhere."""
    assert isinstance(error.user_text, LocalizedText)
    return error.user_text.code


def test_sandboxed_parse_equals_the_in_process_parse(chat: Path) -> None:
    """All of it: the preview, its notices and samples, and each message."""
    preview = inspect_in_sandbox(chat, me="Ana", person="Nora", zone="Europe/Lisbon")
    with MessageStream(preview) as stream:
        messages = [*stream.read_batch(2_000), *stream.read_batch(2_000)]
        after_the_end = stream.read_batch(1)
    with MessageStream(preview, after=2_990) as stream:
        last = stream.read_batch(100)

    assert preview == build_preview(chat, me="Ana", person="Nora", zone="Europe/Lisbon")
    assert preview.speaker_roles.me == {"Ana"}
    assert messages == list(detect_format(chat).parse([].append))
    assert after_the_end == []
    assert last == messages[2_990:]


def test_zip_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    """A chat that says the same again and again, and would take a minute to read."""
    path = tmp_path / "chat.zip"
    path.write_bytes(zipped({"_chat.txt": CHAT[:2_000].encode() * 9_000}))
    with pytest.raises(ImportRefused) as refused:
        inspect_in_sandbox(path, me=None, person="Nora", zone="UTC")

    assert code_of(refused.value) == "import_zip_bomb"


def test_refusal_from_the_sandbox_keeps_its_line_code_and_values(tmp_path: Path) -> None:
    """As if it had been read here."""
    file = tmp_path / "talk.jsonl"
    file.write_text('{"speaker": "Ana", "at": "2024-05-03", "text": "hi"}\n{"text": 3}\n')
    with pytest.raises(ImportRefused) as there:
        inspect_in_sandbox(file, me=None, person="Ana", zone="UTC")
    with pytest.raises(ImportRefused) as here:
        build_preview(file, me=None, person="Ana", zone="UTC")

    assert there.value.user_text == here.value.user_text
    assert (there.value.line, there.value.expected) == (2, here.value.expected)
    assert code_of(there.value) == code_of(here.value) == "import_line"
    assert isinstance(there.value.user_text, LocalizedText)
    assert isinstance(here.value.user_text, LocalizedText)
    assert there.value.user_text.values == here.value.user_text.values


@pytest.mark.parametrize("signal_sent", [signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS])
def test_sandbox_reader_crash_raises_parser_crashed(
    endless: Path, signal_sent: signal.Signals
) -> None:
    """As a native parser would crash."""
    with InspectionTask(endless, me=None, person="Ana", zone="UTC") as inspection:

        def crash(_: int) -> None:
            os.kill(inspection.pid, signal_sent)

        with pytest.raises(ParserCrashed) as ended:
            inspection.wait(crash)

    assert code_of(ended.value) == "import_reader_crash"
    assert ended.value.exit_code == -signal_sent


@pytest.mark.slow
def test_sandbox_reader_over_its_memory_limit_is_stopped(tmp_path: Path) -> None:
    """Before it has filled the memory of the machine."""
    file = tmp_path / "conversations.json"
    file.write_text('[{"mapping": {"a": [' + "{}," * 4_000_000 + "{}]}}]")
    limits = replace(DEFAULT_LIMITS, memory_bytes=400 << 20)
    with (
        InspectionTask(file, me=None, person="Ana", zone="UTC", limits=limits) as inspection,
        pytest.raises(ParserCrashed) as ended,
    ):
        inspection.wait()

    assert code_of(ended.value) == "import_reader_memory"


def test_parent_memory_does_not_count_against_the_sandbox_limit(chat: Path) -> None:
    """A reader is started by one that serves for long and has much in mind."""
    limits = replace(DEFAULT_LIMITS, memory_bytes=400 << 20)
    much = b"x" * (500 << 20)
    with InspectionTask(chat, me="Ana", person="Nora", zone="UTC", limits=limits) as inspection:
        assert inspection.wait().messages == 3_000
    del much


@pytest.mark.slow
def test_sandbox_reader_over_its_cpu_limit_is_stopped(endless: Path) -> None:
    """By its time on the processor."""
    limits = replace(DEFAULT_LIMITS, cpu_s=1, cpu_s_per_mb=0)
    with (
        InspectionTask(endless, me=None, person="Ana", zone="UTC", limits=limits) as inspection,
        pytest.raises(ParserCrashed) as ended,
    ):
        inspection.wait()

    assert code_of(ended.value) == "import_reader_time"


def test_leaving_the_inspection_task_kills_the_sandbox_reader(endless: Path) -> None:
    """Also while another thread waits for what it finds."""
    ended: list[Exception] = []
    with InspectionTask(endless, me=None, person="Ana", zone="UTC") as inspection:

        def wait() -> None:
            try:
                inspection.wait()
            except ImportRefused as error:
                ended.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        pid = inspection.pid
        os.kill(pid, 0)
    thread.join(10)

    assert not thread.is_alive()
    assert len(ended) == 1
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_sandbox_reader_inherits_no_keys_and_no_file_descriptors(
    endless: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of the environment, and no file or socket that is open here."""
    if not Path("/proc/self/environ").exists():
        pytest.skip("this system does not show what a process has")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    with (
        endless.open() as held,
        InspectionTask(endless, me=None, person="Ana", zone="UTC") as inspection,
    ):
        os.set_inheritable(held.fileno(), True)
        seen: list[bytes] = []
        opened: list[set[int]] = []

        def look(_: int) -> None:
            seen.append(Path(f"/proc/{inspection.pid}/environ").read_bytes())
            opened.append({int(each.name) for each in Path(f"/proc/{inspection.pid}/fd").iterdir()})
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            inspection.wait(look)

    assert b"PYTHONPATH" in seen[0]
    assert b"secret" not in seen[0]
    assert len(opened[0]) <= 6  # its three, the pipe by which it reports, and the file


def test_file_changed_between_preview_and_import_is_refused(chat: Path) -> None:
    """Between looking at it and reading it, too: else another text than was agreed to comes in."""
    preview = inspect_in_sandbox(chat, me=None, person="Ana", zone="UTC")
    with chat.open("a") as file:
        file.write("28/01/2024, 23:59 - Ben: one more\n")
    with MessageStream(preview) as stream, pytest.raises(ImportRefused) as refused:
        stream.read_batch(1)

    assert code_of(refused.value) == "import_changed"


@pytest.mark.parametrize("name", TO_REFUSE)
def test_a_hostile_file_is_refused_with_a_reason(name: str, tmp_path: Path) -> None:
    """None of them ends what reads it, nor makes it say what no page can show."""
    path = tmp_path / name
    path.write_bytes(TO_REFUSE[name])
    with pytest.raises(ImportRefused) as refused:
        inspect_in_sandbox(path, me=None, person="Ana", zone="Asia/Tokyo")

    assert not isinstance(refused.value, ParserCrashed)
    json.dumps(encode_text(refused.value.user_text), ensure_ascii=False).encode()


@pytest.mark.parametrize("name", HARMLESS)
def test_harmless_file_that_looks_hostile_is_fully_parsed(name: str, tmp_path: Path) -> None:
    """Each message that is counted is read, and can be written anywhere."""
    path = tmp_path / name
    path.write_bytes(HARMLESS[name])
    preview = inspect_in_sandbox(path, me=None, person="Ana", zone="Asia/Tokyo")
    with MessageStream(preview) as stream:
        messages = stream.read_batch(10_000)

    assert len(messages) == preview.messages > 0
    for each in messages:
        f"{each.speaker}{each.text}{each.chat}{each.chat_title}{each.details}".encode()
    json.dumps([encode_text(each) for each in preview.notices], ensure_ascii=False).encode()


@pytest.mark.slow
def test_sandbox_readers_leave_no_zombie_process(tmp_path: Path) -> None:
    """Not even one that has ended and waits to be looked after."""
    path = tmp_path / "broken.json"
    path.write_text("[" * 100)
    for _ in range(5):
        with pytest.raises(ImportRefused):
            inspect_in_sandbox(path, me=None, person="Ana", zone="UTC")

    until(no_child_is_left, within_s=5)


def no_child_is_left() -> bool:
    """Whether no process of ours waits to be looked after."""
    try:
        return os.waitpid(-1, os.WNOHANG) == (0, 0)
    except ChildProcessError:
        return True


def test_sandbox_reader_that_fails_to_start_reports_exit_code_and_stderr(
    chat: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that whoever runs it can find out why; the file is not at fault."""
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "resource.py").write_text("raise RuntimeError('there are no limits here')\n")
    monkeypatch.syspath_prepend(broken)
    with pytest.raises(ParserNotStarted) as raised:
        inspect_in_sandbox(chat, me="Ana", person="Nora", zone="UTC")

    assert code_of(raised.value) == "import_reader_unstarted"
    assert raised.value.exit_code == 1
    assert raised.value.stderr.endswith("RuntimeError: there are no limits here")
