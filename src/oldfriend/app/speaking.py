"""Is a reply to be spoken, and how does it sound? Paid for once; where it fails, the text is there.

It does not know where the reply goes.
"""

import re
from collections.abc import Sequence
from typing import Final

from oldfriend.app.attaching import attach, erase, find_sound, lay_down
from oldfriend.app.charging import LedgerAccount
from oldfriend.app.choices.sections import Speaks
from oldfriend.app.house import House
from oldfriend.app.running.telling import tell_trouble
from oldfriend.domain.errors import AllowanceUsedUp, ModelError, NotFound
from oldfriend.domain.ids import MessageId, PersonId
from oldfriend.domain.messages import Message
from oldfriend.ledger.calls import Asker
from oldfriend.llm.speech import LONGEST_SPOKEN, Speaker, Speech, speech_of
from oldfriend.memory.log import get_message, list_asked
from oldfriend.memory.people import lock_person
from oldfriend.prompts.phrasebook import SPOKEN, phrasebook

TO_BE_SEEN: Final = re.compile(r"^(```|~~~|\s*\|.*\|\s*$)", re.MULTILINE)
"""Code and tables: nobody wants them read out."""
LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
ADDRESS: Final = re.compile(r"https?://\S+")
LINE_MARK: Final = re.compile(r"^[ \t]*(#{1,6}|>|[-*+]|\d+\.)[ \t]+", re.MULTILINE)
MARK: Final = re.compile(r"\*\*|__|~~|`")
EMPHASIS: Final = re.compile(r"(?<!\w)([*_])(?=\S)(.+?)(?<=\S)\1(?!\w)")


async def spoken(house: House, person: PersonId, reply: MessageId) -> Speech | None:
    """A reply as it sounds, where that is wanted; None: the text is to do. Raises StoreError."""
    speaker = house.speaker
    if speaker is None or house.settings.speech.speaks == "never":
        return None
    async with house.db.reading() as tx:
        try:
            said = await get_message(tx, person, reply)
        except NotFound:  # it was forgotten meanwhile
            return None
        asked = await list_asked(tx, said)
    words = words_of(said.text)
    if words is None or not is_wanted(house.settings.speech.speaks, asked):
        return None
    voice = f"{speaker.model}/{speaker.voice}"
    if (before := await find_sound(house, person, reply, "spoken", voice=voice)) is not None:
        return speech_of(before)
    return await spoken_anew(house, speaker, said, words, voice=voice)


def is_wanted(speaks: Speaks, asked: Sequence[Message]) -> bool:
    """Whether a reply to these messages is to be spoken."""
    if speaks != "asked":
        return speaks == "always"
    wishes = [phrasebook(language).understand.aloud for language in SPOKEN]
    return any(
        each.role == "person" and any(wish.search(each.text) for wish in wishes) for each in asked
    )


def words_of(reply: str) -> str | None:
    """The words of a reply, without the marks for the eye; None for what is to be seen."""
    if TO_BE_SEEN.search(reply):
        return None
    plain = MARK.sub("", LINE_MARK.sub("", ADDRESS.sub("", LINK.sub(r"\1", reply))))
    words = EMPHASIS.sub(r"\2", plain).strip()
    return words if 0 < len(words) <= LONGEST_SPOKEN else None


async def spoken_anew(
    house: House, speaker: Speaker, said: Message, words: str, *, voice: str
) -> Speech | None:
    """Have a reply spoken, and kept for whoever sends it again; None where that fails."""
    account = LedgerAccount(
        db=house.db, settings=house.settings, clock=house.clock, asker=asker_of(said)
    )
    try:
        speech = await speaker.charged_to(account).speak(words, language=said.language)
    except (ModelError, AllowanceUsedUp) as error:
        tell_trouble("not-spoken", error, model=speaker.model)
        return None
    return speech if await kept(house, said, speech, voice=voice) else None


def asker_of(said: Message) -> Asker:
    """On whose behalf a reply is spoken."""
    return Asker(person=said.person, turn=said.turn)


async def kept(house: House, said: Message, speech: Speech, *, voice: str) -> bool:
    """Keep a reply as it was spoken; False: it says something else by now, or is gone."""
    laid = await lay_down(house, said.person, speech.audio, mime=speech.mime)
    async with house.db.writing() as tx:
        await lock_person(tx, said.person)
        try:
            is_same = (await get_message(tx, said.person, said.id)).text == said.text
        except NotFound:
            is_same = False
        if is_same:
            await attach(tx, laid, said.id, kind="spoken", voice=voice, now=house.clock())
    if not is_same:
        await erase(house.settings, [laid])
    return is_same
