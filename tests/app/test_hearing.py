"""What is said aloud is written down, at the speaker's expense, once."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from oldfriend.app.accepting import Line, Said, accept, open_line
from oldfriend.app.attaching import folder_of, sweep
from oldfriend.app.choices.sections import Budget, SpeechChoice
from oldfriend.app.choices.settings import Settings
from oldfriend.app.doctor import examine
from oldfriend.app.forgetting import forget
from oldfriend.app.hearing import Heard, NotHeard, hear
from oldfriend.app.house import House
from oldfriend.app.jobs import SWEEP, do_jobs, plan_jobs
from oldfriend.app.wiring import open_house
from oldfriend.app.working import claim_next
from oldfriend.db.database import Row
from oldfriend.domain.clock import DAY, HOUR, SECOND
from oldfriend.domain.ids import MessageId
from oldfriend.ledger.spending import spent_since
from oldfriend.llm.speech import MOST_BYTES
from oldfriend.memory.attachments import find_attachment, list_attachments
from oldfriend.memory.forgetting.choosing import Wish
from oldfriend.prompts.phrasebook import SPOKEN
from oldfriend.queues.letters import first_due
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


def by(house: House, **chosen: Any) -> House:
    """The same house by other settings for speech."""
    speech = replace(house.settings.speech, **chosen)
    return replace(house, settings=replace(house.settings, speech=speech))


async def heard_in(house: House, line: Line, sound: bytes = VOICE) -> Heard:
    """What is heard, when it is."""
    heard = await hear(house, line.person.id, sound, mime="audio/ogg")
    assert isinstance(heard, Heard), heard
    return heard


async def said_aloud(house: House, line: Line, sound: bytes = VOICE) -> MessageId:
    """Something that was said aloud, in the log."""
    heard = await heard_in(house, line, sound)
    taken = await accept(house, line, Said(text=heard.text, sound=heard.sound), to_answer=False)
    assert taken is not None
    return taken.message.id


async def calls_of(house: House) -> list[Row]:
    """What the ledger holds of hearing."""
    async with house.db.reading() as tx:
        return await tx.rows(
            """SELECT person, outcome, cost, sound, answer IS NULL, request FROM model_call
               WHERE purpose = 'transcription' ORDER BY made_at, id"""
        )


def files_of(house: House, line: Line) -> list[Path]:
    """The files of sounds; none where a server keeps them."""
    folder = folder_of(house.settings)
    return [] if folder is None else sorted((folder / line.person.id).glob("*"))


async def bytes_of(house: House, line: Line, message: MessageId) -> bytes | None:
    """The sound of a message, wherever it stands."""
    async with house.db.reading() as tx:
        found = await find_attachment(tx, line.person.id, message, "heard")
    if found is None:
        return None
    attachment, content = found
    folder = folder_of(house.settings)
    if folder is None:
        return content
    assert content is None
    return (folder / line.person.id / attachment.file_name).read_bytes()


async def test_what_is_said_is_written_down_and_charged(house: House, line: Line) -> None:
    """To the person; the length is on the record, in microseconds."""
    heard = await heard_in(house, line)
    ((person, outcome, cost, sound, is_empty, _),) = await calls_of(house)

    assert (heard.text, heard.seconds) == (CAT, 7.0)
    assert (person, outcome, cost, sound, is_empty) == (line.person.id, "done", 0, 7 * SECOND, 0)


async def test_an_unknown_price_is_told_and_not_taken_for_nothing(
    house: House, line: Line, settings: Settings
) -> None:
    """A model that is reached elsewhere for a fee."""
    rented = SpeechChoice(transcriber="mine:whisper:cloud")
    async with open_house(replace(settings, speech=rented), clock=house.clock) as other:
        await heard_in(other, line)
        async with other.db.reading() as tx:
            spent = await spent_since(tx, 0)

    assert (spent.calls, spent.cost, spent.unknown) == (1, 0, 1)


async def test_the_same_recording_is_paid_for_once(
    house: House, line: Line, server: SpeechServer
) -> None:
    """Whoever was cut off before the words were in the log finds them in the ledger."""
    first = await heard_in(house, line)
    again = await heard_in(house, line)

    assert again.text == first.text
    assert len(server.heard) == 1


async def test_what_one_person_said_is_no_answer_for_another(
    house: House, line: Line, server: SpeechServer
) -> None:
    """Also for the very same bytes."""
    await heard_in(house, line)
    await heard_in(house, await open_line(house, person="Ana", channel="terminal"))

    assert len(server.heard) == 2


@pytest.mark.parametrize(
    ("trouble", "reason", "may_pass"),
    [((503, "full"), "later", True), ((429, "slow"), "later", True),
     ((401, "who?"), "misconfigured", False), ((404, "no model"), "misconfigured", False),
     ((400, "not decoded"), "never", False), ((413, "big"), "too large", False)],
)  # fmt: skip
async def test_why_nothing_was_heard_is_told_apart(
    house: House, line: Line, server: SpeechServer, trouble: Any, reason: str, may_pass: bool
) -> None:
    """So that whoever brought it knows whether to try again; the person is told in words."""
    server.troubles = [trouble]
    missed = await hear(house, line.person.id, VOICE, mime="audio/ogg")

    assert isinstance(missed, NotHeard)
    assert (missed.reason, missed.may_pass) == (reason, may_pass)
    assert len({missed.in_words(language) for language in SPOKEN}) == len(SPOKEN)
    assert files_of(house, line) == []
    assert [row[1] for row in await calls_of(house)] in (["failed"], ["refused"])


async def test_an_empty_recording_a_large_one_and_nobody_to_listen(
    house: House, line: Line, server: SpeechServer
) -> None:
    """Each has a reason of its own."""
    server.hears = ""
    reasons = []
    for there, sound in (
        (house, VOICE), (house, bytes(MOST_BYTES + 1)), (replace(house, transcriber=None), VOICE),
    ):  # fmt: skip
        missed = await hear(there, line.person.id, sound, mime="audio/ogg")
        assert isinstance(missed, NotHeard)
        reasons.append(missed.reason)

    assert reasons == ["nothing", "too large", "off"]
    assert len(server.heard) == 1


async def test_over_the_allowance_nobody_is_asked(
    house: House, line: Line, settings: Settings, server: SpeechServer
) -> None:
    """Where it costs something; tomorrow is another day."""
    poor = replace(
        settings, budget=Budget(all_per_day=0),
        speech=SpeechChoice(transcriber="mine:whisper:cloud"),
    )  # fmt: skip
    async with open_house(poor, clock=house.clock) as other:
        missed = await hear(other, line.person.id, VOICE, mime="audio/ogg")

    assert isinstance(missed, NotHeard)
    assert (missed.reason, missed.may_pass, server.heard) == ("spent", True, [])


async def test_a_recording_is_kept_with_its_message_for_its_owner_alone(
    house: House, line: Line
) -> None:
    """In a file beside the database, or on the server."""
    message = await said_aloud(house, line)

    assert await bytes_of(house, line, message) == VOICE
    for file in files_of(house, line):
        assert file.suffix == ".ogg"
        assert file.stat().st_mode & 0o777 == 0o600
        assert file.parent.stat().st_mode & 0o777 == 0o700


async def test_nothing_is_kept_unless_that_was_chosen(house: House, line: Line) -> None:
    """By default only the words are."""
    heard = await heard_in(by(house, keep_audio=False), line)

    assert not SpeechChoice().keep_audio
    assert heard.sound is None
    assert files_of(house, line) == []


async def test_forgetting_a_message_takes_its_recording_and_what_was_written_down(
    house: House, line: Line, server: SpeechServer
) -> None:
    """Also a short one, which no run of words gives away; another stays."""
    server.hears = "I love Ana"
    message = await said_aloud(house, line)
    server.hears = CAT
    other = await said_aloud(house, line, OTHER)
    report = await forget(house, line.person.id, Wish(ids=(message,)))

    assert report.is_proved
    assert await bytes_of(house, line, message) is None
    assert await bytes_of(house, line, other) == OTHER
    assert len(files_of(house, line)) == (0 if folder_of(house.settings) is None else 1)
    assert [(row[4], row[5]) for row in await calls_of(house)] == [(1, "")] * 2


async def test_forgetting_everything_takes_every_recording(house: House, line: Line) -> None:
    """Nothing is left in any row or file."""
    await said_aloud(house, line)
    report = await forget(house, line.person.id, Wish(everything=True))
    async with house.db.reading() as tx:
        left = await list_attachments(tx, line.person.id)

    assert report.is_proved
    assert (left, files_of(house, line)) == ([], [])


async def test_a_recording_without_a_message_is_swept(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """Once it is an hour old: a younger one may be of a message that is about to be written."""
    kept = await said_aloud(house, line)
    await heard_in(house, line, OTHER)  # and whoever brought it died
    before = len(files_of(house, line))
    file_times = [each.stat().st_mtime for each in files_of(house, line)]
    clock.now = round(min(file_times, default=0) * SECOND) + HOUR // 2
    await sweep(house)
    soon = len(files_of(house, line))
    clock.now += HOUR
    await sweep(house)

    is_on_server = folder_of(house.settings) is None
    assert (before, soon, len(files_of(house, line))) == ((0, 0, 0) if is_on_server else (2, 2, 1))
    assert await bytes_of(house, line, kept) == VOICE


async def test_sweeping_is_planned_where_there_may_be_anything(house: House, line: Line) -> None:
    """Once."""
    for there, is_planned in ((by(house, keep_audio=False), False), (house, True), (house, True)):
        await plan_jobs(there)
        async with house.db.reading() as tx:
            assert (await first_due(tx, "agenda", SWEEP) is not None) == is_planned


async def test_the_doctor_says_what_is_missing(house: House, line: Line) -> None:
    """Folder, key, or somebody to speak; and how it went last time."""
    there = [each.text for each in await examine(house)]
    nowhere = by(house, transcriber="local:/nowhere", speaker="openai:tts-1", speaks="always")
    texts = [each.text for each in await examine(nowhere) if not each.is_well]
    nobody = [each.text for each in await examine(by(house, speaks="always")) if not each.is_well]

    assert any("mine:whisper-1 is connected" in text for text in there)
    assert any("/nowhere holds no model for faster-whisper" in text for text in texts)
    assert any("There is no key for openai" in text for text in texts)
    assert any("nobody speaks" in text for text in nobody)


async def test_a_reload_takes_over_who_listens(house: House, line: Line) -> None:
    """Whoever was chosen since, or nobody."""
    anew = replace(house.settings, speech=SpeechChoice(transcriber="mine:whisper-2"))
    other = house.refurnish(house, anew)
    nobody = house.refurnish(house, replace(anew, speech=SpeechChoice()))

    assert other.transcriber is not None
    assert other.transcriber.model == "mine:whisper-2"
    assert (await heard_in(other, line)).text == CAT
    assert nobody.transcriber is None


async def test_the_sweep_is_a_job_that_comes_again_tomorrow(
    house: House, line: Line, clock: FrozenClock
) -> None:
    """As long as anything may be there."""
    await plan_jobs(house)
    while (claim := await claim_next(house, "agenda")) is not None:
        await do_jobs(house, claim, asyncio.Event())
    async with house.db.reading() as tx:
        assert await first_due(tx, "agenda", SWEEP) == clock() + DAY
