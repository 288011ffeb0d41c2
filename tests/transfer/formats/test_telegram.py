"""Telegram Desktop's exports, of one chat and of an account."""

from datetime import UTC, datetime, timedelta

import pytest

from oldfriend.domain.errors import ImportRefused


def message(number=1, **fields):
    return {
        "id": number,
        "type": "message",
        "date": "2023-12-31T22:05:33",
        "date_unixtime": "1704056733",
        "from": "Ana",
        "from_id": "user7",
        "text": "hi",
    } | fields


def chat(*messages, **fields):
    return {"name": "Ana", "type": "personal_chat", "id": 7, "messages": list(messages)} | fields


def test_message_time_combines_unix_time_and_local_clock(read):
    told = read("result.json", chat(message()))[0]

    assert told.at == datetime(2023, 12, 31, 21, 5, 33, tzinfo=UTC)
    assert told.at.utcoffset() == timedelta(hours=1)
    assert (told.chat, told.chat_title, told.external_id) == ("7", "Ana", "1")


def test_old_export_without_unix_time_uses_the_local_clock(read):
    told = read("result.json", chat(message(date_unixtime=None)))[0]

    assert told.at == datetime.fromisoformat("2023-12-31T22:05:33")


def test_formatted_text_is_joined_and_its_links_are_kept(read):
    parts = [
        "see ",
        {"type": "bold", "text": "this"},
        {"type": "text_link", "text": " one", "href": "https://a.b"},
    ]
    told = read("result.json", chat(message(text=parts)))[0]

    assert told.text == "see this one"
    assert told.details["links"] == "https://a.b"


def test_personal_chat_sender_other_than_the_partner_is_the_owner(read):
    told = read("result.json", chat(message(), message(2, **{"from": "Me", "from_id": "user1"})))

    assert [m.role for m in told] == ["other", "person"]


def test_group_export_alone_does_not_identify_the_owner(read):
    assert read("result.json", chat(message(), type="private_group"))[0].role is None


def test_account_export_identifies_its_owner(read):
    account = {
        "about": "…",
        "personal_information": {"user_id": 1, "first_name": "Me"},
        "contacts": {"about": "…", "list": [{"user_id": 7}]},
        "chats": {
            "about": "…",
            "list": [
                chat(message(), type="private_group", id=70, name="Trip"),
                chat(message(**{"from": "Me", "from_id": "user1"}), id=8, name=None),
            ],
        },
        "left_chats": {"about": "…", "list": [chat(message(), id=9, name="Old")]},
    }
    told = read("result.json", account)

    assert [(m.chat, m.chat_title, m.role) for m in told] == [
        ("70", "Trip", "other"),
        ("8", "Deleted Account", "person"),
        ("9", "Old", "other"),
    ]


@pytest.mark.parametrize("name", ["Ben", None])
def test_forwarded_message_is_outside(read, name):
    told = read("result.json", chat(message(forwarded_from=name)))[0]

    assert told.outside
    assert told.details.get("forwarded_from") == name


@pytest.mark.parametrize("field", ["forwarded_from_id", "saved_from", "via_bot"])
def test_message_with_a_foreign_source_field_is_outside(read, field):
    assert read("result.json", chat(message(**{field: "x"})))[0].outside


def test_blockquote_is_converted_to_quoted_lines(read):
    parts = ["she said", {"type": "blockquote", "text": "I live in Berlin\nnow"}, "\nreally"]
    last = [{"type": "blockquote", "text": "I live in Berlin"}]

    assert read("result.json", chat(message(text=last)))[0].text == "> I live in Berlin"
    lines = read("result.json", chat(message(text=parts)))[0].text.split("\n")
    assert [line for line in lines if line] == ["she said", "> I live in Berlin", "> now", "really"]


def test_channel_and_bot_messages_are_outside(read):
    posts = read("result.json", chat(message(from_id="channel7"), type="public_channel"))
    answers = read("result.json", chat(message(), type="bot_chat"))

    assert [m.outside for m in (*posts, *answers)] == [True, True]


def test_replies_media_and_edits_are_kept_in_the_details(read):
    told = read(
        "result.json",
        chat(
            message(reply_to_message_id=5, edited="2023-12-31T22:06:00"),
            message(2, text="", media_type="sticker", file="s.webp", sticker_emoji="😂"),
            message(3, text="look", photo="photos/1.jpg"),
            message(4, text="", poll={"question": "When?", "answers": [{"text": "noon"}]}),
        ),
    )

    assert told[0].details == {"reply_to": "5", "edited": "2023-12-31T22:06:00"}
    assert told[1].details == {"media": "sticker", "sticker": "😂"}
    assert (told[2].text, told[2].details) == ("look", {"media": "photos/1.jpg"})
    assert told[3].text == "When?\nnoon"


def test_service_message_has_the_system_role_and_no_speaker(read):
    service = {
        "id": 1,
        "type": "service",
        "date": "2023-12-31T22:05:33",
        "actor": "Ana",
        "action": "create_group",
        "title": "Trip",
        "members": ["Ana", None],
        "text": "",
    }
    told = read("result.json", chat(service))[0]

    assert (told.role, told.speaker) == ("system", "")
    assert told.text == "Ana create group Trip Ana, Deleted Account"


@pytest.mark.parametrize(
    ("broken", "expected"),
    [
        ({"date": None, "date_unixtime": None}, "date"),
        ({"date": "yesterday"}, "ISO 8601"),
        ({"date_unixtime": "soon"}, "seconds since 1970"),
        ({"text": 5}, "a list of texts"),
        ({"id": None}, '"id"'),
    ],
)
def test_malformed_message_is_refused_with_its_line(read, broken, expected):
    with pytest.raises(ImportRefused, match=r"^line 1: ") as refused:
        read("result.json", chat(message(), message(2, **broken)))

    assert expected in str(refused.value)


def test_truncated_file_is_refused_with_its_line(read):
    text = '{"name": "Ana",\n"type": "personal_chat",\n"id": 7,\n"messages": [\n{"id": 1, '
    with pytest.raises(ImportRefused) as refused:
        read("result.json", text)

    assert refused.value.line == 5
