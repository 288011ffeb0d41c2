"""What can go wrong, in one tree. Each error names a condition and says what to do about it.

OldfriendError
├── StoreError               the database cannot do what was asked
│   ├── StoreNotFound        there is nothing at that place yet
│   ├── StoreUnusable        it cannot be opened, read or written (folder, disk, rights)
│   ├── StoreFull            the disk is full; nothing of the attempt was kept
│   ├── StoreBusy            another process held the write lock for too long
│   ├── StoreDamaged         the file is not sound, or not ours
│   └── SchemaTooNew         a newer Oldfriend wrote it; this one must not
├── StaleDecision            what a decision rested on has changed; decide again
├── LeaseLost                somebody else took the work over; nothing of this attempt is kept
├── NotFound                 no such person, reply, import …
├── ImportRefused            the file cannot be imported; says which line, and what was expected
├── InvalidInput             what was passed in cannot be right
├── TooManyAttempts          too much was tried in vain; says when it may be tried again
├── CannotServe              another process runs here, or none does, or its address is taken
├── MemoryMisused            a memory was used outside its ``with``, or entered twice at once
├── ModelError               a language model did not give what was asked
│   ├── ModelUnavailable     the provider failed in a way that may pass; try again later
│   ├── ModelRefused         the provider will not answer this, also not later
│   │   └── RequestRejected  this model cannot take it as it is; another may
│   │       └── AudioTooLarge  a recording has more bytes than anybody takes
│   ├── NothingHeard         nobody says anything in a recording
│   ├── BrokenOutput         what it gave cannot be read as what was asked
│   └── ModelMisconfigured   key, address or name of the model cannot be right
│       ├── KeyRefused       the provider does not accept the key
│       └── ModelNotAsked    something is missing, so that nobody was asked
├── UnknownJob               only a newer version knows what is to be done
├── TurnStopped              the person said stop
├── TurnFailed               something said was not answered; it is kept, and can be tried again
├── PlatformUnavailable      a platform cannot be heard now; try again later
├── PlatformRefused          a platform lets us hear nothing as things are; says what to do
├── NotDelivered             a platform did not take a message, and may take it later
├── Undeliverable            a platform will never take this message
│   └── PlaceClosed          nor any other: they have blocked us, or the chat is gone
├── PlaceMoved               a chat has another address now; send it there
└── EmbeddingFailed          a text could not be turned into a vector; recall goes on with words
    └── AllowanceUsedUp      nothing more may be spent on it today
"""

from typing import ClassVar, Literal

from oldfriend.domain.sayings import Code, Saying, saying


class OldfriendError(Exception):
    """Everything that Oldfriend raises on purpose."""

    code: ClassVar[Code | None] = None
    """What all of its kind mean to who is told of it, where the sentence itself has no code."""

    @property
    def says(self) -> str:
        """Its sentence; a saying, where a page can have words of its own for it."""
        said = self.args[0] if self.args else ""
        if isinstance(said, Saying) or self.code is None:
            return said if isinstance(said, str) else str(self)
        return saying(self.code, str(self), says=str(self))


class StoreError(OldfriendError):
    """The database cannot do what was asked."""


class StoreNotFound(StoreError):
    """There is no database at that place yet."""

    code = "store_missing"


class StoreUnusable(StoreError):
    """The database cannot be opened, read or written."""

    code = "store_unusable"


class StoreFull(StoreError):
    """The disk is full; nothing of the attempt was kept."""

    code = "store_full"


class StoreBusy(StoreError):
    """Another process held the write lock for too long; try again."""

    code = "store_busy"


class StoreDamaged(StoreError):
    """The file is not a sound Oldfriend database."""

    code = "store_damaged"


class SchemaTooNew(StoreError):
    """A newer version of Oldfriend wrote this database; this one must not touch it."""

    code = "store_too_new"


class StaleDecision(OldfriendError):
    """What a decision rested on has changed meanwhile; it must be made again."""

    code = "changed_meanwhile"


class LeaseLost(OldfriendError):
    """Somebody else has taken this work over; nothing of this attempt may be kept."""


class NotFound(OldfriendError):
    """What was asked for by name or id does not exist."""


class ImportRefused(OldfriendError):
    """A file cannot be imported as it is; nothing of it was written."""

    def __init__(
        self, message: str, *, line: int | None = None, expected: str | None = None
    ) -> None:
        """Keep the facts: the line in the file (from 1), and what should have stood there."""
        wanted = f" Expected {expected}." if expected else ""
        super().__init__(message if line is None else in_line(line, message, wanted))
        self.line = line
        self.expected = expected


def in_line(line: int, what: str, wanted: str) -> Saying:
    """What is amiss in a line of a file; what has no code is told to a page in general words."""
    return saying(
        "import_line" if isinstance(what, Saying) else "import_line_unlike",
        f"line {line}: {what}{wanted}", line=line, what=what, wanted=wanted,
    )  # fmt: skip


class InvalidInput(OldfriendError):
    """What was passed in cannot be right; nothing was written."""


class TooManyAttempts(OldfriendError):
    """Too much was tried in vain."""

    def __init__(self, what: str, *, retry_after_s: int) -> None:
        """Keep when it may be tried again."""
        super().__init__(what)
        self.retry_after_s = retry_after_s


class CannotServe(OldfriendError):
    """A process that serves cannot be started, asked or ended as things are; says what is so."""


class MemoryMisused(OldfriendError):
    """A memory was used outside its ``with``, or entered a second time within it."""


class EmbeddingFailed(OldfriendError):
    """A text could not be turned into a vector; recall goes on with words alone."""


class AllowanceUsedUp(EmbeddingFailed):
    """Nothing more may be spent today; nobody was asked, and tomorrow somebody may be."""


class ModelError(OldfriendError):
    """A language model did not give what was asked."""


Outage = Literal["unavailable", "slow", "busy", "failing", "unpaid"]
"""It cannot be reached (or was lost), takes too long, wants fewer requests, fails, wants money."""


class ModelUnavailable(ModelError):
    """The provider failed in a way that may pass; try again later."""

    def __init__(
        self, message: str, *, retry_after_s: float | None = None, outage: Outage = "unavailable"
    ) -> None:
        """Keep in which way, and how long it asks to be left alone, where it says so."""
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.outage = outage


class ModelRefused(ModelError):
    """The provider will not answer this request, also not later."""


class RequestRejected(ModelRefused):
    """This model cannot take the request as it is (too long, a part it does not know)."""


class AudioTooLarge(RequestRejected):
    """A recording has more bytes than anybody would listen to; nobody was asked."""


class NothingHeard(ModelError):
    """A recording was listened to, and there are no words in it."""


class BrokenOutput(ModelError):
    """What a model gave cannot be read as what it was asked for."""


class ModelMisconfigured(ModelError):
    """The key, the address or the name of a model cannot be right; says what to change."""


class KeyRefused(ModelMisconfigured):
    """The provider does not accept the key, or does not let it use this model."""


class ModelNotAsked(ModelMisconfigured):
    """Something that is needed to reach the model is missing, so that nobody was asked."""


class PlatformUnavailable(OldfriendError):
    """A platform on which people talk cannot be heard now; try again later."""

    code = "platform_unreached"

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        """Keep how long the platform asks to be left alone, where it says so."""
        super().__init__(message)
        self.retry_after_s = retry_after_s


class PlatformRefused(OldfriendError):
    """A platform lets us hear nothing as things are: a wrong token, another listener."""

    code = "platform_refused"


class NotDelivered(OldfriendError):
    """The platform did not take a message, and may take it later."""

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        """Keep how long the platform asks to be left alone, where it says so."""
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Undeliverable(OldfriendError):
    """The platform will never take this message: the chat is gone, or it is blocked."""


class PlaceClosed(Undeliverable):
    """A chat takes nothing from us any more: it is gone, or we are blocked there."""


class PlaceMoved(OldfriendError):
    """A chat has another address now."""

    def __init__(self, address: str) -> None:
        """Keep which."""
        super().__init__(f"The chat has moved to {address}.")
        self.address = address


class TurnStopped(OldfriendError):
    """The person said stop; what was being decided is not kept."""


class TurnFailed(OldfriendError):
    """Something that was said was not answered; it is kept, and can be tried again."""

    code = "turn_failed"


class UnknownJob(OldfriendError):
    """A job is waiting that only a newer version knows how to do."""
