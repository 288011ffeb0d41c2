"""Requests: what clients send, as Pydantic models that refuse what they do not name."""

from datetime import date
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, model_validator

from oldfriend.domain.buttons import MAX_COMMAND_BYTES
from oldfriend.domain.messages import MAX_TEXT_CHARS, PRESS_KEY_PREFIX
from oldfriend.goals.goal import MAX_PRIORITY, GoalKind
from oldfriend.goals.goal_edits import GoalAction
from oldfriend.llm.providers import ApiKind
from oldfriend.memory.core_blocks import MAX_BLOCK_LENGTH
from oldfriend.memory.people import MAX_COMPANION_NAME_LENGTH
from oldfriend.memory.web_sessions import Scope
from oldfriend.tasks.snooze_times import SnoozeChoice
from oldfriend.tasks.task_edits import TaskAction

MAX_KEY_CHARS: Final = 200
MAX_ENTRY_CHARS: Final = 100_000
Verdict = Literal["pin", "unpin", "confirm", "reject", "unreject"]
Value = bool | int | float | str | list[str] | None


def refuse_press_key(key: str) -> str:
    """Return a key that a client chose. Raises ValueError for one that a button may take."""
    if key.startswith(PRESS_KEY_PREFIX):
        raise ValueError(f"A key that begins with {PRESS_KEY_PREFIX} is a button's.")
    return key


MessageKey = Annotated[str, AfterValidator(refuse_press_key)]
"""The key under which a client's message is stored once; its length is for the header to limit."""


class RequestModel(BaseModel):
    """Values that do not change, and nothing beside what is named."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SignInRequest(RequestModel):
    """A request to sign in with a link."""

    link: str = Field(
        max_length=200,
        description="The part of the one-time link after the #.",
        examples=["d1YQm6vJ0cM2oTj4sX8bEo5w3rUu7nKk9aZhLqFtGyI"],
    )
    person: str | None = Field(
        default=None,
        max_length=64,
        description="To confirm after a 409: `person` of that response, whose page the link opens.",
    )
    instead_of: str | None = Field(
        default=None,
        max_length=64,
        description="To confirm after a 409: `instead_of` of that response, whose session ends.",
    )


class OwnAddressRequest(RequestModel):
    """An address of your own, on a channel without codes."""

    address: str = Field(max_length=260, examples=["ana@example.org"])


class GivenCodeRequest(RequestModel):
    """A code that another app of yours shows."""

    code: str = Field(max_length=20, description="Six digits.", examples=["123456"])


class PasskeySignInRequest(RequestModel):
    """A device's response to a passkey request."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "credential": {
                        "id": "qzY0",
                        "rawId": "qzY0",
                        "type": "public-key",
                        "response": {},
                    },
                }
            ]
        }
    )
    credential: dict[str, JsonValue] = Field(description="In WebAuthn's JSON format.")


class PasskeyCreationRequest(PasskeySignInRequest):
    """A passkey that a device has created."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "credential": {
                        "id": "qzY0",
                        "rawId": "qzY0",
                        "type": "public-key",
                        "response": {},
                    },
                    "name": "My laptop",
                }
            ]
        }
    )
    name: str = Field(
        default="",
        max_length=80,
        description="The name to list it under; by default the browser's.",
    )


class TicketRequest(RequestModel):
    """The purpose of a new ticket."""

    purpose: Literal["export", "sound"] = Field(examples=["export"])


class MeasurementRequest(RequestModel):
    """One value; without a day it is of today."""

    name: str = Field(
        min_length=1, max_length=40, description="What was measured.", examples=["weight"]
    )
    value: float = Field(allow_inf_nan=False, ge=-1e12, le=1e12, examples=[71.4])
    unit: str = Field(default="", max_length=20, examples=["kg"])
    second_value: float | None = Field(
        default=None,
        allow_inf_nan=False,
        ge=-1e12,
        le=1e12,
        description="Of a pair: 80 in 120/80, or how long a run took.",
    )
    second_unit: str = Field(default="", max_length=20)
    day: date | None = Field(default=None, examples=["2026-11-17"])


class MeasurementsRequest(RequestModel):
    """Values to save."""

    items: list[MeasurementRequest] = Field(
        min_length=1,
        max_length=1_000,
        description="The values; a weight replaces that of its day.",
        examples=[[{"name": "weight", "value": 71.4, "unit": "kg", "day": "2026-11-17"}]],
    )


EntryText = Annotated[str, Field(min_length=1, max_length=MAX_ENTRY_CHARS, examples=["Swam."])]


class DiaryEntryRequest(RequestModel):
    """A diary entry; without a day it is of today."""

    text: EntryText
    day: date | None = Field(default=None, examples=["2026-11-17"])


class DiaryChangeRequest(RequestModel):
    """New words of a diary entry."""

    text: EntryText


class ProfileUpdateRequest(RequestModel):
    """Changes to a person's profile; fields that are left out stay."""

    name: str | None = Field(default=None, max_length=200, examples=["Ana"])
    zone: str | None = Field(default=None, max_length=100, examples=["Europe/Lisbon"])


ClockTime = Annotated[str, Field(pattern=r"^([01][0-9]|2[0-3]):[0-5][0-9]$", examples=["22:00"])]


class TokenRequest(RequestModel):
    """A token to create."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"name": "backup script", "scope": "read", "days": 90}]}
    )
    name: str = Field(min_length=1, max_length=80, description="What the token is for.")
    scope: Scope = Field(
        description="read: read everything; write: also send messages and correct beliefs; "
        "speak: also, what a program passes on over MCP counts as your own words; "
        "frontend: only to talk through a chat front end, for each of its users; "
        "admin: also manage sign-in and, for the owner, the installation."
    )
    days: int = Field(default=90, ge=1, le=366, description="How long it is valid, in days.")


class InvitationRequest(RequestModel):
    """The person to invite."""

    name: str = Field(min_length=1, max_length=200, examples=["Ana"])


class MessageRequest(RequestModel):
    """A message to send."""

    text: Annotated[
        str,
        Field(
            min_length=1,
            max_length=4 * MAX_TEXT_CHARS,
            examples=["My sister Ana was born in Porto."],
        ),
    ]
    zone: str | None = Field(
        default=None,
        max_length=100,
        description="The sender's time zone: an IANA name.",
        examples=["Europe/Lisbon"],
    )


class ButtonPressRequest(RequestModel):
    """The press of a button."""

    command: Annotated[
        str,
        Field(
            min_length=2,
            max_length=MAX_COMMAND_BYTES,
            description="The `command` of one of the message's buttons.",
            examples=["/yes"],
        ),
    ]


class MessageEditRequest(RequestModel):
    """The new text of a message."""

    text: Annotated[
        str,
        Field(
            min_length=1,
            max_length=4 * MAX_TEXT_CHARS,
            examples=["My sister Ana was born in Braga."],
        ),
    ]


class VerdictRequest(RequestModel):
    """The person's verdict on a belief."""

    verdict: Verdict = Field(examples=["confirm"])


class CorrectionRequest(RequestModel):
    """A correction of a belief."""

    text: Annotated[
        str | None, Field(min_length=1, max_length=4000, examples=["Ana was born in Braga"])
    ] = None
    value: str | None = Field(default=None, max_length=1000)
    since: str | None = Field(
        default=None,
        max_length=40,
        examples=["2026-03-14"],
        description="The day of the change, if it was right until then; without it, it was a "
        "mistake.",
    )
    due: str | None = Field(
        default=None,
        max_length=40,
        examples=["2026-03-14", "none"],
        description="When a commitment or an expectation is due: a day, a time, or “none”.",
    )

    @model_validator(mode="after")
    def check_not_empty(self) -> "CorrectionRequest":
        """Reject a correction that changes nothing."""
        if self.text is None and (self.due is None or self.value or self.since):
            raise ValueError("say the text that is right, or when it is due")
        return self


class OtherBeliefRequest(RequestModel):
    """The other of two beliefs."""

    other: Annotated[
        str, Field(min_length=4, max_length=64, examples=["018e4e4f-0bb8-7000-a1db-edf045bb7786"])
    ]


class ForgetRequest(RequestModel):
    """What to forget: everything that any of the fields names."""

    ids: list[str] = Field(
        default=[],
        max_length=500,
        description="Ids of messages, beliefs, entities or summaries, in full or their "
        "beginning or end.",
        examples=[["0019f1f3c4d2"]],
    )
    about: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="The name of an entity, with everything about it.",
        examples=["Ana"],
    )
    since: str | None = Field(
        default=None,
        max_length=40,
        description="Messages from this day or time on.",
        examples=["2026-05-01"],
    )
    until: str | None = Field(
        default=None,
        max_length=40,
        description="Messages up to the end of this day, or up to this time.",
        examples=["2026-05-03"],
    )
    batch: int | None = Field(
        default=None, ge=1, le=1 << 31, alias="import", description="The number of an import."
    )
    everything: bool = Field(default=False, description="Forget everything.")
    orphan: bool = Field(default=False, description="Keep the beliefs that rest on it.")


class ImportRequest(RequestModel):
    """A request to import a file, with how to read it."""

    me: str | None = Field(
        default=None,
        max_length=200,
        examples=["Nora"],
        description="The speaker who is the person; null if none is, or if the file says so.",
    )
    zone: str | None = Field(
        default=None,
        max_length=100,
        examples=["Europe/Lisbon"],
        description="The time zone of times without one; null for the person's.",
    )


class CompanionName(RequestModel):
    """The companion's name, the same for everybody."""

    name: str = Field(max_length=4 * MAX_COMPANION_NAME_LENGTH, examples=["Mira"])


class CoreBlockRequest(RequestModel):
    """The new text of a core block; an empty text clears it."""

    text: str = Field(
        max_length=4 * MAX_BLOCK_LENGTH, examples=["Warm, exact, and never in a hurry."]
    )


class SuggestionDecisionRequest(RequestModel):
    """The person's decision about a suggestion."""

    verdict: Literal["accept", "decline"]
    words: str | None = Field(
        default=None,
        max_length=4 * MAX_BLOCK_LENGTH,
        description="A rewording to accept instead.",
        examples=["You like short answers in the evening."],
    )


class DraftRequest(RequestModel):
    """A text to draft core blocks from. It is not stored."""

    text: str = Field(
        min_length=1, max_length=1_000_000, examples=["An old lighthouse keeper, in no hurry …"]
    )
    with_model: bool = Field(default=False, description="Whether the small model reads it.")


class SettingsUpdateRequest(RequestModel):
    """New values by setting; null resets one to its default."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"values": {"budget.background_per_day": 0.5}}]}
    )
    values: dict[str, Value] = Field(min_length=1, max_length=50)


class ModelRequest(RequestModel):
    """A model to test or choose."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"provider": "ollama", "name": "llama3.2"}]}
    )
    provider: str = Field(
        max_length=60,
        description="The provider, such as ollama; `local` for models within this program.",
    )
    name: str = Field(
        default="", max_length=300, description="The name of the model, or of its folder."
    )
    base_url: str | None = Field(default=None, max_length=500)
    kind: ApiKind | None = Field(
        default=None, description="The provider's API, if it is not the usual one."
    )
    key: str | None = Field(
        default=None, max_length=4096, description="The API key. It is stored and never shown."
    )
    voice: str | None = Field(default=None, max_length=100, description="The voice to speak with.")


class BotCredentialsRequest(RequestModel):
    """What opens a bot: its token, or all that the platform asks for."""

    token: str | None = Field(
        default=None,
        min_length=1,
        max_length=200,
        description="The token, where it is all. It is checked and stored, and never shown.",
        examples=["123456789:AAExampleExampleExampleExampleExample"],
    )
    credentials: dict[
        Annotated[str, Field(max_length=40)], Annotated[str, Field(max_length=1000)]
    ] = Field(
        default_factory=dict,
        max_length=10,
        description="Each of the channel's credentials by its name; checked, and never shown.",
    )

    def list_values(self) -> dict[str, str]:
        """Return all that was given, by name."""
        return {**({"token": self.token} if self.token else {}), **self.credentials}


class TaskRequest(RequestModel):
    """A reminder or a to-do to put on the list."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"text": "Call mum", "due": "2030-11-24T10:00"},
                {"words": "Remind me to call mum tomorrow at 10am"},
            ]
        }
    )
    text: str | None = Field(
        default=None,
        min_length=1,
        max_length=300,
        description="What to do. A request to be reminded, without `due`, is read as `words`.",
    )
    words: str | None = Field(
        default=None,
        min_length=1,
        max_length=300,
        description="What to do and when, as it is said in a chat, in place of the other fields.",
    )
    due: str | None = Field(
        default=None, max_length=40, description="When, in ISO 8601; without it, a to-do."
    )
    rrule: str | None = Field(
        default=None, max_length=200, description="How it repeats, such as FREQ=WEEKLY;BYDAY=FR."
    )


class TaskChangeRequest(RequestModel):
    """What becomes of a task."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"action": "done"}]})
    action: TaskAction | Literal["answer"]
    due: str | None = Field(
        default=None, max_length=40, description="The new time, for `snooze` and `change`."
    )
    later: SnoozeChoice | None = Field(
        default=None, description="For `snooze` in place of a time; by the person's clock."
    )
    words: str = Field(default="", max_length=200, description="For `answer`: what is answered.")


class GoalWishesRequest(RequestModel):
    """What may be told of a goal beside its text."""

    deadline: str | None = Field(
        default=None, max_length=40, description="By when, in ISO 8601; without it, no day."
    )
    kind: GoalKind | None = None
    priority: int | None = Field(default=None, ge=0, le=MAX_PRIORITY)
    next_action: str | None = Field(
        default=None, max_length=300, description="What is to be done next for it."
    )


class GoalRequest(GoalWishesRequest):
    """A goal to be set."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"text": "Run twice a week", "deadline": "2030-12-31"}]}
    )
    text: str = Field(min_length=1, max_length=300, description="What is wanted, and how often.")


class GoalChangeRequest(GoalWishesRequest):
    """What becomes of a goal."""

    model_config = ConfigDict(json_schema_extra={"examples": [{"action": "did"}]})
    action: GoalAction
    text: str | None = Field(default=None, min_length=1, max_length=300, description="New words.")
    amount: float | None = Field(default=None, gt=0, le=1e9, description="How much, for `did`.")
    step: str | None = Field(default=None, max_length=64, description="Which, for `undo`.")


class WatchRequest(RequestModel):
    """A page to be watched."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"url": "https://example.org/kettle", "below": 50}]}
    )
    url: str = Field(min_length=8, max_length=2_000)
    below: float | None = Field(default=None, ge=0, le=1e12, description="Below which price.")
    above: float | None = Field(default=None, ge=0, le=1e12, description="Above which price.")
