"""What has somebody said aloud? Written down at their expense, and paid for once.

What was written down stands in the ledger under a hash of the recording until the words are in the
log and forgotten there: whoever is cut off in between does not pay again. It does not know where
the recording comes from.
"""

import hashlib
from dataclasses import dataclass
from typing import Final, Literal

from oldfriend.app.attaching import Laid, lay_down
from oldfriend.app.charging import LedgerAccount
from oldfriend.app.house import House
from oldfriend.app.running.telling import tell_trouble
from oldfriend.domain.errors import (
    AllowanceUsedUp,
    AudioTooLarge,
    BrokenOutput,
    ModelError,
    ModelMisconfigured,
    ModelUnavailable,
    NothingHeard,
)
from oldfriend.domain.ids import PersonId
from oldfriend.ledger.calls import Asker, find_heard
from oldfriend.llm.speech import Transcriber, Transcript
from oldfriend.memory.people import get_person_by_id
from oldfriend.prompts.phrasebook import phrasebook, spoken_language

Reason = Literal["off", "nothing", "too large", "later", "spent", "never", "misconfigured"]
"""Nobody listens here; no words in it; too many bytes; it may pass; today's limit is reached; this
recording cannot be taken; whoever listens cannot be reached as things are."""
MAY_PASS: Final = frozenset[Reason]({"later", "spent"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What was said, in writing."""

    text: str
    language: str | None
    seconds: float | None
    sound: Laid | None  # the recording, where it is kept: for ``attach``, with the message


@dataclass(frozen=True, slots=True, kw_only=True)
class NotHeard:
    """Why there are no words."""

    reason: Reason
    why: str  # for whoever runs it
    retry_after_s: float | None = None

    @property
    def may_pass(self) -> bool:
        """Whether it is worth trying again by itself."""
        return self.reason in MAY_PASS

    def in_words(self, *languages: str | None) -> str:
        """The same for the person, in the first of the languages that is spoken here."""
        say = phrasebook(spoken_language(*languages)).say
        return say[f"unheard_{self.reason.replace(' ', '_')}"]


async def hear(house: House, person: PersonId, audio: bytes, *, mime: str) -> Heard | NotHeard:
    """Write down what a person has said aloud. Raises StoreError."""
    if house.transcriber is None:
        return NotHeard(reason="off", why="Nobody listens: oldfriend connect transcriber")
    try:
        transcript = await transcript_of(house, house.transcriber, person, audio, mime=mime)
    except (ModelError, AllowanceUsedUp) as error:
        if not isinstance(error, NothingHeard | AudioTooLarge | AllowanceUsedUp):
            tell_trouble("not-heard", error, model=house.transcriber.model)
        return not_heard(error)
    keeps = house.settings.speech.keep_audio
    return Heard(
        text=transcript.text, language=transcript.language, seconds=transcript.seconds,
        sound=await lay_down(house, person, audio, mime=mime) if keeps else None,
    )  # fmt: skip


async def transcript_of(
    house: House, transcriber: Transcriber, person: PersonId, audio: bytes, *, mime: str
) -> Transcript:
    """What is said in a recording; from the ledger where the same was written down before."""
    known_by = hashlib.sha256(audio).hexdigest()
    async with house.db.reading() as tx:
        language = (await get_person_by_id(tx, person)).language
        before = await find_heard(tx, person, known_by)
    if before is not None and before.text:
        return Transcript(text=before.text, language=None, seconds=None)
    account = LedgerAccount(
        db=house.db, settings=house.settings, clock=house.clock, asker=Asker(person=person),
        request=known_by,
    )  # fmt: skip
    return await transcriber.charged_to(account).transcribe(audio, mime=mime, language=language)


def not_heard(error: ModelError | AllowanceUsedUp) -> NotHeard:
    """What a failure means for whoever has said something."""
    wait = error.retry_after_s if isinstance(error, ModelUnavailable) else None
    return NotHeard(reason=reason_of(error), why=str(error), retry_after_s=wait)


def reason_of(error: ModelError | AllowanceUsedUp) -> Reason:
    """Which of the reasons it is."""
    match error:
        case NothingHeard():
            return "nothing"
        case AudioTooLarge():
            return "too large"
        case AllowanceUsedUp():
            return "spent"
        case ModelUnavailable() | BrokenOutput():
            return "later"
        case ModelMisconfigured():
            return "misconfigured"
        case _:
            return "never"
