"""What kind of sound is it, by its own first bytes, and how long does it last?

Whoever sends a sound also names its kind, and is often wrong: that is believed only where the
bytes say nothing. Knows nothing of what is said in it.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

OGG: Final = "audio/ogg"
UNKNOWN: Final = "application/octet-stream"
EXTENSIONS: Final = MappingProxyType({
    OGG: "ogg", "audio/mpeg": "mp3", "audio/mp4": "m4a", "video/mp4": "mp4", "audio/wav": "wav",
    "audio/flac": "flac", "audio/webm": "webm", "video/webm": "webm", "audio/aac": "aac",
    "audio/amr": "amr",
})  # fmt: skip
"""How a file of each kind is called; providers go by it."""
ALSO_CALLED: Final = MappingProxyType({
    "audio/opus": OGG, "application/ogg": OGG, "audio/mp3": "audio/mpeg",
    "audio/m4a": "audio/mp4", "audio/x-m4a": "audio/mp4", "audio/x-wav": "audio/wav",
    "audio/wave": "audio/wav", "audio/vnd.wave": "audio/wav", "audio/x-flac": "audio/flac",
    "video/quicktime": "video/mp4",
})  # fmt: skip
HEAD: Final = 512
"""Bytes in which a stream says what it holds."""
OPUS_RATE: Final = 48_000
AUDIO_BRANDS: Final = (b"M4A ", b"M4B ", b"M4P ")


@dataclass(frozen=True, slots=True, kw_only=True)
class SoundKind:
    """What a file of sound is."""

    mime: str
    extension: str


def kind_of(sound: bytes, *, claimed: str = "") -> SoundKind:
    """What it is by its bytes; as claimed where they say nothing."""
    mime = mime_in(sound) or called(claimed)
    return SoundKind(mime=mime, extension=EXTENSIONS.get(mime, "bin"))


def called(claimed: str) -> str:
    """The usual name of a kind, whatever else stands beside it."""
    name = claimed.partition(";")[0].strip().lower()
    return ALSO_CALLED.get(name, name) or UNKNOWN


def mime_in(sound: bytes) -> str | None:
    """The kind that the first bytes tell."""
    if sound.startswith(b"OggS"):
        return OGG
    if sound.startswith(b"RIFF") and sound[8:12] == b"WAVE":
        return "audio/wav"
    if sound.startswith(b"fLaC"):
        return "audio/flac"
    if sound.startswith(b"#!AMR"):
        return "audio/amr"
    if sound.startswith(b"\x1a\x45\xdf\xa3"):
        return "video/webm" if b"V_VP" in sound[:4096] else "audio/webm"
    if sound[4:8] == b"ftyp":
        return "audio/mp4" if sound[8:12] in AUDIO_BRANDS else "video/mp4"
    return mpeg_in(sound)


def mpeg_in(sound: bytes) -> str | None:
    """MP3 or AAC, by the mark with which each of their frames begins."""
    if sound.startswith(b"ID3"):
        return "audio/mpeg"
    if len(sound) < 2 or sound[0] != 0xFF:
        return None
    if sound[1] & 0xF6 == 0xF0:
        return "audio/aac"
    return "audio/mpeg" if sound[1] & 0xE0 == 0xE0 and sound[1] & 0x06 else None


def is_opus(sound: bytes) -> bool:
    """Whether it is Opus in an OGG container, as voice messages have to be."""
    return sound.startswith(b"OggS") and b"OpusHead" in sound[:HEAD]


def seconds_of(sound: bytes) -> float | None:
    """How long it lasts; None where that cannot be read off easily."""
    if sound.startswith(b"OggS"):
        return ogg_seconds(sound)
    if mime_in(sound) == "audio/wav":
        return wav_seconds(sound)
    return None


def ogg_seconds(sound: bytes) -> float | None:
    """By the position that the last page names, in samples."""
    page = sound.rfind(b"OggS\x00")
    position = int.from_bytes(sound[page + 6 : page + 14], "little", signed=True)
    opus, vorbis = sound.find(b"OpusHead", 0, HEAD), sound.find(b"\x01vorbis", 0, HEAD)
    if page < 0 or position <= 0:
        return None
    if opus >= 0:
        before = int.from_bytes(sound[opus + 10 : opus + 12], "little")
        return max(position - before, 0) / OPUS_RATE
    rate = int.from_bytes(sound[vorbis + 12 : vorbis + 16], "little") if vorbis >= 0 else 0
    return position / rate if rate else None


def wav_seconds(sound: bytes) -> float | None:
    """By its chunks: bytes a second, and bytes of sound."""
    place, rate = 12, 0
    while place + 8 <= len(sound):
        name, size = (
            sound[place : place + 4],
            int.from_bytes(sound[place + 4 : place + 8], "little"),
        )
        if name == b"fmt ":
            rate = int.from_bytes(sound[place + 16 : place + 20], "little")
        if name == b"data":
            return min(size, len(sound) - place - 8) / rate if rate else None
        place += 8 + size + size % 2
    return None
