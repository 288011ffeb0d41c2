"""What is said is written down and what is written is spoken, over real HTTP, by strict rules."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from oldfriend.domain.errors import (
    AllowanceUsedUp,
    ApiKeyRejected,
    AudioTooLarge,
    BrokenOutput,
    ModelError,
    ModelMisconfigured,
    ModelUnavailable,
    NoSpeechDetected,
    RequestRejected,
)
from oldfriend.llm.adapters.openai_speech import (
    ProviderClient,
    RemoteSynthesizer,
    RemoteTranscriber,
    compute_speech_price,
    compute_transcription_price,
)
from oldfriend.llm.providers import ModelConfig, Timeouts, build_model_config
from oldfriend.llm.speech import MAX_AUDIO_BYTES, Speech, Transcription
from tests.fakes.speech_server import SpeechServer, speech_server
from tests.llm.usage_accounts import Purse

SOUNDS = Path(__file__).parents[2] / "data/sounds"
VOICE = (SOUNDS / "voice.ogg").read_bytes()
SECRET = "sk-very-secret"


@pytest.fixture
def server() -> Iterator[SpeechServer]:
    """A server that has been asked nothing yet."""
    with speech_server() as server:
        yield server


def choice_at(url: str, *, name: str = "whisper-1", key: str | None = None) -> ModelConfig:
    """A model there, which is not waited for long."""
    patience = Timeouts(connect_s=0.5, total_s=0.5)
    return build_model_config(f"mine:{name}", base_url=url, key=key, timeouts=patience)


@asynccontextmanager
async def listening(
    url: str, *, name: str = "whisper-1", key: str | None = None, purse: Purse | None = None
) -> AsyncIterator[RemoteTranscriber]:
    """Somebody who listens."""
    link = ProviderClient(choice_at(url, name=name, key=key))
    yield RemoteTranscriber(link, purse or Purse())
    await link.close()


@asynccontextmanager
async def speaking(
    url: str, *, name: str = "tts-1", voice: str = "alloy", purse: Purse | None = None
) -> AsyncIterator[RemoteSynthesizer]:
    """Somebody who speaks."""
    link = ProviderClient(choice_at(url, name=name))
    yield RemoteSynthesizer(link, voice, purse or Purse())
    await link.close()


async def heard(
    url: str,
    sound: bytes = VOICE,
    *,
    mime: str = "audio/ogg",
    language: str | None = None,
    name: str = "whisper-1",
    key: str | None = None,
    purse: Purse | None = None,
) -> Transcription:
    """What is heard in a recording."""
    async with listening(url, name=name, key=key, purse=purse) as transcriber:
        return await transcriber.transcribe(sound, mime=mime, language=language)


async def spoken(url: str, text: str = "Hello.", **how: object) -> Speech:
    """A text as it is spoken."""
    async with speaking(url, **how) as speaker:
        return await speaker.synthesize(text, language="en")


async def test_recording_is_sent_with_its_detected_mime_type(server: SpeechServer) -> None:
    """With the extension by which providers know it, whatever it was called on the way."""
    transcript = await heard(server.url, mime="application/octet-stream", language="pt-BR")

    assert transcript == Transcription(text="Good morning.", language="english", duration_s=7.0)
    (asked,) = server.heard
    assert asked["file"] == ("voice.ogg", "audio/ogg", VOICE)
    assert asked["language"] == "pt"


@pytest.mark.parametrize("name", ["tone.mp3", "tone.m4a", "tone.mp4", "tone.webm", "tone.wav"])
async def test_every_common_audio_format_is_transcribed(server: SpeechServer, name: str) -> None:
    """Voice notes, sound files, video notes."""
    sound = (SOUNDS / name).read_bytes()

    assert (await heard(server.url, sound, mime="audio/ogg")).text == "Good morning."


async def test_model_without_verbose_json_is_asked_for_json(server: SpeechServer) -> None:
    """The strict server refuses what newer models do not have."""
    server.seconds = 3.0
    transcript = await heard(server.url, name="gpt-4o-transcribe")

    assert (transcript.text, transcript.duration_s) == ("Good morning.", 3.0)
    assert [asked["response_format"] for asked in server.heard] == ["json"]


async def test_rejected_response_format_is_retried_without_it(
    server: SpeechServer,
) -> None:
    """Once."""
    server.troubles = [(400, "Currently only support response_format `text` or `json`")]
    assert (await heard(server.url)).text == "Good morning."

    assert ["response_format" in asked for asked in server.heard] == [False]


async def test_empty_transcription_raises_no_speech_and_is_recorded_done(
    server: SpeechServer,
) -> None:
    """It was listened to, and is paid for."""
    purse = Purse()
    server.hears = "  "
    with pytest.raises(NoSpeechDetected):
        await heard(server.url, purse=purse)

    assert [call.outcome for call in purse.calls] == ["done"]


async def test_transcription_with_high_no_speech_probability_is_rejected(
    server: SpeechServer,
) -> None:
    """Whisper thanks for watching where nobody speaks."""
    server.hears, server.silence = "Thank you for watching!", 0.9
    with pytest.raises(NoSpeechDetected):
        await heard(server.url)


async def test_too_large_a_recording_is_never_sent(server: SpeechServer) -> None:
    """It is told how large it is."""
    with pytest.raises(AudioTooLarge, match=r"21\.0 MB; at most 20 MB"):
        await heard(server.url, VOICE + bytes(MAX_AUDIO_BYTES + (1 << 20) - len(VOICE)))

    assert server.heard == []


async def test_recording_of_the_maximum_size_is_sent(server: SpeechServer) -> None:
    """Whole."""
    sound = VOICE.ljust(MAX_AUDIO_BYTES, b"\0")
    async with asyncio.timeout(30):
        link = ProviderClient(build_model_config("mine:whisper-1", base_url=server.url))
        await RemoteTranscriber(link, Purse()).transcribe(sound, mime="", language=None)
        await link.close()

    (asked,) = server.heard
    assert asked["file"] == ("voice.ogg", "audio/ogg", sound)


FAILURES: list[tuple[int, str, type[ModelError], str]] = [
    (429, "slow down", ModelUnavailable, "busy"),
    (500, "oops", ModelUnavailable, "failing"),
    (503, "full", ModelUnavailable, "failing"),
    (402, "pay", ModelUnavailable, "unpaid"),
    (429, "insufficient_quota", ModelUnavailable, "unpaid"),
    (401, SECRET, ApiKeyRejected, ""),
    (403, "no", ApiKeyRejected, ""),
    (404, "no such model", ModelMisconfigured, ""),
    (413, "big", AudioTooLarge, ""),
    (400, "The audio file could not be decoded", RequestRejected, ""),
]


@pytest.mark.parametrize(("status", "text", "error", "outage"), FAILURES)
async def test_http_failures_map_to_errors_without_retry_or_key_leak(
    server: SpeechServer, status: int, text: str, error: type[ModelError], outage: str
) -> None:
    """May pass, will not, or is set up wrongly; each is kept, and none quotes the key."""
    purse = Purse()
    server.troubles = [(status, text, {"retry-after": "7"})]
    with pytest.raises(error) as raised:
        await heard(server.url, key=SECRET, purse=purse)

    assert SECRET not in str(raised.value)
    assert len(server.headers) == 1
    (call,) = purse.calls
    assert call.outcome == ("refused" if issubclass(error, RequestRejected) else "failed")
    assert call.error == str(raised.value)
    if isinstance(raised.value, ModelUnavailable):
        assert raised.value.outage == outage
        assert outage == "unpaid" or raised.value.retry_after_s == 7.0


async def test_timeout_reset_or_refused_connection_raises_model_unavailable(
    server: SpeechServer,
) -> None:
    """Hung, reset, not there."""
    for trouble, words in (("hang", "in time"), ("reset", "lost")):
        server.troubles = [trouble]
        with pytest.raises(ModelUnavailable, match=words):
            await heard(server.url)
    with pytest.raises(ModelUnavailable, match="Is it running"):
        await heard("http://127.0.0.1:9/v1")


async def test_cancelled_transcription_is_recorded_as_cut_off(server: SpeechServer) -> None:
    """It may have cost something."""
    purse = Purse()
    server.troubles = ["hang"]
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await heard(server.url, purse=purse)

    assert [call.outcome for call in purse.calls] == ["cut off"]


@pytest.mark.parametrize("seconds", [10**400, 1e300, -1, True])
async def test_impossible_audio_duration_is_ignored(server: SpeechServer, seconds: float) -> None:
    """The words are taken all the same."""
    server.hears = {"text": "hello", "duration": seconds, "usage": {"seconds": seconds}}
    transcript = await heard(server.url)

    assert transcript.text == "hello"
    assert transcript.duration_s is None or transcript.duration_s < 60


@pytest.mark.parametrize("body", [[], {"text": 7}, {"words": "x"}, {"text": None}, None, 7])
async def test_response_without_a_transcript_raises_broken_output(
    server: SpeechServer, body: object
) -> None:
    """It was answered all the same, and is kept as failed."""
    purse = Purse()
    server.hears = body
    with pytest.raises(BrokenOutput):
        await heard(server.url, purse=purse)

    assert [call.outcome for call in purse.calls] == ["failed"]


async def test_html_or_truncated_response_raises_a_model_error() -> None:
    """HTML with a 200, a body that ends too early."""
    html = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>"
    short = "HTTP/1.1 200 OK\r\ncontent-length: 600\r\n\r\n{"
    for script, error in ((html, BrokenOutput), (short, ModelUnavailable)):
        async with raw_multipart(script) as url:
            with pytest.raises(error):
                await heard(url)


@asynccontextmanager
async def raw_multipart(script: str) -> AsyncIterator[str]:
    """A server that reads nothing but the head, and sends this."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(
            line for line in head.decode().lower().splitlines() if line.startswith("content-length")
        )
        await reader.readexactly(int(length.partition(":")[2]))
        writer.write(script.encode())
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


async def test_speech_is_requested_as_opus(server: SpeechServer) -> None:
    """As voice messages have to be."""
    speech = await spoken(server.url)

    assert speech.is_opus
    assert speech.mime == "audio/ogg"
    assert speech.duration_s == pytest.approx(0.5, abs=0.01)
    assert server.spoken == [
        {"model": "tts-1", "input": "Hello.", "voice": "alloy", "response_format": "opus"}
    ]


async def test_speech_falls_back_to_mp3_without_opus_support(server: SpeechServer) -> None:
    """And it is not called Opus."""
    server.formats = {"mp3": "tone.mp3"}
    speech = await spoken(server.url)

    assert not speech.is_opus
    assert speech.mime == "audio/mpeg"
    assert len(server.spoken) == 2


async def test_speech_format_is_detected_from_its_bytes(server: SpeechServer) -> None:
    """Some send something else than they were asked for, under the name of what was asked."""
    server.speaks = (SOUNDS / "tone.wav").read_bytes()
    speech = await spoken(server.url)

    assert (speech.mime, speech.is_opus) == ("audio/wav", False)


@pytest.mark.parametrize("sound", [b"", b'{"error": "busy"}', b"<html></html>"])
async def test_response_that_is_not_audio_raises_broken_output(
    server: SpeechServer, sound: bytes
) -> None:
    """Whatever status it came with."""
    server.speaks = sound
    with pytest.raises(BrokenOutput):
        await spoken(server.url)


async def test_unknown_voice_is_rejected_with_the_provider_message(server: SpeechServer) -> None:
    """So that somebody can choose another."""
    with pytest.raises(RequestRejected, match="voice must be one of"):
        await spoken(server.url, voice="nobody")


async def test_exhausted_allowance_blocks_paid_but_not_local_transcription() -> None:
    """What runs on this machine costs nothing and goes on."""
    with speech_server() as here:
        assert (await heard(here.url, purse=Purse(left=0))).text == "Good morning."
    with pytest.raises(AllowanceUsedUp):
        await heard("http://10.255.255.1/v1", purse=Purse(left=0))


def test_speech_prices_are_computed_or_unknown() -> None:
    """Unknown is not nothing."""
    whisper = build_model_config("openai:whisper-1", key="k")
    groq = build_model_config("groq:whisper-large-v3-turbo", key="k")

    assert compute_transcription_price(whisper, 60) == 6_000
    assert compute_transcription_price(whisper, 1.001) == 101
    assert compute_transcription_price(whisper, None) is None
    assert compute_transcription_price(groq, 2) == compute_transcription_price(groq, 10) == 112
    assert compute_transcription_price(build_model_config("openai:new-one", key="k"), 60) is None
    elsewhere = build_model_config("openai:whisper-1", base_url="https://x.example/v1")
    assert compute_transcription_price(elsewhere, 60) is None
    assert compute_transcription_price(build_model_config("vllm:whisper-1"), 60) == 0
    assert compute_speech_price(build_model_config("openai:tts-1", key="k"), "hello", None) == 75
    assert (
        compute_speech_price(build_model_config("openai:gpt-4o-mini-tts", key="k"), "hi", 60)
        == 15_000
    )
    assert compute_speech_price(build_model_config("groq:any", key="k"), "hi", 60) is None


async def test_recorded_speech_calls_have_duration_and_cost(server: SpeechServer) -> None:
    """Here it is free, so 0; the words are in it, for whoever asks again."""
    purse = Purse()
    await heard(server.url, purse=purse)
    await spoken(server.url, purse=purse)

    first, second = (call.completion for call in purse.calls)
    assert first is not None
    assert second is not None
    assert [call.request.purpose for call in purse.calls] == ["transcription", "speech"]
    assert (first.text, first.audio_s, first.cost) == ("Good morning.", 7.0, 0)
    assert (second.text, second.cost) == ("", 0)
    assert second.audio_s == pytest.approx(0.5, abs=0.01)
