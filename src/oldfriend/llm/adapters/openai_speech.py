"""OpenAI speech: transcription and speech synthesis over OpenAI's API and its many imitations.

Uses POST …/audio/transcriptions and …/audio/speech, at a provider or on this machine. Each request
is charged to an account and sent once; retrying is up to the caller.
"""

import asyncio
import math
from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Generic, Literal, TypeVar

import httpx2

from oldfriend.domain.audio_formats import detect_audio_format, find_duration_s
from oldfriend.domain.errors import (
    ApiKeyRejected,
    AudioTooLarge,
    BrokenOutput,
    ModelError,
    ModelMisconfigured,
    ModelRefusal,
    ModelUnavailable,
    NoSpeechDetected,
    OutageKind,
    RequestRejected,
)
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.json import JsonValue
from oldfriend.llm.adapters import error_texts
from oldfriend.llm.adapters.http_connections import open_http_client
from oldfriend.llm.adapters.remote_embeddings import (
    TRANSIENT_STATUSES,
    parse_retry_after,
    quote_response,
)
from oldfriend.llm.embedding import Account
from oldfriend.llm.model import CallOutcome, Completion, ModelCall, Purpose
from oldfriend.llm.providers import PROVIDERS, ModelConfig, is_free
from oldfriend.llm.speech import (
    MAX_AUDIO_BYTES,
    Speech,
    Transcription,
    build_audio_request,
    check_audio_size,
    parse_speech,
)

MINUTE_S: Final = 60
TRANSCRIPTION_PRICES: Final = MappingProxyType(
    {
        "openai:whisper-1": 6_000,
        "openai:gpt-4o-transcribe": 6_000,
        "openai:gpt-4o-mini-transcribe": 3_000,
        "groq:whisper-large-v3": 1_850,
        "groq:whisper-large-v3-turbo": 667,
    }
)
"""Millionths of a dollar per minute, as published by the providers."""
SPEECH_PRICES: Final = MappingProxyType({"openai:gpt-4o-mini-tts": 15_000})
"""Millionths of a dollar per minute, OpenAI's estimate; it bills tokens that it does not report."""
SPEECH_CHARACTER_PRICES: Final = MappingProxyType({"openai:tts-1": 15, "openai:tts-1-hd": 30})
"""Millionths of a dollar per character."""
MIN_BILLED_S: Final = MappingProxyType({"groq": 10.0})
"""Minimum seconds that are billed."""

QUOTA_ERROR: Final = "insufficient_quota"
AudioRole = Literal["transcriber", "speaker"]

T = TypeVar("T")

VERBOSE_MODEL: Final = "whisper"
"""Models with this in their name report language, duration and the probability of silence."""
NO_SPEECH_THRESHOLD: Final = 0.6
LOGPROB_THRESHOLD: Final = -1.0
"""Whisper's own thresholds for silence: probably no speech, and low confidence in the words."""
MAX_DURATION_S: Final = 1e6
"""Limit for one recording; a longer reported duration is taken for an error."""
FORMAT_FIELD: Final = "response_format"
UNSUPPORTED_STATUSES: Final = frozenset({400, 415, 422})


@dataclass(slots=True)
class ProviderClient:
    """Connections to one provider, shared by all that use it and opened at the first use."""

    config: ModelConfig
    http: httpx2.AsyncClient | None = None

    def open_http(self) -> httpx2.AsyncClient:
        """Open the connections; those to this machine use no proxy."""
        if self.http is None:
            key, url = self.config.key, self.config.base_url
            self.http = open_http_client(
                url,
                base=f"{url.rstrip('/')}/",
                headers={"Authorization": f"Bearer {key}"} if key else {},
                timeout=httpx2.Timeout(
                    self.config.timeouts.total_s, connect=self.config.timeouts.connect_s
                ),
            )
        return self.http

    async def close(self) -> None:
        """Close the connections."""
        if self.http is not None:
            await self.http.aclose()
            self.http = None


@dataclass(frozen=True, slots=True, kw_only=True)
class BilledResult(Generic[T]):
    """Result of a response, usable or not, and the completion that records its cost."""

    value: T | ModelError
    completion: Completion


class RemoteTranscriber:
    """Transcriber that uses a provider's model."""

    def __init__(self, client: ProviderClient, account: Account) -> None:
        """Take the provider and the account to charge."""
        self.model = client.config.model
        self._client = client
        self._account = account

    def with_account(self, account: Account) -> "RemoteTranscriber":
        """Return a transcriber that shares these connections and charges another account."""
        return RemoteTranscriber(self._client, account)

    async def transcribe(self, audio: bytes, *, mime: str, language: str | None) -> Transcription:
        """Transcribe a recording; see the protocol for errors."""
        check_audio_size(audio)
        config, audio_format = self._client.config, detect_audio_format(audio, claimed_mime=mime)
        fields = {"model": config.name}
        if language:
            fields["language"] = language[:2].lower()
        file = (f"voice.{audio_format.extension}", audio, audio_format.mime)

        async def post(how: Mapping[str, str]) -> httpx2.Response:
            return await self._client.open_http().post(
                "audio/transcriptions", data={**fields, **how}, files={"file": file}
            )

        is_verbose = VERBOSE_MODEL in config.name.lower()
        options = {FORMAT_FIELD: "verbose_json" if is_verbose else "json"}
        transcription = await call_and_record(
            config,
            self._account,
            "transcription",
            lambda: send_request(config, post, options, "transcriber"),
            lambda answer: parse_transcription(config, answer, find_duration_s(audio)),
        )
        if not transcription.text:
            raise NoSpeechDetected(
                localizable("nothing_heard", f"{config.model} found no words in the recording.")
            )
        return transcription


class RemoteSynthesizer:
    """Speech synthesizer that uses a provider's model."""

    def __init__(self, client: ProviderClient, voice: str, account: Account) -> None:
        """Take the provider, the voice and the account to charge."""
        self.model = client.config.model
        self.voice = voice
        self._client = client
        self._account = account

    def with_account(self, account: Account) -> "RemoteSynthesizer":
        """Return a synthesizer that shares these connections and charges another account."""
        return RemoteSynthesizer(self._client, self.voice, account)

    async def synthesize(self, text: str, *, language: str | None) -> Speech:
        """Speak a text; see the protocol for errors. The provider detects the language itself."""
        del language
        config = self._client.config
        fields = {"model": config.name, "input": text, "voice": self.voice}

        async def post(how: Mapping[str, str]) -> httpx2.Response:
            return await self._client.open_http().post("audio/speech", json={**fields, **how})

        return await call_and_record(
            config,
            self._account,
            "speech",
            lambda: send_request(config, post, {FORMAT_FIELD: "opus"}, "speaker"),
            lambda answer: parse_speech_response(config, answer, text),
        )


async def call_and_record(
    config: ModelConfig,
    account: Account,
    purpose: Purpose,
    send: Callable[[], Awaitable[httpx2.Response]],
    parse: Callable[[httpx2.Response], BilledResult[T]],
) -> T:
    """Send one request charged to an account, and record it however it ends."""
    now = asyncio.get_running_loop().time
    if not is_free(config):
        await account.check()
    started = now()

    async def keep(outcome: CallOutcome, paid: Completion | None, why: str | None) -> None:
        call = ModelCall(
            request=build_audio_request(purpose),
            model=config.model,
            outcome=outcome,
            completion=paid,
            error=why,
            latency_us=round((now() - started) * 1_000_000),
        )
        await account.record(call)

    try:
        response = await send()
    except CancelledError:
        await keep("cut off", None, "It was stopped, or took too long.")
        raise
    except ModelError as error:
        await keep("refused" if isinstance(error, ModelRefusal) else "failed", None, str(error))
        raise
    result = parse(response)
    if isinstance(result.value, ModelError):
        await keep("failed", result.completion, str(result.value))
        raise result.value
    await keep("done", result.completion, None)
    return result.value


async def send_request(
    config: ModelConfig,
    post: Callable[[Mapping[str, str]], Awaitable[httpx2.Response]],
    options: Mapping[str, str],
    audio_role: AudioRole,
) -> httpx2.Response:
    """Return a successful response; if the provider rejects `options`, ask again without them."""
    try:
        response = await post(options)
        if response.status_code in UNSUPPORTED_STATUSES and FORMAT_FIELD in response.text:
            response = await post({})
    except httpx2.HTTPError as error:
        raise map_transport_error(config, error) from error
    if response.status_code != httpx2.codes.OK:
        raise map_audio_error(config, response, audio_role)
    return response


def parse_transcription(
    config: ModelConfig, response: httpx2.Response, measured_s: float | None
) -> BilledResult[Transcription]:
    """Parse a transcription; the duration is the reported one, or else the measured one."""
    body = parse_json_object(response)
    seconds = read_duration(body) or measured_s
    text = body.get("text")
    cost = compute_transcription_price(config, seconds)
    if not isinstance(text, str):
        error = BrokenOutput(
            localizable(
                "answer_no_transcript",
                f"{config.model} answered with something that is not a transcript.",
                model=config.model,
            )
        )
        return BilledResult(
            value=error, completion=build_audio_completion(config, "", cost, seconds)
        )
    transcript = "" if is_silent(body.get("segments")) else text.strip()
    language = body.get("language")
    transcription = Transcription(
        text=transcript,
        language=language if isinstance(language, str) else None,
        duration_s=seconds,
    )
    return BilledResult(
        value=transcription, completion=build_audio_completion(config, transcript, cost, seconds)
    )


def parse_speech_response(
    config: ModelConfig, response: httpx2.Response, text: str
) -> BilledResult[Speech]:
    """Parse a response as speech, detecting the format from its bytes."""
    speech = parse_speech(response.content) if len(response.content) <= MAX_AUDIO_BYTES else None
    seconds = None if speech is None else speech.duration_s
    completion = build_audio_completion(
        config, "", compute_speech_price(config, text, seconds), seconds
    )
    if speech is None:
        error = BrokenOutput(
            localizable(
                "answer_no_sound",
                f"{config.model} answered with something that is not audio.",
                model=config.model,
            )
        )
        return BilledResult(value=error, completion=completion)
    return BilledResult(value=speech, completion=completion)


def build_audio_completion(
    config: ModelConfig, text: str, cost: int | None, seconds: float | None
) -> Completion:
    """Build the completion for the record of a response."""
    return Completion(model=config.model, text=text, cost=cost, audio_s=seconds)


def parse_json_object(response: httpx2.Response) -> Mapping[str, JsonValue]:
    """Return the JSON object of a response, or {} if there is none."""
    try:
        body: JsonValue = response.json()
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def read_duration(body: Mapping[str, JsonValue]) -> float | None:
    """Return the duration that the provider reports or bills, in seconds."""
    usage = body.get("usage")
    for value in (usage.get("seconds") if isinstance(usage, dict) else None, body.get("duration")):
        if (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and 0 < value < MAX_DURATION_S
        ):
            return float(value)
    return None


def is_silent(segments: JsonValue) -> bool:
    """Tell whether all segments of a transcript were guessed from silence."""
    if not isinstance(segments, list) or not segments:
        return False
    return all(
        isinstance(each, dict)
        and is_number_over(each.get("no_speech_prob"), NO_SPEECH_THRESHOLD)
        and not is_number_over(each.get("avg_logprob", 0.0), LOGPROB_THRESHOLD)
        for each in segments
    )


def is_number_over(value: JsonValue, limit: float) -> bool:
    """Tell whether a value is a number greater than `limit`."""
    return isinstance(value, int | float) and value > limit


def map_transport_error(config: ModelConfig, error: httpx2.HTTPError) -> ModelUnavailable:
    """Map a transport error to ModelUnavailable."""
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return ModelUnavailable(error_texts.format_unreachable(config))
    if isinstance(error, httpx2.TimeoutException):
        return ModelUnavailable(error_texts.format_timeout(config), outage="slow")
    return ModelUnavailable(error_texts.format_connection_lost(config))


def map_audio_error(
    config: ModelConfig, response: httpx2.Response, audio_role: AudioRole
) -> ModelError:
    """Map an error response to a model error; `role` is what the model was asked as."""
    status, quoted = response.status_code, quote_response(config, response)
    if status == 402 or (status == 429 and QUOTA_ERROR in response.text):
        return ModelUnavailable(error_texts.format_unpaid(config), outage="unpaid")
    if status in TRANSIENT_STATUSES or status >= 500:
        outage: OutageKind = "busy" if status == 429 else "failing"
        return ModelUnavailable(
            error_texts.format_failure(config, quoted, status=status),
            outage=outage,
            retry_after_s=parse_retry_after(response.headers),
        )
    if status in {401, 403}:
        return ApiKeyRejected(error_texts.format_key_refused(config, audio_role))
    if status in {404, 405}:
        return ModelMisconfigured(error_texts.format_unknown_model(config, audio_role, audio_role))
    if status == 413:
        return AudioTooLarge(
            localizable(
                "recording_too_large",
                f"The recording is larger than {config.model} accepts.",
                model=config.model,
            )
        )
    return RequestRejected(error_texts.format_rejected(config, quoted, status=status))


def compute_transcription_price(config: ModelConfig, duration_s: float | None) -> int | None:
    """Return the cost in millionths of a dollar, rounded up; None if unknown, 0 only if free."""
    if is_free(config):
        return 0
    return compute_minute_price(config, TRANSCRIPTION_PRICES.get(config.model), duration_s)


def compute_speech_price(config: ModelConfig, text: str, duration_s: float | None) -> int | None:
    """Return the cost in millionths of a dollar, rounded up; None if unknown, 0 only if free."""
    if is_free(config):
        return 0
    character_price = SPEECH_CHARACTER_PRICES.get(config.model)
    if character_price is not None and is_official_endpoint(config):
        return character_price * len(text)
    return compute_minute_price(config, SPEECH_PRICES.get(config.model), duration_s)


def compute_minute_price(
    config: ModelConfig, price: int | None, duration_s: float | None
) -> int | None:
    """Return the cost of a duration at a price per minute, rounded up; None if unknown."""
    if price is None or duration_s is None or not is_official_endpoint(config):
        return None
    return math.ceil(price * max(duration_s, MIN_BILLED_S.get(config.provider, 0.0)) / MINUTE_S)


def is_official_endpoint(config: ModelConfig) -> bool:
    """Tell whether the address is the provider's own, not another server under its name."""
    preset = PROVIDERS.get(config.provider)
    return preset is not None and config.base_url == preset.base_url
