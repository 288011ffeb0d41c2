"""A forget that is killed at any step is finished by whoever opens the memory next."""

import asyncio
import json
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.app.call_spool import CallSpool, FinishedCall
from oldfriend.app.process_registry import build_process_folder
from oldfriend.app.spool_file import write_offline_file
from oldfriend.config.settings import Settings
from oldfriend.domain.ids import PersonId, new_id
from oldfriend.inbound.accept import MessageSubmission, open_local_chat
from oldfriend.inbound.audio_storage import attach_audio, save_audio
from oldfriend.llm.model import Completion, CompletionRequest, ModelCall, TokenUsage
from oldfriend.memory.message_log import list_messages
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.wiring import open_app, open_database
from oldfriend.usage.model_calls import CallContext
from tests.conftest import Sizes
from tests.journeys.residue import residue_in
from tests.processes import Finished, Program

LISBON = Path(__file__).parents[1] / "data" / "lisbon.jsonl"
SECRET = "Zinniawood hides quillfeather7731 in the cellar under the old stairs"
TYPED = "did Zinniawood ever find marzipanthorn4412"
HARMLESS = "we had a very long walk along the river"
MARKERS = ("Zinniawood", "quillfeather7731", "marzipanthorn4412")
FORGET = ("forget", "--about", "Zinniawood", "--yes", "--json")
CLEANING = 25
"""Steps from the commit on in which files are cleaned; the rest looks for what is left."""
OPENERS = (
    ("status",),
    ("doctor",),
    ("recall", "cellar"),
    ("stats",),
    ("say", "hello there"),
    ("letters",),
    ("cost",),
    ("memory", "list"),
    ("export",),
)
"""Ordinary commands, any of which may be the next to open the memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Died:
    """What a killed forget left behind, as the next process found and left it."""

    is_committed: bool
    opened: Finished
    residue: list[str]


async def prepare(program: Program) -> None:
    """Live a little, with the secret in every place that keeps words."""
    database = f"sqlite:///{program.data / 'oldfriend.db'}"
    settings = Settings(data=program.data, database=database, zone="UTC", language="en")
    async with open_app(settings) as app:
        chat_context = await open_local_chat(
            app.db, app.clock, app.settings, person=None, channel="terminal"
        )
        for number in range(12):
            await answer_message(
                app,
                chat_context,
                MessageSubmission(text=f"{HARMLESS}, for the {number}. time this year"),
            )
        told = await answer_message(
            app,
            chat_context,
            MessageSubmission(text=f"Remember: {SECRET}", external_id="quillfeather7731-1"),
        )
        for text in (HARMLESS, "what does Zinniawood hide?", TYPED, "I am well today, thank you"):
            await answer_message(app, chat_context, MessageSubmission(text=text))
        person = chat_context.person.id
        sound = await save_audio(
            app.clock, app.settings, person, b"RIFF" + SECRET.encode() * 50, mime="audio/wav"
        )
        async with app.db.begin_write() as tx:
            message = told.reply.id
            await attach_audio(tx, sound, message, kind="spoken", now=app.clock())
            kept = [each for each in await list_messages(tx, person) if each.role != "system"]
        write_offline_file(program.data, kept[-8:])
        leave_spooled(app, person)
    (program.data / f"chat-history-{person}").write_text(
        f"\n# 2026\n+{HARMLESS}\n\n# 2026\n+Remember: {SECRET}\n\n# 2026\n+{TYPED}\n"
    )
    (program.data / "oldfriend.db.before-8").write_bytes(SECRET.encode() * 20)


def leave_spooled(app: AppContext, person: PersonId) -> None:
    """Have a process die whose model has said the secret, before that was in the ledger."""
    dead = build_process_folder(app.settings.data, app.settings.database, "host/2/dead").own
    request = CompletionRequest(
        purpose="reply", prompt="reply/3", system_prompt="", turns=(), shown=()
    )
    said = Completion(model="a:b", text=SECRET, usage=TokenUsage(input=9, output=3))
    now = app.clock()
    call = ModelCall(
        request=request, model="a:b", outcome="done", completion=said, error=None, latency_us=5
    )
    spooled = FinishedCall(
        id=new_id(now),
        asker=CallContext(person=person),
        step=0,
        request_hash="hash",
        since=None,
        made_at=now,
        call=call,
    )
    CallSpool(dead).put(spooled)
    dead.close(keep=True)


@pytest.fixture(scope="module")
def lived(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """A memory in which the secret stands in many places."""
    program = Program(data=tmp_path_factory.mktemp("lived") / "data")
    asyncio.run(prepare(program))
    assert {each.split(" in ")[0] for each in residue_in(program.data, MARKERS)} == set(MARKERS)
    yield program


def copy_of(lived: Program, folder: Path) -> Program:
    """The same memory in a folder of its own, in place of what stood there."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(lived.data, folder / "data")
    return Program(data=folder / "data")


def killed(program: Program, command: tuple[str, ...], step: int, delay_s: float) -> Finished:
    """Run a command that is killed at a step of its work; 0: it is not killed, only counted."""
    ended = subprocess.run(
        [
            sys.executable,
            "-m",
            "tests.kill_steps",
            program.data,
            str(step),
            str(delay_s),
            *command,
        ],
        capture_output=True,
        timeout=120,
        env={**program.variables, "PYTHONPATH": PATHS},
        check=False,
    )
    return Finished(
        code=ended.returncode, stdout=ended.stdout.decode(), stderr=ended.stderr.decode()
    )


PATHS = ":".join(str(Path(__file__).parents[2] / each) for each in ("src", "."))


async def is_committed(program: Program) -> bool:
    """Whether anything was forgotten at all."""
    database = await open_database(f"sqlite:///{program.data / 'oldfriend.db'}", create=False)
    try:
        async with database.begin_read() as tx:
            return bool(await tx.rows("SELECT id FROM audit"))
    finally:
        await database.close()


def steps_of(lived: Program, folder: Path, command: tuple[str, ...]) -> tuple[int, int]:
    """How many steps a command takes that nobody kills, and which of them commits."""
    counted = killed(copy_of(lived, folder), command, 0, 0)
    assert counted.code == 0, counted.stderr
    steps, committed = counted.stdout.split("steps ")[1].split()
    return int(steps), int(committed)


def deaths(steps: int, committed: int, count: int) -> list[tuple[int, float]]:
    """When to die: half of the times at any step, the other half while files are cleaned.

    At each of these steps before it, or a little into it.
    """
    chance = random.Random(5)
    anywhere = evenly(1, steps, count // 2)
    cleaning = evenly(committed, committed + CLEANING, count - count // 2)
    delays = (0.0, 0.0003, 0.002, 0.01)
    return [(step, chance.choice(delays)) for step in (*anywhere, *cleaning)]


def evenly(first: int, last: int, count: int) -> list[int]:
    """So many numbers from the first to the last."""
    return [first + round(each * (last - first) / max(count - 1, 1)) for each in range(count)]


def die_and_open(lived: Program, folder: Path, number: int, step: int, delay_s: float) -> Died:
    """Kill a forget at a step, and have an ordinary command open the memory."""
    program = copy_of(lived, folder)
    killed(program, FORGET, step, delay_s)
    opened = program(*OPENERS[number % len(OPENERS)])
    committed = asyncio.run(is_committed(program))
    if not committed:
        assert "quillfeather7731" in program.done("export").stdout, f"lost at {step}"
        again = program.done(*FORGET)
        assert again.json["is_proved"], again.stdout
    told = [f"{each} in what it said" for each in MARKERS if each in opened.stdout + opened.stderr]
    residue = [*residue_in(program.data, MARKERS), *(told if committed else [])]
    return Died(is_committed=committed, opened=opened, residue=residue)


@pytest.mark.timeout(7200)
def test_forget_killed_at_any_step_leaves_no_residue_after_next_open(
    lived: Program,
    tmp_path: Path,
    sizes: Sizes,
    record_property: Callable[[str, object], None],
) -> None:
    """Neither in a file nor in a name, once any ordinary command has opened the memory."""
    steps, commit = steps_of(lived, tmp_path / "counted", FORGET)
    left: dict[str, list[str]] = {}
    committed = 0
    for number, (step, delay_s) in enumerate(deaths(steps, commit, sizes.forgets_killed)):
        died = die_and_open(lived, tmp_path / "killed", number, step, delay_s)
        committed += died.is_committed
        assert died.opened.code in {0, 1}, died.opened.stderr
        assert "Traceback" not in died.opened.stderr
        if died.residue:
            left[f"{step} + {delay_s} s, then {OPENERS[number % len(OPENERS)]}"] = died.residue

    assert left == {}
    assert 0 < committed < sizes.forgets_killed
    record_property("kills", f"{sizes.forgets_killed} over {steps} steps, {committed} committed")


UNDO = ("undo", "import", "1")


async def test_killed_import_undo_is_either_complete_or_not_started(
    tmp_path: Path, sizes: Sizes
) -> None:
    """At any of its steps; and then it can be done, once."""
    program = Program(data=tmp_path / "imported" / "data")
    program.done("say", HARMLESS)
    program.done("import", LISBON, "--me", "Nora")
    whole = json.loads(program.done("stats", "--json").stdout)["messages"]
    steps, commit = steps_of(program, tmp_path / "counted", UNDO)
    ends: set[str] = set()
    for step, delay_s in deaths(steps, commit, max(4, sizes.forgets_killed // 10)):
        died = copy_of(program, tmp_path / "killed")
        killed(died, UNDO, step, delay_s)
        left = json.loads(died.done("stats", "--json").stdout)["messages"]
        ends.add("never begun" if left == whole else "done")
        again = died(*UNDO)

        assert died.done("doctor").code == 0
        assert again.code == (0 if left == whole else again.code)
        assert json.loads(died.done("stats", "--json").stdout)["messages"] == 2
    assert ends == {"never begun", "done"}
