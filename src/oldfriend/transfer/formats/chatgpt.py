"""ChatGPT exports: ``conversations.json``, its newer parts, or the whole ``.zip``.

A conversation is a tree of attempts; the branch shown last is read. Hidden messages, instructions
and tool results are left out.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.messages import Role
from oldfriend.transfer.formats.json_stream import (
    ARRAY_STEP,
    Fields,
    describe_kind,
    parse_epoch,
    parse_object,
    stream_values,
    to_object,
    to_text,
)
from oldfriend.transfer.formats.parsed_message import (
    AddNotice,
    ChatFormat,
    ContentIds,
    ParsedMessage,
)
from oldfriend.transfer.formats.source import FormatProbe, SourceFile

EXPECTED: Final = 'a conversation such as {"title": …, "mapping": {…}, "current_node": …}'
ROLES: Final[dict[str, Role]] = {"user": "person", "assistant": "companion"}
TEXT_CONTENT_TYPES: Final = frozenset({"text", "multimodal_text", "code"})
SPEAKER_NAME: Final = "ChatGPT"


def can_parse(probe: FormatProbe) -> bool:
    """Return whether this is a list of conversation trees."""
    return ".mapping" in probe.keys


def parse(source: SourceFile, _: AddNotice) -> Iterator[ParsedMessage]:
    """Yield the visible messages, conversation by conversation. Raises ImportRefused."""
    for line, _path, value in stream_values(source, frozenset({(ARRAY_STEP,)})):
        yield from parse_conversation(parse_object(value, line=line, expected=EXPECTED), line)


def parse_conversation(conversation: Fields, line: int) -> Iterator[ParsedMessage]:
    """Yield the visible messages of one conversation. Raises ImportRefused."""
    mapping = parse_object(conversation.get("mapping"), line=line, expected=EXPECTED)
    title = to_text(conversation.get("title")) or "Untitled"
    key = to_text(conversation.get("conversation_id")) or to_text(conversation.get("id")) or title
    ids = ContentIds()
    last_at: object = conversation.get("create_time")
    for message in list_visible_branch(mapping, conversation.get("current_node"), line):
        last_at = message.get("create_time") or last_at
        role = find_visible_role(message)
        text, media = parse_content(message, line)
        if role is None or not (text.strip() or media):
            continue
        at = parse_time(last_at, conversation, line)
        speaker = "" if role == "person" else SPEAKER_NAME
        yield ParsedMessage(
            line=line,
            chat=key,
            chat_title=title,
            session=key,
            speaker=speaker,
            role=role,
            text=text,
            at=at,
            details={"media": media} if media else {},
            external_id=to_text(message.get("id"))
            or ids.derive(time=at.isoformat(), speaker=role, text=text),
        )


def list_visible_branch(mapping: Fields, current: object, line: int) -> list[Fields]:
    """Return the messages from the first to the one shown last. Raises ImportRefused."""
    node = to_text(current) or get_newest_leaf(mapping)
    if node not in mapping:
        if not mapping:
            return []
        raise ImportRefused("the node shown last is missing.", line=line, expected=EXPECTED)
    branch: list[Fields] = []
    seen: set[str] = set()
    while node in mapping and node not in seen:
        seen.add(node)
        entry = to_object(mapping[node])
        branch.append(to_object(entry.get("message")))
        node = to_text(entry.get("parent"))
    return branch[::-1]


def get_newest_leaf(mapping: Fields) -> str:
    """Return the last node without children, for a file that does not say which was shown last."""
    leaves = [key for key, node in mapping.items() if not to_object(node).get("children")]
    return leaves[-1] if leaves else ""


def find_visible_role(raw_message: Fields) -> Role | None:
    """Return the role of a message's author; None for a message that is not shown."""
    role = ROLES.get(to_text(to_object(raw_message.get("author")).get("role")))
    metadata = to_object(raw_message.get("metadata"))
    is_hidden = metadata.get("is_visually_hidden_from_conversation") is True
    to_a_tool = raw_message.get("recipient", "all") not in {"all", None}
    return None if is_hidden or to_a_tool else role


def parse_content(raw_message: Fields, line: int) -> tuple[str, str]:
    """Return the text of a message and the kinds of media in it. Raises ImportRefused."""
    content = to_object(raw_message.get("content"))
    if content.get("content_type", "text") not in TEXT_CONTENT_TYPES:
        return "", ""
    parts = content.get("parts")
    if parts is None:
        return to_text(content.get("text")), ""
    if not isinstance(parts, list):
        raise ImportRefused(
            f"the parts are {describe_kind(parts)}.", line=line, expected="a list of texts"
        )
    texts = [
        part if isinstance(part, str) else to_text(to_object(part).get("text")) for part in parts
    ]
    kinds = [to_text(to_object(part).get("content_type")) for part in parts]
    media = sorted({kind.split("_")[0] for kind in kinds if kind.endswith("asset_pointer")})
    return "\n".join(text for text in texts if text), ", ".join(media)


def parse_time(timestamp: object, conversation: Fields, line: int) -> datetime:
    """Return when a message was written; if unknown, when those around it were.

    Raises ImportRefused.
    """
    value = timestamp or conversation.get("update_time")
    return parse_epoch(value, line=line, what="create_time")


CHATGPT: Final = ChatFormat(
    name="chatgpt",
    title="ChatGPT: conversations.json or the exported .zip",
    chats_have_ids=True,
    can_parse=can_parse,
    parse=parse,
)
