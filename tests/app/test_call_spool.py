"""A finished call is on the disk before it is in the ledger, and nowhere else afterwards."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.app.call_spool import (
    CallSpool,
    FinishedCall,
    parse_finished_calls,
    parse_interrupted_calls,
)
from oldfriend.app.dead_processes import drain_spools, reap_dead_processes
from oldfriend.app.process_registry import (
    RESERVED_BYTES,
    ProcessFile,
    ProcessHeader,
    build_process_folder,
    erase_in_other,
    find_boot_id,
    open_other,
)
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext, MessageSubmission, accept_message, open_local_chat
from oldfriend.llm.model import (
    Completion,
    CompletionRequest,
    ModelCall,
    PromptTurn,
    TokenUsage,
    ToolCall,
)
from oldfriend.llm.scripted import ScriptedModel
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.queues.queue import claim_jobs
from oldfriend.replies.reply_worker import answer_message
from oldfriend.runtime.wiring import open_app
from oldfriend.usage.model_calls import CallContext, find_transcript
from oldfriend_evals.model_roles import with_models
from tests.clock import FrozenClock
from tests.engines import both_engines

engine = both_engines


ASKER = CallContext(person="p", turn="t", answered_versions="m@1")
REQUEST = CompletionRequest(
    purpose="reply",
    prompt="reply/3",
    system_prompt="x" * 400,
    turns=(PromptTurn(role="person", text="hi"),),
    shown=("m", "n"),
)
GIVEN = Completion(
    model="a:b",
    text="Grüße",
    calls=(ToolCall(id="1", name="note", arguments={"n": 1}),),
    usage=TokenUsage(input=9, cached=2, output=3),
    cost=17,
    audio_s=1.5,
    echo={"signed": True},
)


def finished(name: str = "c1", **more: object) -> FinishedCall:
    """A call that has come to its end."""
    call = ModelCall(
        request=REQUEST, model="a:b", outcome="done", completion=GIVEN, error=None, latency_us=5
    )
    return replace(
        FinishedCall(
            id=name, asker=ASKER, step=2, request_hash="hash", since=4, made_at=77, call=call
        ),
        **more,
    )


def file_in(folder: Path, name: str = "host/1/a") -> ProcessFile:
    """The file of a process."""
    return ProcessFile(folder, ProcessHeader(process=name, store="s", boot=find_boot_id()))


def read(path: Path):
    """What another process reads in a file."""
    with open_other(path, include_living=True) as found:
        return found


@pytest.fixture
async def spool(tmp_path: Path) -> AsyncIterator[CallSpool]:
    """A spool in a file."""
    spool = CallSpool(file_in(tmp_path))
    yield spool
    spool.close()


async def test_finished_call_is_readable_by_another_process(
    spool: CallSpool, tmp_path: Path
) -> None:
    """All that the ledger keeps of it, in the moment in which it is put there."""
    spool.put(finished())
    (path,) = tmp_path.iterdir()
    (found,) = parse_finished_calls(read(path).lines)

    kept = replace(REQUEST, system_prompt="", turns=())
    assert found == finished(call=replace(finished().call, request=kept))
    assert path.stat().st_mode & 0o777 == 0o600


async def test_stored_call_is_overwritten_in_the_spool(spool: CallSpool, tmp_path: Path) -> None:
    """Its words are overwritten where they stood, also while others wait."""
    spool.put(finished())
    spool.put(finished("c2", call=replace(finished().call, completion=replace(GIVEN, text="Yo"))))
    spool.mark_stored("c1")
    (path,) = tmp_path.iterdir()
    content = path.read_bytes()

    assert b"Gr" not in content
    assert b"Yo" in content
    assert [each.id for each in parse_finished_calls(read(path).lines)] == ["c2"]


async def test_interrupted_call_is_recorded_with_estimated_tokens(
    spool: CallSpool, tmp_path: Path
) -> None:
    """Four characters are a token; what has ended is not counted once more."""
    opened = [
        spool.begin(ASKER, REQUEST, step=each, request_hash="h", model="a:b", is_free=False, now=5)
        for each in range(2)
    ]
    spool.note_progress(opened[0], "x" * 40)
    spool.put(finished(), ends=opened[1])
    (path,) = tmp_path.iterdir()
    (left,) = parse_interrupted_calls(read(path).lines)

    assert (left.id, left.call.outcome) == (opened[0].id, "cut off")
    assert left.call.completion is not None
    assert left.call.completion.usage == TokenUsage(input=402 // 4, output=10)
    assert left.call.completion.cost is None
    spool.end(opened[0])
    assert parse_interrupted_calls(read(path).lines) == []


@pytest.mark.parametrize(("is_free", "cost"), [(True, 0), (False, None)])
async def test_interrupted_call_costs_zero_if_local_else_unknown(
    spool: CallSpool, tmp_path: Path, *, is_free: bool, cost: int | None
) -> None:
    """What another's cost, nobody knows."""
    spool.begin(ASKER, REQUEST, step=0, request_hash="h", model="a:b", is_free=is_free, now=5)
    (path,) = tmp_path.iterdir()
    (left,) = parse_interrupted_calls(read(path).lines)

    assert left.call.completion is not None
    assert left.call.completion.cost == cost


async def test_spool_file_reuses_space_and_does_not_grow(spool: CallSpool, tmp_path: Path) -> None:
    """There is always one that waits: what was erased makes room."""
    spool.put(finished("c0"))
    for number in range(1, 3000):
        spool.put(finished(f"c{number}"))
        spool.mark_stored(f"c{number - 1}")
    (path,) = tmp_path.iterdir()

    assert path.stat().st_size < RESERVED_BYTES
    assert [each.id for each in parse_finished_calls(read(path).lines)] == ["c2999"]


async def test_truncated_spool_line_does_not_affect_other_lines(
    spool: CallSpool, tmp_path: Path
) -> None:
    """As a power cut may leave it."""
    spool.put(finished())
    (path,) = tmp_path.iterdir()
    with path.open("ab") as file:
        file.write(b'{"id":"c2","asker":nu')
    assert [each.id for each in parse_finished_calls(read(path).lines)] == ["c1"]
    path.write_bytes(b"\x00\xff nonsense")
    assert read(path) is None


async def test_file_lock_tells_a_living_process_from_a_dead_one(tmp_path: Path) -> None:
    """The file of a living process is not touched; nobody sees it before it is locked."""
    living = file_in(tmp_path, "host/1/living")
    living.open()
    dead = file_in(tmp_path, "host/2/dead")
    dead.open()
    dead.close(keep=True)
    own = ProcessHeader(process="host/3/own", store="s", boot=find_boot_id())

    assert read(living.path).is_locked
    assert not read(living.path).is_dead_for(own)
    assert read(dead.path).is_dead_for(own)
    assert not read(dead.path).is_dead_for(replace(own, boot="after a restart"))
    with open_other(living.path, include_living=False) as found:
        assert found is None
    living.close(keep=False)
    assert not living.path.exists()


async def test_dead_process_calls_are_stored_once_and_its_leases_released(
    app: AppContext, clock: FrozenClock
) -> None:
    """Its calls are in the ledger, its lanes are free at once, and its file is gone."""
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="terminal"
    )
    dead = build_process_folder(app.settings.data, app.settings.database, "host/2/dead")
    spool, asker = CallSpool(dead.own), replace(ASKER, person=chat_context.person.id)
    call = replace(finished().call, request=replace(REQUEST, shown=()))
    spool.put(finished(asker=asker, since=None, call=call))
    spool.begin(asker, REQUEST, step=3, request_hash="h", model="a:b", is_free=False, now=clock())
    await leave_unanswered(app, chat_context, owner="host/2/dead")
    with_model = with_models(app, {"main": ScriptedModel(["I see."])})
    for settled in ([], [("done", 3), ("cut off", 0)]):
        await reap_dead_processes(app)
        async with app.db.begin_read() as tx:
            calls = await tx.rows(
                "SELECT outcome, tokens_out FROM model_call WHERE purpose = 'reply' ORDER BY step"
            )
        assert calls == settled
        dead.own.close(keep=True)
    async with asyncio.timeout(5):
        assert (
            await answer_message(with_model, chat_context, MessageSubmission(text="and?"))
        ).reply.text == "I see."

    assert not dead.own.path.exists()


async def leave_unanswered(app: AppContext, chat_context: ChatContext, *, owner: str) -> None:
    """Have somebody claim a chat in which something was said, and never be heard of again."""
    await accept_message(app, chat_context, MessageSubmission(text="hello there"), claim_now=False)
    async with app.db.begin_write() as tx:
        held = await claim_jobs(tx, "inbox", owner=owner, now=app.clock(), lease_s=60)
    assert held is not None


async def test_spool_line_erased_by_another_process_stays_erased(
    spool: CallSpool, tmp_path: Path
) -> None:
    """However the process that wrote it goes on, and though it puts a new file in the place."""
    spool.put(finished())
    spool.put(finished("c2"))
    (path,) = tmp_path.iterdir()
    found = read(path)
    spool.mark_stored("c2")
    spool.put(finished("c3"))
    assert erase_in_other(found, {"c1", "c2"})
    assert [each.id for each in parse_finished_calls(read(path).lines)] == ["c3"]
    spool.put(finished("c4"))
    for number in range(5, 500):
        spool.put(finished(f"c{number}"))
        spool.mark_stored(f"c{number}")

    assert [each.id for each in parse_finished_calls(read(path).lines)] == ["c3", "c4"]
    assert list(spool.pending) == ["c1", "c3", "c4"]
    assert not erase_in_other(found, {"c1"})


async def test_drained_spools_of_all_processes_are_empty(
    app: AppContext, clock: FrozenClock
) -> None:
    """One's own, that of a process that lives, and that of one of which it is not certain."""
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="terminal"
    )
    asker = replace(ASKER, person=chat_context.person.id)
    call = replace(finished().call, request=replace(REQUEST, shown=()))

    def spooled(name: str) -> FinishedCall:
        return finished(name, asker=asker, since=None, made_at=clock(), call=call)

    data, database = app.settings.data, app.settings.database
    living = build_process_folder(data, database, "host/2/living")
    lost = build_process_folder(data, database, "host/3/lost")
    lost.own._header = replace(lost.header, boot="before a restart")
    app.spool.put(spooled("own"))
    CallSpool(living.own).put(spooled("living"))
    CallSpool(lost.own).put(spooled("lost"))
    lost.own.close(keep=True)
    with lost.own.path.open("ab") as file:
        file.write(b'{"id":"c2","answer":"Gr\\u00fc\\u00dfe an')
    unfinished = living.own.path.with_name("4.new")
    unfinished.write_bytes(b"Gr\\u00fc\\u00dfe")
    stuck = await drain_spools(app)
    left = [each for each in living.own.path.parent.iterdir() if b"Gr" in each.read_bytes()]
    async with app.db.begin_read() as tx:
        entered = await tx.rows("SELECT id FROM model_call")
    living.own.close(keep=False)

    assert stuck == []
    assert left == []
    assert not unfinished.exists()
    assert {"own", "living", "lost"} <= {row[0] for row in entered}


async def test_call_spooled_before_forgetting_is_stored_without_its_text(
    app: AppContext, clock: FrozenClock
) -> None:
    """What was heard in a recording says it, and names no message."""
    chat_context = await open_local_chat(
        app.db, app.clock, app.settings, person=None, channel="terminal"
    )
    heard = replace(finished().call, request=replace(REQUEST, purpose="transcription", shown=()))
    spooled = finished(
        asker=CallContext(person=chat_context.person.id),
        since=None,
        made_at=clock(),
        call=heard,
        request_hash="hash",
    )
    clock.tick(minutes=1)
    said = await accept_message(
        app, chat_context, MessageSubmission(text="a secret of mine"), claim_now=False
    )
    await forget(app, chat_context.person.id, DeletionRequest(ids=(said.message.id,)))
    app.spool.put(spooled)
    await drain_spools(app)
    async with app.db.begin_read() as tx:
        kept = await find_transcript(tx, chat_context.person.id, "hash")
        entered = await tx.rows("SELECT outcome, tokens_out FROM model_call WHERE id = 'c1'")

    assert kept is None
    assert entered == [("cut off", 3)]


async def test_spool_of_another_database_is_not_reaped(app: AppContext, tmp_path: Path) -> None:
    """One data folder may be used with several databases."""
    other = build_process_folder(app.settings.data, "sqlite:///elsewhere.db", "host/2/dead")
    CallSpool(other.own).put(finished())
    other.own.close(keep=True)
    await reap_dead_processes(app)

    assert other.own.path.exists()


async def test_clean_exit_removes_the_process_file(app: AppContext) -> None:
    """Neither one that has talked, nor one that has only looked."""
    async with open_app(app.settings) as other:
        chat_context = await open_local_chat(
            other.db, other.clock, other.settings, person=None, channel="terminal"
        )
        await answer_message(other, chat_context, MessageSubmission(text="hello there"))
        assert other.process_folder.own.path.exists()

    assert not other.process_folder.own.path.exists()


async def test_spool_stays_in_memory_when_the_folder_is_unwritable(
    tmp_path: Path,
) -> None:
    """The answer is used all the same; leases end by themselves then."""
    (tmp_path / "processes").write_text("in the way")
    processes = build_process_folder(tmp_path, "sqlite:///x.db", "host/1/a")
    processes.register(reserve=True)
    spool = CallSpool(processes.own)
    spool.put(
        finished(),
        ends=spool.begin(
            ASKER, REQUEST, step=0, request_hash="h", model="a:b", is_free=False, now=0
        ),
    )

    assert list(spool.pending) == ["c1"]
    assert not processes.own.is_open
    spool.close()
    assert [each.name for each in tmp_path.iterdir()] == ["processes"]
