"""Day One exports: ``Journal.json``, or the whole ``.zip``, as entries of the person's diary."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from oldfriend.domain.clock import MAX_YEAR, MIN_YEAR, get_zone
from oldfriend.domain.errors import ImportRefused, InvalidInput
from oldfriend.domain.json import JsonValue
from oldfriend.transfer.formats.health_days import name_lines
from oldfriend.transfer.formats.imported_record import RECORD_KEY, encode_record
from oldfriend.transfer.formats.json_stream import (
    ARRAY_STEP,
    Fields,
    list_objects,
    parse_iso,
    parse_object,
    stream_values,
    to_object,
    to_text,
)
from oldfriend.transfer.formats.parsed_message import AddNotice, ChatFormat, ParsedMessage
from oldfriend.transfer.formats.source import FormatProbe, SourceFile

EXPECTED_ENTRY: Final = 'an entry such as {"uuid": …, "text": …, "creationDate": …}'
MEDIA: Final = {
    "photos": "photos",
    "videos": "videos",
    "audios": "sounds",
    "pdfAttachments": "documents",
}
EMBEDDED: Final = re.compile(r"!\[[^\[\]\n]{0,200}\]\(dayone-moment:[^()\s]{0,200}\)")
ESCAPED: Final = re.compile(r"\\([.!()\[\]*_#>+-])")
MAX_FIELD_CHARS: Final = 120
MAX_TAGS: Final = 10
MAX_TAG_CHARS: Final = 40


def can_parse(probe: FormatProbe) -> bool:
    """Return whether this is an object with entries that have dates of creation."""
    return "entries" in probe.keys and '"creationDate"' in probe.text


def parse(source: SourceFile, add_notice: AddNotice) -> Iterator[ParsedMessage]:
    """Yield the entries in the order of the file. Raises ImportRefused."""
    left_out: list[int] = []
    for line, _path, value in stream_values(source, frozenset({("entries", ARRAY_STEP)})):
        fields = parse_object(value, line=line, expected=EXPECTED_ENTRY)
        created = parse_iso(fields.get("creationDate"), line=line, what="its creationDate")
        if MIN_YEAR <= created.year < MAX_YEAR:
            yield parse_entry(fields, line)
        else:
            left_out.append(line)
    if left_out:
        add_notice(name_lines(left_out))


def parse_entry(fields: Fields, line: int) -> ParsedMessage:
    """Parse one entry. Raises ImportRefused."""
    uuid = to_text(fields.get("uuid"))
    if not uuid:
        raise ImportRefused("its uuid is missing.", line=line, expected=EXPECTED_ENTRY)
    created = parse_iso(fields.get("creationDate"), line=line, what="its creationDate")
    modified = to_text(fields.get("modifiedDate"))
    zone = find_zone(to_text(fields.get("timeZone")))
    media = {name: len(list_objects(fields.get(key))) for key, name in MEDIA.items()}
    text = clean_text(to_text(fields.get("text")))
    details = {RECORD_KEY: encode_record("diary", build_record(fields, zone, media))}
    if modified:
        details["edited"] = modified
    return ParsedMessage(
        line=line,
        chat="diary",
        chat_title="Day One",
        speaker="",
        role="person",
        text=text or describe_media(media),
        at=created.astimezone(get_zone(zone)) if zone and created.tzinfo else created,
        external_id=uuid,
        has_own_id=True,
        is_placeholder=not text,
        details=details,
    )


def build_record(fields: Fields, zone: str, media: dict[str, int]) -> dict[str, JsonValue]:
    """Return what an entry is beside its text."""
    place, weather = to_object(fields.get("location")), to_object(fields.get("weather"))
    tags = fields.get("tags")
    counted: dict[str, JsonValue] = {name: count for name, count in media.items() if count}
    return {
        "zone": zone,
        "modified": to_text(fields.get("modifiedDate")),
        "place": cut(to_text(place.get("placeName"))),
        "city": cut(to_text(place.get("localityName"))),
        "weather": cut(describe_weather(weather)),
        "tags": [
            to_text(each)[:MAX_TAG_CHARS]
            for each in (tags if isinstance(tags, list) else [])[:MAX_TAGS]
        ],
        "media": counted,
    }


def cut(text: str) -> str:
    """Return the beginning of a text that is longer than a name."""
    return text[:MAX_FIELD_CHARS]


def describe_weather(weather: Fields) -> str:
    """Return the weather in words and degrees, as far as it is known."""
    words = to_text(weather.get("conditionsDescription"))
    degrees = to_text(weather.get("temperatureCelsius"))
    try:
        told = f"{round(float(degrees))} °C" if degrees else ""
    except (ValueError, OverflowError):
        told = ""
    return ", ".join(each for each in (words, told) if each)


def describe_media(media: dict[str, int]) -> str:
    """Return a text for an entry without words."""
    return ", ".join(f"{name}: {count}" for name, count in media.items() if count) or "—"


def clean_text(text: str) -> str:
    """Return the words of an entry without embedded pictures and escapes."""
    return ESCAPED.sub(r"\1", EMBEDDED.sub("", text)).strip()


def find_zone(zone: str) -> str:
    """Return a zone that is known, else nothing."""
    name = zone.replace("\\/", "/")
    try:
        get_zone(name)
    except InvalidInput:
        return ""
    return name


def parse_modified(text: str) -> datetime | None:
    """Return when an entry was last changed, if that can be read."""
    try:
        return datetime.fromisoformat(text)
    except ValueError:
        return None


DAY_ONE: Final = ChatFormat(
    name="day_one",
    title="Day One: Journal.json, or the whole .zip",
    chats_have_ids=True,
    can_parse=can_parse,
    parse=parse,
)
