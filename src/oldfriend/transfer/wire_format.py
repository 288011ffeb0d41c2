"""Wire format of the sandbox: the reader process's reports as JSON-compatible lists."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Final, get_args

from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.i18n_messages import LocalizedText, MessageCode, localizable
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import Role, sanitize_text
from oldfriend.transfer.formats.format_detection import FORMATS_BY_NAME
from oldfriend.transfer.formats.parsed_message import ParsedMessage
from oldfriend.transfer.formats.source import FileStamp
from oldfriend.transfer.preview import ChatPreview, ImportPreview, MessageSample, SpeakerPreview
from oldfriend.transfer.speaker_mapping import SpeakerRoles

CODES: Final = {code: code for code in get_args(MessageCode)}
ROLES: Final[dict[str, Role]] = {role: role for role in get_args(Role)}


class MalformedReport(ValueError):
    """A report that does not follow the wire format."""


def encode_message(parsed: ParsedMessage) -> list[JsonValue]:
    """Encode a message."""
    return [
        parsed.line,
        parsed.chat,
        parsed.chat_title,
        parsed.session,
        parsed.speaker,
        parsed.role,
        parsed.text,
        parsed.at.isoformat(),
        parsed.external_id,
        parsed.has_own_id,
        parsed.outside,
        parsed.is_placeholder,
        dict(parsed.details),
    ]


def decode_message(value: JsonValue) -> ParsedMessage:
    """Decode a message. Raises ValueError."""
    match value:
        case [
            int(line),
            str(chat),
            str(title),
            str() | None as session,
            str(speaker),
            str() | None as role,
            str(text),
            str(at),
            str(external_id),
            bool(has_own_id),
            bool(outside),
            bool(is_placeholder),
            dict(details),
        ]:
            return ParsedMessage(
                line=line,
                chat=chat,
                chat_title=title,
                session=session,
                speaker=speaker,
                role=None if role is None else decode_role(role),
                text=text,
                at=datetime.fromisoformat(at),
                external_id=external_id,
                has_own_id=has_own_id,
                outside=outside,
                is_placeholder=is_placeholder,
                details={name: str(each) for name, each in details.items()},
            )
    raise MalformedReport("no message")


def encode_preview(preview: ImportPreview) -> Iterator[list[JsonValue]]:
    """Encode a preview: first its speakers, chats and notices one by one, then the rest."""
    for speaker in preview.speakers:
        yield ["speaker", speaker.name, speaker.role, speaker.messages]
    for chat in preview.chats:
        samples: list[JsonValue] = [encode_sample(each) for each in chat.samples]
        yield ["chat", chat.key, chat.title, chat.messages, samples]
    for notice in preview.notices:
        yield ["notice", encode_text(notice)]
    yield [
        "preview",
        preview.format.name,
        preview.file_stamp.size,
        preview.file_stamp.mtime_ns,
        preview.sha256,
        preview.zone,
        preview.speaker_roles.person,
        [*preview.speaker_roles.me],
        preview.speaker_roles.is_clear,
        preview.speaker_roles.assistant,
        preview.messages,
        preview.sessions,
        preview.tokens,
        preview.first.isoformat(),
        preview.last.isoformat(),
    ]


def decode_preview(path: Path, parts: Sequence[JsonValue]) -> ImportPreview:
    """Decode the preview of a file from its parts. Raises ValueError, LookupError."""
    decoded = [decode_preview_part(part) for part in parts[:-1]]
    speakers = tuple(each for each in decoded if isinstance(each, SpeakerPreview))
    chats = tuple(each for each in decoded if isinstance(each, ChatPreview))
    notices = tuple(each for each in decoded if isinstance(each, str))
    match parts[-1]:
        case [
            "preview",
            str(format_name),
            int(size),
            int(changed_ns),
            str(sha256),
            str(zone),
            str(person),
            list(me),
            bool(is_clear),
            str(assistant),
            int(messages),
            int(sessions),
            int(tokens),
            str(first),
            str(last),
        ]:
            return ImportPreview(
                path=path,
                format=FORMATS_BY_NAME[format_name],
                file_stamp=FileStamp(size=size, mtime_ns=changed_ns),
                sha256=sha256,
                zone=zone,
                speaker_roles=SpeakerRoles(
                    person=person,
                    me=frozenset(map(str, me)),
                    is_clear=is_clear,
                    assistant=assistant,
                ),
                messages=messages,
                speakers=speakers,
                chats=chats,
                sessions=sessions,
                tokens=tokens,
                first=datetime.fromisoformat(first),
                last=datetime.fromisoformat(last),
                notices=notices,
            )
    raise MalformedReport("no preview")


def decode_preview_part(part: JsonValue) -> SpeakerPreview | ChatPreview | str:
    """Decode a speaker, a chat or a notice. Raises ValueError."""
    match part:
        case ["speaker", str(name), str(role), int(messages)]:
            return SpeakerPreview(name=name, role=decode_role(role), messages=messages)
        case ["chat", str(key), str(title), int(messages), list(found)]:
            samples = tuple(decode_sample(each) for each in found)
            return ChatPreview(key=key, title=title, messages=messages, samples=samples)
        case ["notice", notice]:
            return decode_text(notice)
    raise MalformedReport("no part of a preview")


def encode_sample(sample: MessageSample) -> JsonValue:
    """Encode a sample."""
    return [
        sample.rank,
        sample.external_id,
        sample.has_own_id,
        sample.speaker,
        sample.text_hash,
        sample.at,
    ]


def decode_sample(value: JsonValue) -> MessageSample:
    """Decode a sample. Raises ValueError."""
    match value:
        case [int(draw), str(external_id), bool(has_own_id), str(speaker), int(print_), int(at)]:
            return MessageSample(
                rank=draw,
                external_id=external_id,
                has_own_id=has_own_id,
                speaker=speaker,
                text_hash=print_,
                at=at,
            )
    raise MalformedReport("no sample")


def encode_refusal(refused: ImportRefused) -> list[JsonValue]:
    """Encode why a file was refused."""
    expected = None if refused.expected is None else sanitize_text(refused.expected)
    return ["refused", encode_text(refused.user_text), refused.line, expected]


def decode_refusal(value: JsonValue) -> ImportRefused:
    """Decode a refusal. Raises ValueError."""
    match value:
        case ["refused", said, int() | None as line, str() | None as expected]:
            refused = ImportRefused(decode_text(said))
            refused.line, refused.expected = line, expected
            return refused
    raise MalformedReport("no refusal")


def encode_text(text: str) -> JsonValue:
    """Encode a text; a localized one keeps its code and values."""
    plain = sanitize_text(str(text))
    if not isinstance(text, LocalizedText):
        return plain
    values: dict[str, JsonValue] = {
        name: encode_text(each) if isinstance(each, str) else each
        for name, each in text.values.items()
    }
    return [plain, text.code, values]


def decode_text(value: JsonValue) -> str:
    """Decode a text. Raises ValueError."""
    match value:
        case str():
            return value
        case [str(text), str(code), dict(values)] if code in CODES:
            return localizable(
                CODES[code], text, **{name: decode_value(values[name]) for name in values}
            )
    raise MalformedReport("no text")


def decode_value(value: JsonValue) -> str | int | float:
    """Decode a value of a localized text. Raises ValueError."""
    return value if isinstance(value, int | float) else decode_text(value)


def decode_role(name: str) -> Role:
    """Return the role with a name. Raises ValueError."""
    if name not in ROLES:
        raise MalformedReport("no role")
    return ROLES[name]
