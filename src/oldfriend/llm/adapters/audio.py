"""How is somebody reached who hears or speaks, over the network or in a server on this machine?

By the interface that OpenAI has and many imitate: POST …/audio/transcriptions and …/audio/speech.
Each request is charged to an account, and made once: whoever wants it again asks again. This
module does not know who talks, nor what becomes of the sound.
"""

import asyncio
from asyncio import CancelledError
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

import httpx2

from oldfriend.domain.errors import BrokenOutput, ModelError, ModelRefused, NothingHeard
from oldfriend.domain.json import JsonValue
from oldfriend.domain.sayings import saying
from oldfriend.domain.sounds import kind_of, seconds_of
from oldfriend.llm.adapters.audio_failing import Asked, failure, lost
from oldfriend.llm.adapters.speech_pricing import price_of_hearing, price_of_speaking
from oldfriend.llm.catalogue import Choice, is_free, is_on_this_machine
from oldfriend.llm.embedding import Account
from oldfriend.llm.model import Call, Completion, Outcome, Purpose
from oldfriend.llm.speech import (
    MOST_BYTES,
    Speech,
    Transcript,
    refuse_too_large,
    request_for,
    speech_of,
)

T = TypeVar("T")

TOLD_IN_FULL: Final = "whisper"
"""Models of this name tell the language and the length, and doubt what they made of silence."""
SILENT: Final = 0.6
UNSURE: Final = -1.0
"""What Whisper itself takes for silence: likely no speech, and a guess at the words."""
FORMAT: Final = "response_format"
NOT_TAKEN: Final = frozenset({400, 415, 422})


@dataclass(slots=True)
class Link:
    """The connections that all share who ask the same provider; opened at the first use."""

    choice: Choice
    http: httpx2.AsyncClient | None = None

    def connections(self) -> httpx2.AsyncClient:
        """Open, to the provider; what is on this machine is not reached through a proxy."""
        if self.http is None:
            key, url = self.choice.key, self.choice.base_url
            self.http = httpx2.AsyncClient(
                base_url=f"{url.rstrip('/')}/",
                headers={"Authorization": f"Bearer {key}"} if key else {},
                trust_env=not is_on_this_machine(url),
                timeout=httpx2.Timeout(
                    self.choice.patience.whole_s, connect=self.choice.patience.connect_s
                ),
            )
        return self.http

    async def close(self) -> None:
        """Let the connections go."""
        if self.http is not None:
            await self.http.aclose()
            self.http = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Gave(Generic[T]):
    """What an answer gave, and what it cost, whether or not it can be used."""

    value: T | ModelError
    paid: Completion


class ProvidedTranscriber:
    """A model of a provider that writes down what is said."""

    def __init__(self, link: Link, account: Account) -> None:
        """Remember whom to ask, and who pays."""
        self.model = link.choice.model
        self._link = link
        self._account = account

    def charged_to(self, account: Account) -> "ProvidedTranscriber":
        """The same, over the same connections, at another's expense."""
        return ProvidedTranscriber(self._link, account)

    async def transcribe(self, audio: bytes, *, mime: str, language: str | None) -> Transcript:
        """Write down what is said, as the protocol has it."""
        refuse_too_large(audio)
        choice, kind = self._link.choice, kind_of(audio, claimed=mime)
        fields = {"model": choice.name}
        if language:
            fields["language"] = language[:2].lower()
        file = (f"voice.{kind.extension}", audio, kind.mime)

        async def post(how: Mapping[str, str]) -> httpx2.Response:
            return await self._link.connections().post(
                "audio/transcriptions", data={**fields, **how}, files={"file": file}
            )

        in_full = TOLD_IN_FULL in choice.name.lower()
        wanted = {FORMAT: "verbose_json" if in_full else "json"}
        heard = await charged(
            choice, self._account, "transcription",
            lambda: asked(choice, post, wanted, "transcriber"),
            lambda answer: transcript_in(choice, answer, seconds_of(audio)),
        )  # fmt: skip
        if not heard.text:
            raise NothingHeard(
                saying("nothing_heard", f"{choice.model} hears no words in the recording.")
            )
        return heard


class ProvidedSpeaker:
    """A model of a provider that speaks."""

    def __init__(self, link: Link, voice: str, account: Account) -> None:
        """Remember whom to ask, in whose voice, and who pays."""
        self.model = link.choice.model
        self.voice = voice
        self._link = link
        self._account = account

    def charged_to(self, account: Account) -> "ProvidedSpeaker":
        """The same, over the same connections, at another's expense."""
        return ProvidedSpeaker(self._link, self.voice, account)

    async def speak(self, text: str, *, language: str | None) -> Speech:
        """Speak a text, as the protocol has it; the language is heard from the words."""
        del language
        choice = self._link.choice
        fields = {"model": choice.name, "input": text, "voice": self.voice}

        async def post(how: Mapping[str, str]) -> httpx2.Response:
            return await self._link.connections().post("audio/speech", json={**fields, **how})

        return await charged(
            choice, self._account, "speech",
            lambda: asked(choice, post, {FORMAT: "opus"}, "speaker"),
            lambda answer: speech_in(choice, answer, text),
        )  # fmt: skip


async def charged(
    choice: Choice, account: Account, purpose: Purpose,
    ask: Callable[[], Awaitable[httpx2.Response]], read: Callable[[httpx2.Response], Gave[T]],
) -> T:  # fmt: skip
    """Ask once at somebody's expense; that is kept however it ends."""
    now = asyncio.get_running_loop().time
    if not is_free(choice):
        await account.check()
    began = now()

    async def keep(outcome: Outcome, paid: Completion | None, why: str | None) -> None:
        call = Call(
            request=request_for(purpose), model=choice.model, outcome=outcome, completion=paid,
            error=why, latency_us=round((now() - began) * 1_000_000),
        )  # fmt: skip
        await account.record(call)

    try:
        answer = await ask()
    except CancelledError:
        await keep("cut off", None, "It was stopped, or took too long.")
        raise
    except ModelError as error:
        await keep("refused" if isinstance(error, ModelRefused) else "failed", None, str(error))
        raise
    gave = read(answer)
    if isinstance(gave.value, ModelError):
        await keep("failed", gave.paid, str(gave.value))
        raise gave.value
    await keep("done", gave.paid, None)
    return gave.value


async def asked(
    choice: Choice, post: Callable[[Mapping[str, str]], Awaitable[httpx2.Response]],
    wanted: Mapping[str, str], what: Asked,
) -> httpx2.Response:  # fmt: skip
    """What a provider answers, if it is no failure; without our wish where it does not take it."""
    try:
        answer = await post(wanted)
        if answer.status_code in NOT_TAKEN and FORMAT in answer.text:
            answer = await post({})
    except httpx2.HTTPError as error:
        raise lost(choice, error) from error
    if answer.status_code != httpx2.codes.OK:
        raise failure(choice, answer, what)
    return answer


def transcript_in(
    choice: Choice, answer: httpx2.Response, measured: float | None
) -> Gave[Transcript]:
    """What a provider has written down; as long as it says, else as was measured."""
    said = object_in(answer)
    seconds = seconds_told(said) or measured
    text = said.get("text")
    cost = price_of_hearing(choice, seconds)
    if not isinstance(text, str):
        broken = BrokenOutput(saying(
            "answer_no_transcript",
            f"{choice.model} answered with something that is no transcript.", model=choice.model,
        ))  # fmt: skip
        return Gave(value=broken, paid=paid_for(choice, "", cost, seconds))
    words = "" if is_silence(said.get("segments")) else text.strip()
    told = said.get("language")
    heard = Transcript(
        text=words, language=told if isinstance(told, str) else None, seconds=seconds
    )
    return Gave(value=heard, paid=paid_for(choice, words, cost, seconds))


def speech_in(choice: Choice, answer: httpx2.Response, text: str) -> Gave[Speech]:
    """What a provider has spoken, whatever it says that it is."""
    speech = speech_of(answer.content) if len(answer.content) <= MOST_BYTES else None
    seconds = None if speech is None else speech.seconds
    paid = paid_for(choice, "", price_of_speaking(choice, text, seconds), seconds)
    if speech is None:
        broken = BrokenOutput(saying(
            "answer_no_sound", f"{choice.model} answered with something that is no sound.",
            model=choice.model,
        ))  # fmt: skip
        return Gave(value=broken, paid=paid)
    return Gave(value=speech, paid=paid)


def paid_for(choice: Choice, text: str, cost: int | None, seconds: float | None) -> Completion:
    """What the record says of what came back."""
    return Completion(model=choice.model, text=text, cost=cost, sound_s=seconds)


def object_in(answer: httpx2.Response) -> Mapping[str, JsonValue]:
    """The object in an answer; an empty one where there is none."""
    try:
        said: JsonValue = answer.json()
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


def seconds_told(said: Mapping[str, JsonValue]) -> float | None:
    """How many seconds a provider says that it has heard, or charged."""
    usage = said.get("usage")
    for told in (usage.get("seconds") if isinstance(usage, dict) else None, said.get("duration")):
        if isinstance(told, int | float) and not isinstance(told, bool) and told > 0:
            return float(told)
    return None


def is_silence(segments: JsonValue) -> bool:
    """Whether all that was made of a recording was guessed from silence."""
    if not isinstance(segments, list) or not segments:
        return False
    return all(
        isinstance(each, dict)
        and is_number_over(each.get("no_speech_prob"), SILENT)
        and not is_number_over(each.get("avg_logprob", 0.0), UNSURE)
        for each in segments
    )


def is_number_over(value: JsonValue, limit: float) -> bool:
    """Whether it is a number, and a greater one."""
    return isinstance(value, int | float) and value > limit
