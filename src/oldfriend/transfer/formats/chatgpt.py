"""What does a ChatGPT export say? ``conversations.json``, its newer parts, or the whole ``.zip``.

A conversation is a tree of attempts; read is the branch that was shown last. What is hidden,
instructions, and what tools returned are left out.
"""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from oldfriend.domain.errors import ImportRefused
from oldfriend.domain.trust import Role
from oldfriend.transfer.formats.derived_ids import DerivedIds
from oldfriend.transfer.formats.json_pieces import ARRAY, pieces
from oldfriend.transfer.formats.json_values import Fields, as_object, kind_of, object_in, text_in
from oldfriend.transfer.formats.moments import moment_of_epoch
from oldfriend.transfer.formats.parsed import Format, Note, ParsedMessage
from oldfriend.transfer.formats.source import Glimpse, Source

EXPECTED: Final = 'a conversation such as {"title": …, "mapping": {…}, "current_node": …}'
ROLES: Final[dict[str, Role]] = {"user": "person", "assistant": "companion"}
SHOWN_KINDS: Final = frozenset({"text", "multimodal_text", "code"})
NAME: Final = "ChatGPT"


def recognise(glimpse: Glimpse) -> bool:
    """A list of conversations, each with its tree."""
    return ".mapping" in glimpse.keys


def read(source: Source, _: Note) -> Iterator[ParsedMessage]:
    """The messages that are shown, conversation after conversation. Raises ImportRefused."""
    for line, _path, value in pieces(source, frozenset({(ARRAY,)})):
        yield from messages_of(as_object(value, line=line, expected=EXPECTED), line)


def messages_of(conversation: Fields, line: int) -> Iterator[ParsedMessage]:
    """One conversation."""
    mapping = as_object(conversation.get("mapping"), line=line, expected=EXPECTED)
    title = text_in(conversation.get("title")) or "Untitled"
    key = text_in(conversation.get("conversation_id")) or text_in(conversation.get("id")) or title
    ids = DerivedIds()
    last_at: object = conversation.get("create_time")
    for message in shown_branch(mapping, conversation.get("current_node"), line):
        last_at = message.get("create_time") or last_at
        role = visible_role(message)
        text, media = content_of(message, line)
        if role is None or not (text.strip() or media):
            continue
        at = at_of(last_at, conversation, line)
        speaker = "" if role == "person" else NAME
        yield ParsedMessage(
            line=line, chat=key, chat_title=title, session=key, speaker=speaker, role=role,
            text=text, at=at, details={"media": media} if media else {},
            external_id=text_in(message.get("id"))
            or ids.next(moment=at.isoformat(), speaker=role, text=text),
        )  # fmt: skip


def shown_branch(mapping: Fields, current: object, line: int) -> list[Fields]:
    """The messages from the first to the one shown last."""
    node = text_in(current) or newest_leaf(mapping)
    if node not in mapping:
        if not mapping:
            return []
        raise ImportRefused("the node shown last is missing.", line=line, expected=EXPECTED)
    branch: list[Fields] = []
    seen: set[str] = set()
    while node in mapping and node not in seen:
        seen.add(node)
        here = object_in(mapping[node])
        branch.append(object_in(here.get("message")))
        node = text_in(here.get("parent"))
    return branch[::-1]


def newest_leaf(mapping: Fields) -> str:
    """Where the conversation ends if the file does not say: the last node that nothing follows."""
    leaves = [key for key, node in mapping.items() if not object_in(node).get("children")]
    return leaves[-1] if leaves else ""


def visible_role(message: Fields) -> Role | None:
    """Whose words these are; None for what is not shown."""
    role = ROLES.get(text_in(object_in(message.get("author")).get("role")))
    metadata = object_in(message.get("metadata"))
    is_hidden = metadata.get("is_visually_hidden_from_conversation") is True
    to_a_tool = message.get("recipient", "all") not in {"all", None}
    return None if is_hidden or to_a_tool else role


def content_of(message: Fields, line: int) -> tuple[str, str]:
    """The words of a message and the kind of what came with them."""
    content = object_in(message.get("content"))
    if content.get("content_type", "text") not in SHOWN_KINDS:
        return "", ""
    parts = content.get("parts")
    if parts is None:
        return text_in(content.get("text")), ""
    if not isinstance(parts, list):
        raise ImportRefused(
            f"the parts are {kind_of(parts)}.", line=line, expected="a list of texts"
        )
    words = [
        part if isinstance(part, str) else text_in(object_in(part).get("text")) for part in parts
    ]
    kinds = [text_in(object_in(part).get("content_type")) for part in parts]
    media = sorted({kind.split("_")[0] for kind in kinds if kind.endswith("asset_pointer")})
    return "\n".join(word for word in words if word), ", ".join(media)


def at_of(told: object, conversation: Fields, line: int) -> datetime:
    """When a message was written; where it does not tell, when those around it were."""
    value = told or conversation.get("update_time")
    return moment_of_epoch(value, line=line, what="create_time")


CHATGPT: Final = Format(
    name="chatgpt", title="ChatGPT: conversations.json or the exported .zip", chats_have_ids=True,
    recognise=recognise, read=read,
)  # fmt: skip
