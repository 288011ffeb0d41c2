"""Audio formats: MIME type and duration of audio, detected from its bytes.

Whoever sends audio also claims a MIME type, and is often wrong: the claim is used only where the
bytes are inconclusive.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

OGG_MIME: Final = "audio/ogg"
UNKNOWN_MIME: Final = "application/octet-stream"
EXTENSIONS: Final = MappingProxyType(
    {
        OGG_MIME: "ogg",
        "audio/mpeg": "mp3",
        "audio/mp4": "m4a",
        "video/mp4": "mp4",
        "audio/wav": "wav",
        "audio/flac": "flac",
        "audio/webm": "webm",
        "video/webm": "webm",
        "audio/aac": "aac",
        "audio/amr": "amr",
    }
)
"""The file extension of each MIME type; providers go by it."""
MIME_ALIASES: Final = MappingProxyType(
    {
        "audio/opus": OGG_MIME,
        "application/ogg": OGG_MIME,
        "audio/mp3": "audio/mpeg",
        "audio/m4a": "audio/mp4",
        "audio/x-m4a": "audio/mp4",
        "audio/x-wav": "audio/wav",
        "audio/wave": "audio/wav",
        "audio/vnd.wave": "audio/wav",
        "audio/x-flac": "audio/flac",
        "video/quicktime": "video/mp4",
    }
)
HEADER_BYTES: Final = 512
"""The bytes at the beginning in which a stream names its codec."""
OPUS_SAMPLE_RATE: Final = 48_000
MP4_AUDIO_BRANDS: Final = (b"M4A ", b"M4B ", b"M4P ")


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioFormat:
    """The MIME type and file extension of audio."""

    mime: str
    extension: str


def detect_audio_format(audio: bytes, *, claimed_mime: str = "") -> AudioFormat:
    """Detect the format from the bytes; if they are inconclusive, use the claimed type."""
    mime = detect_mime(audio) or normalize_mime(claimed_mime)
    return AudioFormat(mime=mime, extension=EXTENSIONS.get(mime, "bin"))


def normalize_mime(claimed_mime: str) -> str:
    """Return the usual name of a MIME type, without its parameters."""
    name = claimed_mime.partition(";")[0].strip().lower()
    return MIME_ALIASES.get(name, name) or UNKNOWN_MIME


def detect_mime(audio: bytes) -> str | None:
    """Return the MIME type that the first bytes indicate; None if they are inconclusive."""
    if audio.startswith(b"OggS"):
        return OGG_MIME
    if audio.startswith(b"RIFF") and audio[8:12] == b"WAVE":
        return "audio/wav"
    if audio.startswith(b"fLaC"):
        return "audio/flac"
    if audio.startswith(b"#!AMR"):
        return "audio/amr"
    if audio.startswith(b"\x1a\x45\xdf\xa3"):
        return "video/webm" if b"V_VP" in audio[:4096] else "audio/webm"
    if audio[4:8] == b"ftyp":
        return "audio/mp4" if audio[8:12] in MP4_AUDIO_BRANDS else "video/mp4"
    return detect_mpeg_mime(audio)


def detect_mpeg_mime(audio: bytes) -> str | None:
    """Detect MP3 or AAC by the sync bits with which each of their frames begins."""
    if audio.startswith(b"ID3"):
        return "audio/mpeg"
    if len(audio) < 2 or audio[0] != 0xFF:
        return None
    if audio[1] & 0xF6 == 0xF0:
        return "audio/aac"
    return "audio/mpeg" if audio[1] & 0xE0 == 0xE0 and audio[1] & 0x06 else None


def is_opus(audio: bytes) -> bool:
    """Return whether it is Opus in an OGG container, as voice messages have to be."""
    return audio.startswith(b"OggS") and b"OpusHead" in audio[:HEADER_BYTES]


def find_duration_s(audio: bytes) -> float | None:
    """Return the duration in seconds; None if it cannot be read easily."""
    if audio.startswith(b"OggS"):
        return find_ogg_duration_s(audio)
    if detect_mime(audio) == "audio/wav":
        return find_wav_duration_s(audio)
    return None


def find_ogg_duration_s(audio: bytes) -> float | None:
    """Return the duration of an OGG file, from the sample position of its last page."""
    page = audio.rfind(b"OggS\x00")
    position = int.from_bytes(audio[page + 6 : page + 14], "little", signed=True)
    opus, vorbis = (
        audio.find(b"OpusHead", 0, HEADER_BYTES),
        audio.find(b"\x01vorbis", 0, HEADER_BYTES),
    )
    if page < 0 or position <= 0:
        return None
    if opus >= 0:
        pre_skip = int.from_bytes(audio[opus + 10 : opus + 12], "little")
        return max(position - pre_skip, 0) / OPUS_SAMPLE_RATE
    rate = int.from_bytes(audio[vorbis + 12 : vorbis + 16], "little") if vorbis >= 0 else 0
    return position / rate if rate else None


def find_wav_duration_s(audio: bytes) -> float | None:
    """Return the duration of a WAV file, from its byte rate and the size of its data chunk."""
    offset, rate = 12, 0
    while offset + 8 <= len(audio):
        name, size = (
            audio[offset : offset + 4],
            int.from_bytes(audio[offset + 4 : offset + 8], "little"),
        )
        if name == b"fmt ":
            rate = int.from_bytes(audio[offset + 16 : offset + 20], "little")
        if name == b"data":
            return min(size, len(audio) - offset - 8) / rate if rate else None
        offset += 8 + size + size % 2
    return None
