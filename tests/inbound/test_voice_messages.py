"""What is said aloud is written down, at the speaker's expense, once."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings import Settings
from oldfriend.config.settings_schema import BudgetSettings, SpeechSettings
from oldfriend.db.database import Row
from oldfriend.domain.clock import DAY, HOUR, SECOND
from oldfriend.domain.ids import MessageId
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext, MessageSubmission, accept_message, open_local_chat
from oldfriend.inbound.audio_storage import find_audio_folder, sweep_audio
from oldfriend.inbound.voice_messages import (
    TranscribedAudio,
    TranscriptionFailure,
    transcribe_audio,
)
from oldfriend.llm.speech import MAX_AUDIO_BYTES
from oldfriend.memory.attachments import find_attachment, list_attachments
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES
from oldfriend.queues.jobs_table import find_first_due
from oldfriend.runtime.health_checks import run_checks
from oldfriend.runtime.job_handlers import SWEEP_JOB, plan_jobs, run_jobs
from oldfriend.runtime.wiring import open_app
from oldfriend.runtime.worker import claim_next_partition
from oldfriend.usage.costs import sum_usage
from tests.clock import FrozenClock
from tests.fakes.speech_server import SpeechServer, listened_to, speech_server

VOICE = (Path(__file__).parents[1] / "data/sounds/voice.ogg").read_bytes()
OTHER = (Path(__file__).parents[1] / "data/sounds/tone.mp3").read_bytes()
CAT = "My cat Miso sleeps on the radiator all day long."
pytestmark = pytest.mark.usefixtures("settings_folder")


@pytest.fixture
def server() -> Iterator[SpeechServer]:
    """It hears something about a cat."""
    with speech_server() as server:
        server.hears = CAT
        yield server


@pytest.fixture
def settings(settings: Settings, server: SpeechServer) -> Settings:
    """Those of somebody who is listened to, and keeps what they say."""
    return listened_to(settings, server)


def by(app: AppContext, **chosen: Any) -> AppContext:
    """The same house by other settings for speech."""
    speech = replace(app.settings.speech, **chosen)
    return replace(app, settings=replace(app.settings, speech=speech))


async def heard_in(
    app: AppContext, chat_context: ChatContext, sound: bytes = VOICE
) -> TranscribedAudio:
    """What is heard, when it is."""
    heard = await transcribe_audio(app, chat_context.person.id, sound, mime="audio/ogg")
    assert isinstance(heard, TranscribedAudio), heard
    return heard


async def said_aloud(app: AppContext, chat_context: ChatContext, sound: bytes = VOICE) -> MessageId:
    """Something that was said aloud, in the log."""
    heard = await heard_in(app, chat_context, sound)
    taken = await accept_message(
        app, chat_context, MessageSubmission(text=heard.text, audio=heard.audio), claim_now=False
    )
    assert taken is not None
    return taken.message.id


async def calls_of(app: AppContext) -> list[Row]:
    """What the ledger holds of hearing."""
    async with app.db.begin_read() as tx:
        return await tx.rows(
            """SELECT person, outcome, cost, sound, answer IS NULL, request FROM model_call
               WHERE purpose = 'transcription' ORDER BY made_at, id"""
        )


def files_of(app: AppContext, chat_context: ChatContext) -> list[Path]:
    """The files of sounds; none where a server keeps them."""
    folder = find_audio_folder(app.settings)
    return [] if folder is None else sorted((folder / chat_context.person.id).glob("*"))


async def bytes_of(app: AppContext, chat_context: ChatContext, message: MessageId) -> bytes | None:
    """The sound of a message, wherever it stands."""
    async with app.db.begin_read() as tx:
        found = await find_attachment(tx, chat_context.person.id, message, "heard")
    if found is None:
        return None
    attachment, content = found
    folder = find_audio_folder(app.settings)
    if folder is None:
        return content
    assert content is None
    return (folder / chat_context.person.id / attachment.file_name).read_bytes()


async def test_transcription_is_recorded_and_charged_to_the_speaker(
    app: AppContext, chat_context: ChatContext
) -> None:
    """To the person; the length is on the record, in microseconds."""
    heard = await heard_in(app, chat_context)
    ((person, outcome, cost, sound, is_empty, _),) = await calls_of(app)

    assert (heard.text, heard.seconds) == (CAT, 7.0)
    assert (person, outcome, cost, sound, is_empty) == (
        chat_context.person.id,
        "done",
        0,
        7 * SECOND,
        0,
    )


async def test_transcription_with_unknown_price_is_counted_as_unpriced(
    app: AppContext, chat_context: ChatContext, settings: Settings
) -> None:
    """A model that is reached elsewhere for a fee."""
    rented = SpeechSettings(transcriber="mine:whisper:cloud")
    async with open_app(replace(settings, speech=rented), clock=app.clock) as other:
        await heard_in(other, chat_context)
        async with other.db.begin_read() as tx:
            spent = await sum_usage(tx, 0)

    assert (spent.calls, spent.cost, spent.unpriced_calls) == (1, 0, 1)


async def test_repeated_transcription_of_a_recording_reuses_the_ledger(
    app: AppContext, chat_context: ChatContext, server: SpeechServer
) -> None:
    """Whoever was cut off before the words were in the log finds them in the ledger."""
    first = await heard_in(app, chat_context)
    again = await heard_in(app, chat_context)

    assert again.text == first.text
    assert len(server.heard) == 1


async def test_transcript_is_not_reused_for_another_person(
    app: AppContext, chat_context: ChatContext, server: SpeechServer
) -> None:
    """Also for the very same bytes."""
    await heard_in(app, chat_context)
    await heard_in(
        app,
        await open_local_chat(app.db, app.clock, app.settings, person="Ana", channel="terminal"),
    )

    assert len(server.heard) == 2


@pytest.mark.parametrize(
    ("trouble", "reason", "may_pass"),
    [
        ((503, "full"), "later", True),
        ((429, "slow"), "later", True),
        ((401, "who?"), "misconfigured", False),
        ((404, "no model"), "misconfigured", False),
        ((400, "not decoded"), "never", False),
        ((413, "big"), "too large", False),
    ],
)
async def test_transcription_failure_has_a_reason_and_retryability_by_status(
    app: AppContext,
    chat_context: ChatContext,
    server: SpeechServer,
    trouble: Any,
    reason: str,
    may_pass: bool,
) -> None:
    """So that whoever brought it knows whether to try again; the person is told in words."""
    server.troubles = [trouble]
    missed = await transcribe_audio(app, chat_context.person.id, VOICE, mime="audio/ogg")

    assert isinstance(missed, TranscriptionFailure)
    assert (missed.reason, missed.is_retryable) == (reason, may_pass)
    assert len({missed.to_text(language) for language in OFFLINE_LANGUAGES}) == len(
        OFFLINE_LANGUAGES
    )
    assert files_of(app, chat_context) == []
    assert [row[1] for row in await calls_of(app)] in (["failed"], ["refused"])


async def test_empty_large_or_unconfigured_transcription_has_its_own_reason(
    app: AppContext, chat_context: ChatContext, server: SpeechServer
) -> None:
    """Each has a reason of its own."""
    server.hears = ""
    reasons = []
    for there, sound in (
        (app, VOICE),
        (app, bytes(MAX_AUDIO_BYTES + 1)),
        (replace(app, transcriber=None), VOICE),
    ):
        missed = await transcribe_audio(there, chat_context.person.id, sound, mime="audio/ogg")
        assert isinstance(missed, TranscriptionFailure)
        reasons.append(missed.reason)

    assert reasons == ["nothing", "too large", "off"]
    assert len(server.heard) == 1


async def test_transcription_over_budget_makes_no_call(
    app: AppContext, chat_context: ChatContext, settings: Settings, server: SpeechServer
) -> None:
    """Where it costs something; tomorrow is another day."""
    poor = replace(
        settings,
        budget=BudgetSettings(all_per_day=0),
        speech=SpeechSettings(transcriber="mine:whisper:cloud"),
    )
    async with open_app(poor, clock=app.clock) as other:
        missed = await transcribe_audio(other, chat_context.person.id, VOICE, mime="audio/ogg")

    assert isinstance(missed, TranscriptionFailure)
    assert (missed.reason, missed.is_retryable, server.heard) == ("spent", True, [])


async def test_stored_recording_is_attached_to_its_message_with_private_mode(
    app: AppContext, chat_context: ChatContext
) -> None:
    """In a file beside the database, or on the server."""
    message = await said_aloud(app, chat_context)

    assert await bytes_of(app, chat_context, message) == VOICE
    for file in files_of(app, chat_context):
        assert file.suffix == ".ogg"
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.parent.stat().st_mode & 0o777 == 0o700


async def test_recording_is_not_stored_by_default(
    app: AppContext, chat_context: ChatContext
) -> None:
    """By default only the words are."""
    heard = await heard_in(by(app, keep_audio=False), chat_context)

    assert not SpeechSettings().keep_audio
    assert heard.audio is None
    assert files_of(app, chat_context) == []


async def test_forgetting_a_voice_message_deletes_recording_and_transcript(
    app: AppContext, chat_context: ChatContext, server: SpeechServer
) -> None:
    """Also a short one, which no run of words gives away; another stays."""
    server.hears = "I love Ana"
    message = await said_aloud(app, chat_context)
    server.hears = CAT
    other = await said_aloud(app, chat_context, OTHER)
    report = await forget(app, chat_context.person.id, DeletionRequest(ids=(message,)))

    assert report.is_proved
    assert await bytes_of(app, chat_context, message) is None
    assert await bytes_of(app, chat_context, other) == OTHER
    assert len(files_of(app, chat_context)) == (0 if find_audio_folder(app.settings) is None else 1)
    assert [(row[4], row[5]) for row in await calls_of(app)] == [(1, "")] * 2


async def test_forgetting_everything_deletes_every_recording(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Nothing is left in any row or file."""
    await said_aloud(app, chat_context)
    report = await forget(app, chat_context.person.id, DeletionRequest(everything=True))
    async with app.db.begin_read() as tx:
        left = await list_attachments(tx, chat_context.person.id)

    assert report.is_proved
    assert (left, files_of(app, chat_context)) == ([], [])


async def test_orphaned_recording_is_deleted_by_the_sweep_after_an_hour(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """Once it is an hour old: a younger one may be of a message that is about to be written."""
    kept = await said_aloud(app, chat_context)
    await heard_in(app, chat_context, OTHER)  # and whoever brought it died
    before = len(files_of(app, chat_context))
    file_times = [each.stat().st_mtime for each in files_of(app, chat_context)]
    clock.now = round(min(file_times, default=0) * SECOND) + HOUR // 2
    await sweep_audio(app.db, app.clock, app.settings)
    soon = len(files_of(app, chat_context))
    clock.now += HOUR
    await sweep_audio(app.db, app.clock, app.settings)

    is_on_server = find_audio_folder(app.settings) is None
    assert (before, soon, len(files_of(app, chat_context))) == (
        (0, 0, 0) if is_on_server else (2, 2, 1)
    )
    assert await bytes_of(app, chat_context, kept) == VOICE


async def test_audio_sweep_job_is_planned_only_if_audio_may_exist(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Once."""
    for there, is_planned in ((by(app, keep_audio=False), False), (app, True), (app, True)):
        await plan_jobs(there.db, there.clock, there.settings)
        async with app.db.begin_read() as tx:
            assert (await find_first_due(tx, "agenda", SWEEP_JOB) is not None) == is_planned


async def test_doctor_reports_missing_speech_model_key_or_speaker(
    app: AppContext, chat_context: ChatContext
) -> None:
    """Folder, key, or somebody to speak; and how it went last time."""
    there = [each.text for each in await run_checks(app)]
    nowhere = by(app, transcriber="local:/nowhere", speaker="openai:tts-1", speaks="always")
    texts = [each.text for each in await run_checks(nowhere) if not each.is_ok]
    nobody = [each.text for each in await run_checks(by(app, speaks="always")) if not each.is_ok]

    assert any("mine:whisper-1 is connected" in text for text in there)
    assert any("/nowhere contains no model for faster-whisper" in text for text in texts)
    assert any("There is no key for openai" in text for text in texts)
    assert any("no speaker is connected" in text for text in nobody)


async def test_reload_replaces_the_transcriber(app: AppContext, chat_context: ChatContext) -> None:
    """Whoever was chosen since, or nobody."""
    anew = replace(app.settings, speech=SpeechSettings(transcriber="mine:whisper-2"))
    other = app.with_settings(app, anew)
    nobody = app.with_settings(app, replace(anew, speech=SpeechSettings()))

    assert other.transcriber is not None
    assert other.transcriber.model == "mine:whisper-2"
    assert (await heard_in(other, chat_context)).text == CAT
    assert nobody.transcriber is None


async def test_audio_sweep_job_reschedules_itself_daily(
    app: AppContext, chat_context: ChatContext, clock: FrozenClock
) -> None:
    """As long as anything may be there."""
    await plan_jobs(app.db, app.clock, app.settings)
    while (claim := await claim_next_partition(app, "agenda")) is not None:
        await run_jobs(app, claim, asyncio.Event())
    async with app.db.begin_read() as tx:
        assert await find_first_due(tx, "agenda", SWEEP_JOB) == clock() + DAY
