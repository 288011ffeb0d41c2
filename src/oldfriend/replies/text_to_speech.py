"""Text to speech: decides whether a reply is spoken and synthesizes it, paid for once.

Where synthesis fails, the reply is still there as text.
"""

import re
from collections.abc import Sequence
from typing import Final

from oldfriend.app.app_context import AppContext
from oldfriend.app.event_log import log_warning
from oldfriend.app.spend_limits import UsageAccount
from oldfriend.config.settings import Settings
from oldfriend.config.settings_schema import SpeechMode
from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock
from oldfriend.domain.errors import AllowanceUsedUp, ModelError, NotFound
from oldfriend.domain.ids import MessageId, PersonId
from oldfriend.domain.messages import Message
from oldfriend.inbound.audio_storage import attach_audio, delete_audio, find_audio, save_audio
from oldfriend.llm.speech import MAX_SPOKEN_CHARS, Speech, SpeechSynthesizer, parse_speech
from oldfriend.memory.message_log import get_message, list_answered_messages
from oldfriend.memory.people import lock_person
from oldfriend.prompts.locale_phrases import OFFLINE_LANGUAGES, load_phrases
from oldfriend.usage.model_calls import CallContext

CODE_OR_TABLE: Final = re.compile(r"^(```|~~~|[^\S\n]*+\|.*\|[^\S\n]*+$)", re.MULTILINE)
"""Code and tables are not worth reading out."""
LINK: Final = re.compile(r"!?\[([^\[\]]*)\]\((?:[^()]|\([^()]*\))*+\)")
URL: Final = re.compile(r"https?://\S+")
LINE_MARK: Final = re.compile(r"^[ \t]*(#{1,6}|>|[-*+]|\d+\.)[ \t]+", re.MULTILINE)
INLINE_MARK: Final = re.compile(r"\*\*|__|~~|`")
EMPHASIS: Final = re.compile(
    r"(?<!\w)(?:\*(?=\S)([^*\n]+)(?<=\S)\*|_(?=\S)([^_\n]+)(?<=\S)_)(?!\w)"
)


async def synthesize_reply(app: AppContext, person: PersonId, reply_id: MessageId) -> Speech | None:
    """Return the audio of a reply; None if only its text is wanted. Raises StoreError."""
    speaker = app.speaker
    if speaker is None or app.settings.speech.speaks == "never":
        return None
    async with app.db.begin_read() as tx:
        try:
            message = await get_message(tx, person, reply_id)
        except NotFound:  # it was forgotten in the meantime
            return None
        asked = await list_answered_messages(tx, message)
    words = extract_speakable(message.text)
    if words is None or not is_speech_wanted(app.settings.speech.speaks, asked):
        return None
    voice = f"{speaker.model}/{speaker.voice}"
    if (
        stored := await find_audio(app.db, app.settings, person, reply_id, "spoken", voice=voice)
    ) is not None:
        return parse_speech(stored)
    return await synthesize(app, speaker, message, words, voice=voice)


def find_audio_title(app: AppContext, reply: Message, asked: Sequence[Message]) -> str | None:
    """Return the title under which a reply is also spoken; None if it is not."""
    is_wanted = is_speech_wanted(app.settings.speech.speaks, asked)
    if app.speaker is None or not is_wanted or extract_speakable(reply.text) is None:
        return None
    return reply.speaker


def is_speech_wanted(mode: SpeechMode, asked: Sequence[Message]) -> bool:
    """Return whether a reply to these messages is to be spoken."""
    if mode != "asked":
        return mode == "always"
    patterns = [load_phrases(language).patterns.aloud for language in OFFLINE_LANGUAGES]
    return any(
        each.role == "person" and any(pattern.search(each.text) for pattern in patterns)
        for each in asked
    )


def extract_speakable(reply: str) -> str | None:
    """Return the words of a reply without markup; None if it has to be read on a screen."""
    if CODE_OR_TABLE.search(reply):
        return None
    plain = INLINE_MARK.sub("", LINE_MARK.sub("", URL.sub("", LINK.sub(r"\1", reply))))
    words = EMPHASIS.sub(r"\1\2", plain).strip()
    return words if 0 < len(words) <= MAX_SPOKEN_CHARS else None


async def synthesize(
    app: AppContext, speaker: SpeechSynthesizer, message: Message, words: str, *, voice: str
) -> Speech | None:
    """Synthesize a reply and store the audio for a resend; None if that fails."""
    account = UsageAccount(
        db=app.db,
        settings=app.settings,
        clock=app.clock,
        asker=build_speech_asker(message),
        spool=app.spool,
    )
    try:
        speech = await speaker.with_account(account).synthesize(words, language=message.language)
    except (ModelError, AllowanceUsedUp) as error:
        log_warning("speech-failed", error, model=speaker.model)
        return None
    return (
        speech
        if await save_speech(app.db, app.clock, app.settings, message, speech, voice=voice)
        else None
    )


def build_speech_asker(message: Message) -> CallContext:
    """Build the call context that a spoken reply is charged to."""
    return CallContext(person=message.person, turn=message.turn)


async def save_speech(
    db: Database, clock: Clock, settings: Settings, message: Message, speech: Speech, *, voice: str
) -> bool:
    """Store the audio of a reply; False if the reply has changed or is gone."""
    stored = await save_audio(clock, settings, message.person, speech.audio, mime=speech.mime)
    async with db.begin_write() as tx:
        await lock_person(tx, message.person)
        try:
            is_same = (await get_message(tx, message.person, message.id)).text == message.text
        except NotFound:
            is_same = False
        if is_same:
            await attach_audio(tx, stored, message.id, kind="spoken", voice=voice, now=clock())
    if not is_same:
        await delete_audio(settings, [stored])
    return is_same
