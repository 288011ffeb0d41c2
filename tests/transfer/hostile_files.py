"""Files made to do harm, or damaged, as somebody may bring them in; made by code when needed."""

import io
import json
import zipfile
from collections.abc import Mapping
from functools import cache

DIGITS = (4_301, 70_000)
"""With ijson 3.6, a whole number of so many digits was an error in the first case, a crash in the
second."""
CHAT = "31/12/2023, 21:05 - Ana: shall we swim?"


@cache
def files_to_refuse(*, is_full: bool) -> Mapping[str, bytes]:
    """Return files, by name, of which nothing may be brought in."""
    return {
        **numbers_to_refuse(),
        **shapes_to_refuse(depth=100_000, keys=2_000_000 if is_full else 50_000),
        **texts_to_refuse(),
        **zips_to_refuse(many=30_000 if is_full else 20_001),
    }


def telegram(date: str = "1", *, id_: str = "7", text: str = '"hi"', name: str = "Ana") -> bytes:
    """Return an export of Telegram with values as they are written here."""
    message = (
        f'{{"id": 1, "type": "message", "date_unixtime": {date}, "from": "{name}", '
        f'"from_id": "user7", "text": {text}}}'
    )
    whole = f'{{"name": "{name}", "type": "personal_chat", "id": {id_}, "messages": [{message}]}}'
    return whole.encode("utf-8", "surrogatepass")


def chatgpt(create_time: str) -> bytes:
    """Return an export of ChatGPT whose only message has a time as it is written here."""
    message = (
        f'{{"author": {{"role": "user"}}, "create_time": {create_time}, '
        '"content": {"parts": ["hi"]}}'
    )
    return f'[{{"title": "x", "mapping": {{"a": {{"message": {message}}}}}}}]'.encode()


def line(**fields: str) -> bytes:
    """Return a line of our own format with values as they are written here."""
    whole = {"speaker": '"Ana"', "at": '"2024-05-03"', "text": '"hi"', **fields}
    pairs = ", ".join(f'"{name}": {value}' for name, value in whole.items())
    return f"{{{pairs}}}\n".encode("utf-8", "surrogatepass")


def numbers_to_refuse() -> dict[str, bytes]:
    """Return files with numbers that are none, or are too large."""
    files: dict[str, bytes] = {}
    for count in DIGITS:
        digits = "7" * count
        files |= {
            f"id {count}.json": telegram(id_=digits),
            f"id -{count}.json": telegram(id_=f"-{digits}"),
            f"date {count}.json": telegram(digits),
            f"date in quotes {count}.json": telegram(f'"{digits}"'),
            f"text {count}.json": telegram(text=digits),
            f"create_time {count}.json": chatgpt(digits),
            f"line {count}.jsonl": line(id=digits),
            f"year {count}.jsonl": line(at=f'"{digits}-01-01"'),
        }
    for number in ("1e999999", "-1e999999", "NaN", "Infinity", "9" * 25, "9" * 17, "true"):
        files[f"date is {number}.json"] = telegram(number)
        files[f"create_time is {number}.json"] = chatgpt(number)
    for number in ('"1e999"', '"nan"', "253402300800000", "-99999999999999"):
        files[f"date in {len(files)}.json"] = telegram(number)
    for year in ("0000", "0001", "9999"):
        files[f"in {year}.jsonl"] = line(at=f'"{year}-12-31T23:59:59"')
    return files


def shapes_to_refuse(*, depth: int, keys: int) -> dict[str, bytes]:
    """Return files that are too deep, too wide or too long."""
    lists = "[" * depth + "]" * depth
    return {
        "lists.json": lists.encode(),
        "open lists.json": b"[" * depth,
        "objects.json": b'{"a":' * depth,
        "deep line.jsonl": line(more=lists),
        "deep text.json": telegram(text=lists),
        "keys.json": json.dumps({f"k{n}": n for n in range(keys)}).encode(),
        "same key.json": b'{"type": "x", ' + b'"messages": [], ' * 10_000 + b'"id": 1}',
        "long name.json": telegram(name="A" * 900_000),
        "long line.txt": b"a" * 3_000_000,
        "quote.csv": b'a,b\n"' + b"x\n" * 200_000,
    }


def texts_to_refuse() -> dict[str, bytes]:
    """Return files with bytes that are no text, or half of one."""
    return {
        "nul.txt": CHAT.encode() + b"\x00" * 1_000,
        "half role.jsonl": line(role='"\\ud800"'),
        "raw half.json": telegram(name="\ud83d"),
        "utf-16 cut.txt": CHAT.encode("utf-16")[:-1],
        "utf-16 half.txt": b"\xff\xfe\x00\xd8" + CHAT.encode("utf-16-le"),
        "mark.txt": b"\xef\xbb\xbf",
        "zero.txt": b"\x00",
        "cut.json": telegram()[:-20],
    }


def zips_to_refuse(*, many: int) -> dict[str, bytes]:
    """Return zips that unfold without end, or lie about what is in them."""
    whole = zipped({"_chat.txt": CHAT.encode() * 100})
    return {
        "bomb.zip": zipped({"_chat.txt": bytes(200_000_000)}),
        "nested.zip": zipped({"in.zip": zipped({"_chat.txt": CHAT.encode()})}),
        "many.zip": zipped({f"{n}.md": b"note" for n in range(many)}),
        "empty.zip": zipped({}),
        "locked.zip": with_field(whole, local=6, central=8, value=1, size=2),
        "cut.zip": whole[: len(whole) // 2],
        "small size.zip": with_field(whole, local=22, central=24, value=10, size=4),
        "large size.zip": with_field(whole, local=22, central=24, value=0xFFFFFFF0, size=4),
        "method.zip": with_field(whole, local=8, central=10, value=97, size=2),
        "number.zip": zipped({"result.json": telegram(id_="7" * 70_000)}),
    }


def harmless_files() -> Mapping[str, bytes]:
    """Return files, by name, that look like harm and have messages in them all the same."""
    digits = "7" * 10_000
    mixed = CHAT.encode() + b"\xe9\n" + f"{CHAT} \U0001f600".encode()
    packed = {"/etc/passwd.txt": CHAT, "../../../tmp/escaped.txt": CHAT, "C:\\x.txt": CHAT}
    numbers = {
        f"date {place}.json": telegram(number)
        for place, number in enumerate((f"1.{digits}", "1e-999999", "-0", '"١٢٣"'))
    }
    return {
        **numbers,
        "day.txt": f"{digits}/01/2024, 10:00 - Ana: hi".encode(),
        "date.md": f"---\ndate: {digits}-01-01\n---\nhi".encode(),
        "keys.jsonl": b"".join(line(**{f"k{n}": "1"}) for n in range(1_000)),
        "long key.jsonl": line(**{"k" * 900_000: "1"}),
        "columns.csv": b"a," * 100_000 + b"\n" + b"b," * 100_000,
        "nul.jsonl": line(text='"a\\u0000b"'),
        "half.jsonl": line(text='"a\\ud800b"'),
        "half key.jsonl": line(**{"\\udfffk": "1"}),
        "half name.json": telegram(name="\\ud83d"),
        "cut.txt": CHAT.encode() + b"\xf0\x9f\x98",
        "mixed.txt": mixed,
        "marks.txt": b"\xef\xbb\xbf" + CHAT.encode(),
        "utf-16.json": telegram().decode().encode("utf-16"),
        "elsewhere.zip": zipped({name: text.encode() for name, text in packed.items()}),
        "link.zip": with_link(),
        "twice.zip": zipped({"a.txt": CHAT.encode(), "b.txt": b"x"}).replace(b"b.txt", b"a.txt"),
    }


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return a zip of these files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def with_link() -> bytes:
    """Return a zip with a symbolic link out of it."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        link = zipfile.ZipInfo("secrets.txt")
        link.create_system, link.external_attr = 3, 0o120777 << 16
        archive.writestr(link, "/etc/passwd")
    return packed.getvalue()


def with_field(packed: bytes, *, local: int, central: int, value: int, size: int) -> bytes:
    """Return the zip with a field of its first file changed, in both places where it stands."""
    raw = bytearray(packed)
    entry = raw.index(b"PK\x01\x02")
    for place in (local, entry + central):
        raw[place : place + size] = value.to_bytes(size, "little")
    return bytes(raw)
