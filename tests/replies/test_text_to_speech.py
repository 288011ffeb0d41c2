"""A reply is spoken when that is wanted, paid for once, and is text where it fails."""

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from oldfriend.app.app_context import AppContext
from oldfriend.config.settings import Settings
from oldfriend.config.settings_schema import BudgetSettings, ProviderSettings, SpeechSettings
from oldfriend.domain.clock import HOUR, SECOND
from oldfriend.domain.ids import MessageId
from oldfriend.forgetting.delete import forget
from oldfriend.inbound.accept import ChatContext
from oldfriend.inbound.audio_storage import SPEECH_RETENTION, find_audio_folder, sweep_audio
from oldfriend.llm.embedding import Account
from oldfriend.llm.speech import MAX_SPOKEN_CHARS, Speech, SpeechSynthesizer
from oldfriend.memory.attachments import list_attachments
from oldfriend.memory.deletion.selection import DeletionRequest
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, load_phrases
from oldfriend.queues.outbox import parse_reply_part
from oldfriend.queues.queue import list_jobs
from oldfriend.replies.text_to_speech import extract_speakable, synthesize_reply
from oldfriend.runtime.wiring import open_app
from tests.chat_fixtures import Say
from tests.clock import FrozenClock
from tests.fakes.speech_server import SpeechServer, speech_server
from tests.replies.test_unprompted_messages import MILK, send, with_phone

VOICE = (Path(__file__).parents[1] / "data/sounds/voice.ogg").read_bytes()
CAT = "My cat is called Miso."
ASKED = {
    "en": [
        "Please answer with a voice message",
        "can you read it to me out loud?",
        "send me a voice note",
        "say it out loud",
    ],
    "es": [
        "Respóndeme con un mensaje de voz",
        "léelo en voz alta, por favor",
        "mándame un audio",
        "¿puedes mandarme una nota de voz?",
    ],
    "de": [
        "Antworte bitte mit einer Sprachnachricht",
        "lies es mir laut vor",
        "schick mir eine Sprachnachricht",
        "sag es mit deiner Stimme",
    ],
    "fr": [
        "Réponds-moi par message vocal",
        "lis-le à voix haute",
        "envoie-moi un vocal",
        "tu peux m'envoyer une note vocale ?",
    ],
    "pt": [
        "Responde com uma mensagem de voz",
        "lê em voz alta, por favor",
        "me manda um áudio",
        "podes mandar uma nota de voz?",
    ],
    "it": [
        "Rispondimi con un messaggio vocale",
        "leggilo ad alta voce",
        "mandami un audio",
        "puoi mandarmi una nota vocale?",
    ],
    "ja": ["声で答えて", "音声メッセージを送ってくれる？", "声に出して読んで"],
    "zh": ["用语音回答我", "发一条语音给我", "念给我听", "大声读一下"],
}
NOT_ASKED = [
    "I sent Ana a letter",
    "My voice is hoarse today",
    "He has a loud voice",
    "No tengo voz",
    "Meine Stimme ist weg",
    "J'ai perdu ma voix",
    "我嗓子哑了",
    "Perdi a voz",
    "Oggi sono senza voce",
    "声がかれた",
    "What do you say?",
    "the voice message from Otto was long",
    "Ich habe laut gelacht",
]
pytestmark = pytest.mark.usefixtures("settings_folder")


@pytest.fixture
def server() -> Iterator[SpeechServer]:
    """It speaks a tone."""
    with speech_server() as server:
        yield server


@pytest.fixture
def settings(settings: Settings, server: SpeechServer) -> Settings:
    """Those of somebody who hears every reply."""
    return replace(
        settings,
        speech=SpeechSettings(speaker="mine:tts-1", speaks="always"),
        providers={"mine": ProviderSettings(base_url=server.url)},
    )


def by(app: AppContext, **chosen: Any) -> AppContext:
    """The same house by other settings for speech."""
    speech = replace(app.settings.speech, **chosen)
    return replace(app, settings=replace(app.settings, speech=speech))


async def reply_to(say: Say, text: str = CAT) -> MessageId:
    """The reply to something."""
    return (await say(text)).reply.id


def files_of(app: AppContext, chat_context: ChatContext) -> list[Path]:
    """The files of sounds; none where a server keeps them."""
    folder = find_audio_folder(app.settings)
    return [] if folder is None else sorted((folder / chat_context.person.id).glob("*"))


async def kept_of(app: AppContext, chat_context: ChatContext) -> list[tuple[str, str]]:
    """What is kept of what was spoken: in which voice, and what it is."""
    async with app.db.begin_read() as tx:
        return [
            (each.voice, each.mime) for each in await list_attachments(tx, chat_context.person.id)
        ]


async def test_reply_is_synthesized_once_and_reused(
    app: AppContext, chat_context: ChatContext, say: Say, server: SpeechServer
) -> None:
    """Whoever was cut off while sending it does not pay again; it is charged to the person."""
    reply = await reply_to(say)
    first = await synthesize_reply(app, chat_context.person.id, reply)
    again = await synthesize_reply(app, chat_context.person.id, reply)
    async with app.db.begin_read() as tx:
        calls = await tx.rows(
            """SELECT person, outcome, cost, answer FROM model_call WHERE purpose = 'speech'"""
        )

    assert first is not None
    assert first.is_opus
    assert again == first
    assert first.audio == VOICE
    assert len(server.spoken) == 1
    assert calls == [(chat_context.person.id, "done", 0, None)]
    assert await kept_of(app, chat_context) == [("mine:tts-1/alloy", "audio/ogg")]


async def test_what_is_said_unasked_is_spoken_where_every_reply_is(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Behind its text, on a platform (ACCEPTANCE L22)."""
    await say(CAT, channel="phone")
    phones = with_phone(app)
    parts: dict[str, list[bool]] = {}
    for mode in ("always", "asked"):
        message = replace(MILK, dedup_key=f"task/{mode}")
        sent = await send(by(phones, speaks=mode), chat_context, message)
        assert sent is not None
        async with app.db.begin_read() as tx:
            jobs = await list_jobs(tx, is_dead_letter=False)
        waiting = [parse_reply_part(job) for job in jobs if job.queue == "outbox"]
        parts[mode] = [each.is_audio for each in waiting if each.reply == sent.id]
    assert parts == {"always": [False, True], "asked": [False]}


async def test_reply_is_synthesized_again_for_another_voice(
    app: AppContext, chat_context: ChatContext, say: Say, server: SpeechServer, settings: Settings
) -> None:
    """The voice belongs to what is kept."""
    reply = await reply_to(say)
    await synthesize_reply(app, chat_context.person.id, reply)
    other = replace(settings, speech=replace(settings.speech, voice="nova"))
    async with open_app(other, clock=app.clock) as there:
        await synthesize_reply(there, chat_context.person.id, reply)

    assert [asked["voice"] for asked in server.spoken] == ["alloy", "nova"]


async def test_speaks_setting_decides_which_replies_are_spoken(
    app: AppContext, chat_context: ChatContext, say: Say, server: SpeechServer
) -> None:
    """Never, when somebody asks for it in words, or always."""
    plain = await reply_to(say)
    wanted = await reply_to(say, "Tell me with a voice message what my cat is called")
    told = {
        speaks: [
            await synthesize_reply(by(app, speaks=speaks), chat_context.person.id, each) is not None
            for each in (plain, wanted)
        ]
        for speaks in ("never", "asked", "always")
    }

    assert told == {"never": [False, False], "asked": [False, True], "always": [True, True]}
    assert await synthesize_reply(replace(app, speaker=None), chat_context.person.id, plain) is None


@pytest.mark.parametrize("language", OFFLINE_LANGUAGES)
def test_request_for_a_spoken_reply_is_recognized_in_every_language(language: str) -> None:
    """And nobody is taken to have it who only speaks of voices."""
    wish = load_phrases(language).patterns.aloud

    assert [text for text in ASKED[language] if not wish.search(text)] == []
    assert [text for text in NOT_ASKED if wish.search(text)] == []


@pytest.mark.parametrize("trouble", [(503, "full"), (401, "who?"), (400, "no"), "reset"])
async def test_failed_speech_synthesis_falls_back_to_text(
    app: AppContext, chat_context: ChatContext, say: Say, server: SpeechServer, trouble: Any
) -> None:
    """Nothing is raised, nothing kept; the next try may go well."""
    reply = await reply_to(say)
    server.troubles = [trouble]

    assert await synthesize_reply(app, chat_context.person.id, reply) is None
    assert await kept_of(app, chat_context) == []
    assert await synthesize_reply(app, chat_context.person.id, reply) is not None


async def test_speech_synthesis_over_budget_makes_no_call(
    app: AppContext, chat_context: ChatContext, say: Say, settings: Settings, server: SpeechServer
) -> None:
    """Nobody is asked."""
    reply = await reply_to(say)
    poor = replace(
        settings,
        budget=BudgetSettings(all_per_day=0),
        speech=SpeechSettings(speaker="mine:tts:cloud", speaks="always"),
    )
    async with open_app(poor, clock=app.clock) as other:
        assert await synthesize_reply(other, chat_context.person.id, reply) is None

    assert server.spoken == []


async def test_forgetting_deletes_spoken_replies(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """With the message it answers, where the reply repeats it, or alone."""
    await say(f"Remember: {CAT}")
    repeats = await reply_to(say, "What is my cat called?")
    await synthesize_reply(app, chat_context.person.id, repeats)
    assert len(await kept_of(app, chat_context)) == 1
    report = await forget(app, chat_context.person.id, DeletionRequest(about="Miso"))

    assert report.is_proved
    assert await kept_of(app, chat_context) == []
    assert files_of(app, chat_context) == []


async def test_forgotten_reply_is_not_spoken(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """It was forgotten while it waited to be sent."""
    reply = await reply_to(say)
    await forget(app, chat_context.person.id, DeletionRequest(ids=(reply,)))

    assert await synthesize_reply(app, chat_context.person.id, reply) is None


@dataclass(frozen=True, slots=True)
class Slow:
    """Speaks, and meanwhile something happens."""

    inner: SpeechSynthesizer
    meanwhile: Callable[[], Awaitable[object]]

    @property
    def model(self) -> str:
        """The same."""
        return self.inner.model

    @property
    def voice(self) -> str:
        """The same."""
        return self.inner.voice

    def with_account(self, account: Account) -> SpeechSynthesizer:
        """As slow at another's expense."""
        return Slow(self.inner.with_account(account), self.meanwhile)

    async def synthesize(self, text: str, *, language: str | None) -> Speech:
        """Speak; it has happened by then."""
        speech = await self.inner.synthesize(text, language=language)
        await self.meanwhile()
        return speech


async def test_reply_forgotten_during_speech_synthesis_leaves_nothing(
    app: AppContext, chat_context: ChatContext, say: Say
) -> None:
    """Neither a row nor a file, and it is not sent."""
    reply = await reply_to(say)
    wish = DeletionRequest(ids=(reply,))
    assert app.speaker is not None
    slow = replace(
        app, speaker=Slow(app.speaker, lambda: forget(app, chat_context.person.id, wish))
    )

    assert await synthesize_reply(slow, chat_context.person.id, reply) is None
    assert (await kept_of(app, chat_context), files_of(app, chat_context)) == ([], [])


async def test_old_spoken_replies_are_deleted_by_the_sweep(
    app: AppContext, chat_context: ChatContext, say: Say, clock: FrozenClock
) -> None:
    """It can be spoken again."""
    await synthesize_reply(app, chat_context.person.id, await reply_to(say))
    times = [each.stat().st_mtime for each in files_of(app, chat_context)]
    clock.now = (
        max([clock.now, *(round(each * SECOND) for each in times)]) + SPEECH_RETENTION + HOUR
    )
    clock.now += HOUR
    await sweep_audio(app.db, app.clock, app.settings)

    assert await kept_of(app, chat_context) == []
    assert files_of(app, chat_context) == []


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ("Your cat is **Miso**.", "Your cat is Miso."),
        ("# Cats\n\n- *Miso*\n- Tom_cat\n1. `one`", "Cats\n\nMiso\nTom_cat\none"),
        ("See [the vet](https://vet.example/a_b) or https://x.example/y", "See the vet or"),
        ("> quoted\n__bold__ ~~gone~~ 2 * 3", "quoted\nbold gone 2 * 3"),
        ("Look:\n```python\nprint(1)\n```", None),
        ("| a | b |\n|---|---|\n| 1 | 2 |", None),
        ("x" * MAX_SPOKEN_CHARS, "x" * MAX_SPOKEN_CHARS),
        ("x" * (MAX_SPOKEN_CHARS + 1), None),
        ("https://x.example", None),
    ],
)
def test_speakable_text_omits_markup_code_tables_and_urls(reply: str, words: str | None) -> None:
    """Code, tables and what is endless stay text."""
    assert extract_speakable(reply) == words
