"""What a file is, and what is said about one that is nothing we know."""

import json
import time
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oldfriend.domain.errors import ImportRefused
from oldfriend.transfer.formats.format_detection import FORMATS, detect_format
from oldfriend.transfer.formats.json_stream import MAX_VALUE_BYTES
from oldfriend.transfer.formats.source import SourceFile
from oldfriend.transfer.preview import build_preview

LINE = '{"speaker": "Ana", "at": "2024-05-03", "text": "hi"}'


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("a.txt", "31/12/23, 21:05 - Ana: hi", "whatsapp"),
        ("a.txt", "dear diary", "notes"),
        ("a.md", "# 31/12/23", "notes"),
        ("a.csv", "a,b\n1,2", "table"),
        ("a.jsonl", "broken", "jsonl"),
        ("a.txt", LINE, "jsonl"),
        ("a.json", '\ufeff{"messages": [], "type": "personal_chat"}', "telegram"),
        ("a.json", '{"chats": {"list": []}}', "telegram"),
        ("a.json", '[{"uuid": "x", "chat_messages": []}]', "claude"),
        ("a.json", '[{"title": "x", "mapping": {}}]', "chatgpt"),
    ],
)
def test_format_is_detected_by_content(write, name, content, found):
    assert detect_format(write(name, content)).format.name == found


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.pdf", b"%PDF-1.4\x00\x01"),
        ("a.json", b'{"what": "is this?"}'),
        ("a.txt", b"a\x00b"),
        ("a.html", b"<html>"),
    ],
)
def test_unknown_format_is_refused_listing_the_supported_ones(write, name, content):
    with pytest.raises(ImportRefused) as refused:
        detect_format(write(name, content))

    assert all(known.title in str(refused.value) for known in FORMATS)


def test_empty_file_is_refused_as_empty(write):
    """Whatever it is called: its kind could be read."""
    with pytest.raises(ImportRefused, match="is empty"):
        detect_format(write("a.txt", b""))


def test_a_folder_and_a_missing_file_are_refused(tmp_path):
    with pytest.raises(ImportRefused, match="is a folder"):
        detect_format(tmp_path)
    with pytest.raises(ImportRefused, match="There is no file"):
        detect_format(tmp_path / "none.txt")


def test_zip_chat_is_read_beside_its_media(write_zip):
    path = write_zip(
        "WhatsApp Chat - Ana.zip",
        {"_chat.txt": "[31/12/23, 21:05:00] Ana: hi", "1.jpg": b"\xff\xd8", "notes.txt": "a list"},
    )
    messages = list(detect_format(path).parse([].append))

    assert [(m.chat_title, m.text) for m in messages] == [("Ana", "hi")]


def test_zip_with_several_chats_keeps_them_separate(write_zip):
    line = "[31/12/23, 21:05:00] Ana: hi"
    path = write_zip(
        "all.zip", {"WhatsApp Chat - A/_chat.txt": line, "WhatsApp Chat - B/_chat.txt": line}
    )

    assert [m.chat_title for m in detect_format(path).parse([].append)] == ["A", "B"]


def noticed(path):
    """What is said about a file before it is brought in."""
    return "\n".join(build_preview(path, me=None, person="owner", zone="UTC").notices)


def test_unread_zip_members_are_named_in_a_notice(write_zip):
    """Of another kind, below "../", media; not what macOS adds."""
    chat = "[31/12/23, 21:05:00] Ana: hi"
    path = write_zip(
        "a.zip",
        {
            "_chat.txt": chat,
            "../up/_chat.txt": chat,
            "b/notes.md": "x",
            "1.jpg": b"\xff",
            "__MACOSX/._chat.txt": "x",
            ".DS_Store": "x",
        },
    )

    assert "3 files are not read: ../up/_chat.txt, b/notes.md, 1.jpg." in noticed(path)


def test_duplicate_zip_member_name_is_named_in_a_notice(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("_chat.txt", "[31/12/23, 21:05:00] Ana: one")
        archive.writestr("_chat.txt", "[31/12/23, 21:05:00] Ana: two")

    assert "1 file is not read: _chat.txt (of the same name as another)." in noticed(path)


def test_many_unread_zip_members_are_counted_in_a_notice(write_zip):
    files = {f"{n}.md": "x" for n in range(30)}
    path = write_zip("a.zip", {"_chat.txt": "[31/12/23, 21:05:00] Ana: hi", **files})

    assert "30 files are not read" in noticed(path)
    assert "and 25 more." in noticed(path)


def test_fully_read_zip_gives_no_notice(write_zip):
    path = write_zip("a.zip", {"a/_chat.txt": "[31/12/23, 21:05:00] Ana: hi", "a/": b""})

    assert noticed(path) == ""


def test_a_damaged_zip_is_refused(write_zip):
    path = write_zip("a.zip", {"_chat.txt": "[31/12/23, 21:05:00] Ana: " + "hi " * 1000})
    whole = path.read_bytes()
    path.write_bytes(whole[:60] + b"XXXX" + whole[64:])
    with pytest.raises(ImportRefused, match="cannot be read"):
        list(detect_format(path).parse([].append))


def test_truncated_zip_is_refused_as_damaged(write_zip):
    """Not to be of no known kind, as a picture is."""
    path = write_zip("a.zip", {"_chat.txt": "[31/12/23, 21:05:00] Ana: hi"})
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(ImportRefused, match="it is damaged, or not a zip file"):
        detect_format(path)


@pytest.mark.slow
def test_zip_with_many_files_is_read_in_linear_time(write_zip):
    """Its directory is read once, and not again for each file in it."""

    def seconds_for(count: int) -> float:
        path = write_zip(f"{count}.zip", {f"{n}.md": "a note" for n in range(count)})
        began = time.process_time()
        assert build_preview(path, me=None, person="Ana", zone="UTC").messages == count
        return time.process_time() - began

    seconds_for(50)
    few_s, many_s = (min(seconds_for(count) for _ in range(3)) for count in (400, 3_200))
    assert many_s < 12 * few_s


@pytest.mark.slow
def test_oversized_json_value_is_refused_before_it_is_fully_read(write_zip):
    """A small zip may hold a string of a gigabyte, at which a parser would be busy for hours."""
    text = chr(92) + '"' + "b" * (MAX_VALUE_BYTES + 2_000_000)
    path = write_zip(
        "a.zip", {"result.json": f'{{"type": "personal_chat", "messages": [{{"text": "{text}"}}]}}'}
    )
    with pytest.raises(ImportRefused, match="one value is longer than 16 MB"):
        list(detect_format(path).parse([].append))


def test_blank_lines_in_json_do_not_count_as_an_oversized_value(tmp_path):
    """However many there are: only a value is held in memory."""
    said = '{"name": "Ana", "type": "personal_chat", "messages": [' + "\n" * 50
    line = " " * 999_999 + "\n"
    path = tmp_path / "result.json"
    path.write_text(said + line * (MAX_VALUE_BYTES // 1_000_000 + 2) + "]}")

    assert list(detect_format(path).parse([].append)) == []


@pytest.mark.slow
def test_oversized_json_string_of_spaces_is_refused(write_zip):
    """Within a string they are of it."""
    text = " " * (MAX_VALUE_BYTES + 2_000_000)
    path = write_zip(
        "a.zip", {"result.json": f'{{"type": "personal_chat", "messages": [{{"text": "{text}"}}]}}'}
    )
    with pytest.raises(ImportRefused, match="one value is longer than 16 MB"):
        list(detect_format(path).parse([].append))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner)
        | st.dictionaries(
            st.sampled_from(
                [
                    "id",
                    "text",
                    "at",
                    "messages",
                    "type",
                    "mapping",
                    "current_node",
                    "chat_messages",
                    "uuid",
                    "sender",
                    "created_at",
                    "content",
                    "parts",
                    "author",
                    "role",
                    "message",
                    "parent",
                    "date",
                    "date_unixtime",
                    "from",
                    "chats",
                    "list",
                    "speaker",
                    "session",
                ]
            ),
            inner,
        )
    ),
    max_leaves=40,
)
HEADS = st.sampled_from(
    [
        "31/12/23, 21:05 - ",
        "[1/2/23, 9:05:00 PM] ",
        "2023/12/31 下午9:05 - ",
        "Ana: ",
        "\n",
        "\u200e",
    ]
)
CHAT_LIKE = st.lists(HEADS | st.text(), max_size=20).map(
    lambda parts: "".join(parts).encode("utf-8", "replace")
)
JSON_LIKE = JSON.map(lambda value: json.dumps(value).encode())
CSV_LIKE = st.text('a,;"\n\r\t', max_size=60).map(str.encode)


def read_or_refuse(path) -> None:
    try:
        for message in detect_format(path).parse([].append):
            message.text.encode()
            message.speaker.encode()
            message.chat_title.encode()
        build_preview(path, me=None, person="Ana", zone="America/Los_Angeles")
    except ImportRefused as refused:
        str(refused).encode("utf-8", "backslashreplace")


@pytest.mark.parametrize(
    "name", ["a.txt", "_chat.txt", "a.json", "a.jsonl", "a.md", "a.csv", "a.zip", "a"]
)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=st.binary() | CHAT_LIKE | JSON_LIKE | CSV_LIKE)
def test_any_bytes_are_read_or_refused(write, name, content):
    """No file in the world makes a reader fail in another way."""
    read_or_refuse(write(name, content))


@pytest.mark.parametrize("known", FORMATS, ids=lambda known: known.name)
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(content=st.binary() | CHAT_LIKE | JSON_LIKE | CSV_LIKE)
def test_every_reader_reads_or_refuses_any_bytes(write, known, content):
    path = write("a.md", content)
    try:
        list(known.parse(SourceFile(path=path), [].append))
    except ImportRefused:
        return
