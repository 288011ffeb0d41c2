"""Errors: one tree of conditions; each error says what to do about it.

OldfriendError
├── StoreError                 the database cannot do what was asked
│   ├── StoreNotFound          there is no database at that place yet
│   ├── StoreUnusable          it cannot be opened, read or written (folder, disk, permissions)
│   ├── StoreFull              the disk is full; nothing of the attempt was kept
│   ├── StoreBusy              another process held the write lock for too long
│   ├── StoreCorrupt           the file is corrupt, or is not an Oldfriend database
│   │   └── RowCorrupt         one row of the beliefs cannot be read; it can be rebuilt
│   ├── SchemaUnknown          an unreleased version made the tables
│   └── SchemaTooNew           a newer Oldfriend wrote it; this one must not
├── StaleDecision              what a decision was based on has changed; decide again
├── LeaseLost                  another worker has the lease; nothing of this attempt is kept
├── NotFound                   no such person, reply, import …
├── ImportRefused              the file cannot be imported; names the line and what was expected
│   ├── ParserCrashed          parsing it crashed, or took too much memory or time; not retried
│   └── ParserNotStarted       no parser process could start, which is not the file's fault
├── InvalidInput               what was passed in cannot be right
│   ├── AmbiguousName          several are called so; says which
│   └── UnknownMethod          a memory has no such method; an AttributeError, too
├── TooManyAttempts            too many failed attempts; says when to try again
├── ServerProcessError         another server runs here, or none does, or its address is taken
├── MemoryMisused              a memory was used outside its ``with``, or entered twice at once
├── ModelError                 a language model did not return what was asked
│   ├── ModelUnavailable       the provider failed in a way that may pass; try again later
│   ├── ModelRefusal           the provider will never answer this request
│   │   └── RequestRejected    this model cannot take it as it is; another one may
│   │       └── AudioTooLarge  a recording has more bytes than any model takes
│   ├── NoSpeechDetected       a recording contains no speech
│   ├── BrokenOutput           the output cannot be parsed as what was asked
│   │   └── OutputTruncated    it ended at its token limit; ask for less
│   └── ModelMisconfigured     key, address or name of the model cannot be right
│       ├── ApiKeyRejected     the provider does not accept the key
│       └── ModelNotSetUp      something is missing, so that no request was sent
├── UnknownJob                 only a newer version can run this job
├── TurnStopped                the person said stop
├── TurnFailed                 a message was not answered; it is kept, and can be retried
├── ToolServerFailed           a server of tools cannot be reached, or did not do what was asked
├── PlatformUnavailable        a platform cannot be reached now; try again later
├── PlatformRejected           a platform rejects us as configured; says what to do
├── DeliveryFailed             a platform did not accept a message, but may accept it later
│   ├── OutcomeUnknown         no answer came: it may have been delivered
│   └── WindowClosed           it accepts nothing until the person writes, or until a time
├── Undeliverable              a platform will never accept this message
│   ├── ChatBlocked            nor any other: we are blocked, or the chat is gone
│   └── DeliveryUncertain      it may have been delivered: a person has to look and decide
├── ChatAddressChanged         a chat has another address now; send to that one
├── FetchFailed                an address of the web was not read; names the reason
├── InstallationDamaged        a file of the package is missing or not as it was shipped
└── EmbeddingFailed            a text was not embedded; search goes on with words alone
    └── AllowanceUsedUp        nothing more may be spent on it today
"""

from typing import ClassVar, Literal

from oldfriend.domain.i18n_messages import LocalizedText, MessageCode, localizable


class OldfriendError(Exception):
    """The base of all errors that Oldfriend raises on purpose."""

    code: ClassVar[MessageCode | None] = None
    """The message code for all errors of a class, if the sentence itself has no code."""

    @property
    def user_text(self) -> str:
        """Its sentence; a localizable one, if it or its class has a message code."""
        text = self.args[0] if self.args else ""
        if isinstance(text, LocalizedText) or self.code is None:
            return text if isinstance(text, str) else str(self)
        return localizable(self.code, str(self), says=str(self))


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


class SchemaUnknown(StoreError):
    """The tables were made by a migration that no released version has."""


class StoreCorrupt(StoreError):
    """The file is corrupt, or is not an Oldfriend database."""

    code: ClassVar[MessageCode | None] = "store_damaged"


class RowCorrupt(StoreCorrupt):
    """A row of the beliefs cannot be read; the journal entries that it is built from are kept."""

    def __init__(self, table: str, row_id: str) -> None:
        """Keep the table and the id of the row."""
        text = (
            f"A row of the memory is damaged: {row_id} in the table {table} cannot be read. To "
            "rebuild the beliefs from the journal: oldfriend rebuild"
        )
        super().__init__(localizable("row_damaged", text, name=row_id, table=table))
        self.table = table
        self.row_id = row_id


class SchemaTooNew(StoreError):
    """A newer version of Oldfriend wrote this database; this one must not touch it."""

    code = "store_too_new"


class StaleDecision(OldfriendError):
    """What a decision was based on has changed meanwhile; decide again."""

    code = "changed_meanwhile"


class LeaseLost(OldfriendError):
    """Another worker has taken over this work; nothing of this attempt may be kept."""


class NotFound(OldfriendError):
    """The object with this name or id does not exist."""


class ImportRefused(OldfriendError):
    """A file cannot be imported as it is; nothing was written."""

    def __init__(
        self, message: str, *, line: int | None = None, expected: str | None = None
    ) -> None:
        """Keep the line of the file (from 1), and what was expected there."""
        expected_text = f" Expected {expected}." if expected else ""
        super().__init__(
            message if line is None else format_line_error(line, message, expected_text)
        )
        self.line = line
        self.expected = expected


class ParserCrashed(ImportRefused):
    """The process that parsed a file crashed, or took too much memory or time."""

    def __init__(self, message: str, *, exit_code: int | None) -> None:
        """Keep the exit code of the process; None if it was given up while it was running."""
        super().__init__(message)
        self.exit_code = exit_code


class ParserNotStarted(ImportRefused):
    """No parser process could start."""

    def __init__(self, message: str, *, exit_code: int | None, stderr: str) -> None:
        """Keep the exit code, and the last error output of the process or the system."""
        super().__init__(message)
        self.exit_code = exit_code
        self.stderr = stderr


def format_line_error(line: int, message: str, expected: str) -> LocalizedText:
    """Return what is wrong in a line; a message without a code gets a general one."""
    return localizable(
        "import_line" if isinstance(message, LocalizedText) else "import_line_unlike",
        f"line {line}: {message}{expected}",
        line=line,
        what=message,
        wanted=expected,
    )


class InvalidInput(OldfriendError):
    """What was passed in cannot be right; nothing was written."""


class AmbiguousName(InvalidInput):
    """Several people or things are called so."""

    def __init__(self, text: str, *, which: str) -> None:
        """Keep which they are: the end of the id of each, and what it is."""
        super().__init__(text)
        self.which = which


class UnknownMethod(InvalidInput, AttributeError):
    """A memory has no method of this name; to ``hasattr`` it is an AttributeError."""

    def __init__(self, text: str, *, name: str) -> None:
        """Keep the name that was asked for."""
        super().__init__(text)
        self.name = name


class TooManyAttempts(OldfriendError):
    """There were too many failed attempts."""

    def __init__(self, what: str, *, retry_after_s: int) -> None:
        """Keep when to try again."""
        super().__init__(what)
        self.retry_after_s = retry_after_s


class ServerProcessError(OldfriendError):
    """A server process cannot be started, reached or stopped; says why."""


class MemoryMisused(OldfriendError):
    """A memory was used outside its ``with``, or entered a second time within it."""


FetchFailure = Literal[
    "address",  # not a public address of the web, or one that may not be read
    "unreachable",
    "slow",
    "large",
    "kind",  # content of a kind that is not read
    "status",  # the server refuses, or has nothing there
    "redirects",  # too many, or one where none is followed
    "unreadable",
    "missing",  # something is not installed or not set up
]


class FetchFailed(OldfriendError):
    """An address of the web was not read."""

    def __init__(self, reason: FetchFailure, text: str, *, status: int | None = None) -> None:
        """Keep the reason, and the status that the server answered with."""
        super().__init__(text)
        self.reason: FetchFailure = reason
        self.status = status


class InstallationDamaged(OldfriendError):
    """A file that ships with the package is missing, or is not what was shipped."""


class EmbeddingFailed(OldfriendError):
    """A text could not be embedded; search goes on with words alone."""


class AllowanceUsedUp(EmbeddingFailed):
    """The daily allowance is used up; no request was sent, and tomorrow one may be."""


class ModelError(OldfriendError):
    """A language model did not return what was asked."""


OutageKind = Literal["unavailable", "slow", "busy", "failing", "unpaid"]
"""Unreachable (or lost), too slow, rate limited, failing, or out of credit."""


class ModelUnavailable(ModelError):
    """The provider failed in a way that may pass; try again later."""

    def __init__(
        self,
        message: str,
        *,
        retry_after_s: float | None = None,
        outage: OutageKind = "unavailable",
    ) -> None:
        """Keep the kind of outage, and the delay that the provider asks for, if any."""
        super().__init__(message)
        self.retry_after_s = retry_after_s
        self.outage = outage


class ModelRefusal(ModelError):
    """The provider will never answer this request."""


class RequestRejected(ModelRefusal):
    """This model cannot take the request as it is (too long, an unsupported part)."""


class AudioTooLarge(RequestRejected):
    """A recording has more bytes than any model takes; no request was sent."""


class NoSpeechDetected(ModelError):
    """A recording was transcribed and contains no speech."""


class BrokenOutput(ModelError):
    """The output of a model cannot be parsed as what was asked for."""


class OutputTruncated(BrokenOutput):
    """The output of a model ended at its token limit: asking again would end there, too."""


class ModelMisconfigured(ModelError):
    """The key, the address or the name of a model cannot be right; says what to change."""


class ApiKeyRejected(ModelMisconfigured):
    """The provider does not accept the key, or not for this model."""


class ModelNotSetUp(ModelMisconfigured):
    """Something that is needed to reach the model is missing, so that no request was sent."""


class ToolServerFailed(OldfriendError):
    """A server of tools cannot be reached, or did not do what it was asked."""


class PlatformUnavailable(OldfriendError):
    """A chat platform cannot be reached now; try again later."""

    code = "platform_unreached"

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        """Keep the delay that the platform asks for, if any."""
        super().__init__(message)
        self.retry_after_s = retry_after_s


class PlatformRejected(OldfriendError):
    """A platform rejects us as configured: a wrong token, or another listener."""

    code = "platform_refused"


class DeliveryFailed(OldfriendError):
    """The platform did not accept a message, but may accept it later."""

    def __init__(self, message: str, *, retry_after_s: float | None = None) -> None:
        """Keep the delay that the platform asks for, if any."""
        super().__init__(message)
        self.retry_after_s = retry_after_s


class OutcomeUnknown(DeliveryFailed):
    """No answer came from the platform: the message may have been delivered."""


class WindowClosed(DeliveryFailed):
    """The platform accepts nothing for this chat until the person writes, or until a time."""

    def __init__(self, message: str, *, until: int | None = None) -> None:
        """Keep until when (microseconds), if it opens by itself."""
        super().__init__(message)
        self.until = until


class Undeliverable(OldfriendError):
    """The platform will never accept this message: the chat is gone, or we are blocked."""


class ChatBlocked(Undeliverable):
    """A chat accepts nothing from us any more: it is gone, or we are blocked there."""


class DeliveryUncertain(Undeliverable):
    """A message was sent more than once without an answer; it is not sent again by itself."""


class ChatAddressChanged(OldfriendError):
    """A chat has another address now."""

    def __init__(self, address: str) -> None:
        """Keep the new address."""
        super().__init__(f"The chat has moved to {address}.")
        self.address = address


class TurnStopped(OldfriendError):
    """The person said stop; what was being decided is not kept."""


class TurnFailed(OldfriendError):
    """A message was not answered; it is kept, and can be retried."""

    code = "turn_failed"


class UnknownJob(OldfriendError):
    """Only a newer version knows how to run this job."""
