"""Exports of talks with ChatGPT and with Claude."""

from datetime import UTC, datetime

import pytest

from oldfriend.domain.errors import ImportRefused
from oldfriend.transfer.formats.format_detection import detect_format


def node(key, parent, role="user", text="hi", **message):
    content = {"content_type": "text", "parts": [text]}
    told = {"id": key, "author": {"role": role}, "create_time": 1704056733.5, "content": content}
    return {"id": key, "parent": parent, "children": [], "message": told | message}


def conversation(*nodes, current):
    mapping = {"root": {"id": "root", "parent": None, "children": ["a"], "message": None}}
    mapping |= {item["id"]: item for item in nodes}
    return {
        "title": "Lisbon",
        "create_time": 1704056000,
        "mapping": mapping,
        "current_node": current,
        "conversation_id": "c1",
    }


def test_chatgpt_reads_only_the_current_branch(read):
    told = read(
        "conversations.json",
        [
            conversation(
                node("a", "root", text="first try"),
                node("b", "root", text="second try"),
                node("c", "b", role="assistant", text="answer"),
                current="c",
            )
        ],
    )

    assert [(m.role, m.speaker, m.text) for m in told] == [
        ("person", "", "second try"),
        ("companion", "ChatGPT", "answer"),
    ]
    assert (told[0].chat, told[0].chat_title, told[0].session) == ("c1", "Lisbon", "c1")
    assert told[0].at == datetime(2023, 12, 31, 21, 5, 33, 500_000, tzinfo=UTC)


def test_chatgpt_hidden_tool_and_thought_messages_are_skipped(read):
    hidden = {"metadata": {"is_visually_hidden_from_conversation": True}}
    told = read(
        "conversations.json",
        [
            conversation(
                node("a", "root", role="system", text="be nice"),
                node("b", "a", text="profile", **hidden),
                node("c", "b"),
                node("d", "c", role="assistant", text="search()", recipient="browser"),
                node("e", "d", role="tool", text="results"),
                node(
                    "f", "e", role="assistant", content={"content_type": "thoughts", "thoughts": []}
                ),
                node("g", "f", role="assistant", text="there", create_time=None),
                current="g",
            )
        ],
    )

    assert [m.text for m in told] == ["hi", "there"]
    assert told[1].at == told[0].at


def test_chatgpt_multimodal_message_keeps_image_and_transcription(read):
    parts = [
        {"content_type": "image_asset_pointer", "asset_pointer": "file-service://x"},
        {"content_type": "audio_transcription", "text": "what is this?"},
    ]
    content = {"content_type": "multimodal_text", "parts": parts}
    told = read(
        "conversations.json", [conversation(node("a", "root", content=content), current="a")]
    )

    assert (told[0].text, told[0].details) == ("what is this?", {"media": "image"})


def test_chatgpt_without_current_node_is_read_to_the_last_leaf(read):
    told = read("conversations.json", [conversation(node("a", "root"), current=None)])

    assert [m.text for m in told] == ["hi"]


def test_chatgpt_cyclic_node_tree_terminates(read):
    told = read("conversations.json", [conversation(node("a", "b"), node("b", "a"), current="a")])

    assert len(told) == 2


def test_chatgpt_zip_split_into_parts_is_read(write_zip):
    path = write_zip(
        "export.zip",
        {
            "user.json": {"id": "u"},
            "chat.html": "<html>",
            "conversations-000.json": [conversation(node("a", "root", text="one"), current="a")],
            "conversations-001.json": [conversation(node("a", "root", text="two"), current="a")],
        },
    )

    export = detect_format(path)
    assert export.format.name == "chatgpt"
    assert [m.text for m in export.parse([].append)] == ["one", "two"]


def test_chatgpt_malformed_conversation_tree_is_refused(read):
    with pytest.raises(ImportRefused, match="Expected a conversation such as"):
        read("conversations.json", [{"title": "x", "mapping": []}])


def claude(*messages):
    return [{"uuid": "c1", "name": "Lisbon", "created_at": "x", "chat_messages": list(messages)}]


def spoken(sender="human", **fields):
    return {
        "uuid": "m1",
        "sender": sender,
        "text": "hi",
        "created_at": "2023-12-31T21:05:33.5Z",
        "attachments": [],
        "files": [],
    } | fields


def test_claude_message_text_comes_from_its_text_content(read):
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "there"}]
    told = read(
        "conversations.json",
        claude(spoken(), spoken("assistant", uuid="m2", text="not supported", content=content)),
    )

    assert [(m.role, m.speaker, m.text) for m in told] == [
        ("person", "", "hi"),
        ("companion", "Claude", "there"),
    ]
    assert told[0].at == datetime(2023, 12, 31, 21, 5, 33, 500_000, tzinfo=UTC)


def test_claude_attachment_is_imported_as_outside_messages(read):
    attached = [{"file_name": "plan.txt", "extracted_content": "one\n\n" + "long " * 500}]
    told = read("conversations.json", claude(spoken(attachments=attached)))

    assert [m.outside for m in told] == [False, True, True, True]
    assert told[0].details == {"media": "plan.txt"}
    assert told[1].details == {"attachment": "plan.txt"}
    assert len({m.external_id for m in told}) == 4


@pytest.mark.parametrize("broken", [{"sender": "nobody"}, {"created_at": 5}, {"uuid": None}])
def test_claude_malformed_message_is_refused(read, broken):
    with pytest.raises(ImportRefused, match="line 1"):
        read("conversations.json", claude(spoken(**broken)))
