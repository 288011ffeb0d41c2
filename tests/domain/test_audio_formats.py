"""A sound is what its bytes say, whoever claims what."""

from pathlib import Path

import pytest

from oldfriend.domain.audio_formats import detect_audio_format, find_duration_s, is_opus

SOUNDS = Path(__file__).parents[1] / "data/sounds"
KINDS = {
    "voice.ogg": "audio/ogg",
    "tone.mp3": "audio/mpeg",
    "tone.m4a": "audio/mp4",
    "tone.mp4": "video/mp4",
    "tone.webm": "audio/webm",
    "tone.flac": "audio/flac",
    "tone.wav": "audio/wav",
    "tone.aac": "audio/aac",
}


@pytest.mark.parametrize(("name", "mime"), KINDS.items())
def test_audio_format_is_detected_from_bytes_despite_the_claimed_mime(name: str, mime: str) -> None:
    """Each was written by an encoder of its own."""
    kind = detect_audio_format((SOUNDS / name).read_bytes(), claimed_mime="audio/x-nonsense")

    assert kind.mime == mime
    assert kind.extension == name.rpartition(".")[2]


def test_only_ogg_opus_is_detected_as_opus() -> None:
    """Opus in another container is not."""
    assert [name for name in KINDS if is_opus((SOUNDS / name).read_bytes())] == ["voice.ogg"]


def test_duration_is_read_from_ogg_and_wav() -> None:
    """Half a second of a tone."""
    assert find_duration_s((SOUNDS / "voice.ogg").read_bytes()) == pytest.approx(0.5, abs=0.01)
    assert find_duration_s((SOUNDS / "tone.wav").read_bytes()) == pytest.approx(0.5)
    assert find_duration_s((SOUNDS / "tone.mp3").read_bytes()) is None


@pytest.mark.parametrize(
    ("claimed", "mime", "extension"),
    [
        ("audio/ogg; codecs=opus", "audio/ogg", "ogg"),
        ("AUDIO/OPUS", "audio/ogg", "ogg"),
        ("", "application/octet-stream", "bin"),
        ("text/html", "text/html", "bin"),
    ],
)
def test_claimed_mime_is_used_when_bytes_are_not_recognized(
    claimed: str, mime: str, extension: str
) -> None:
    """By its usual name."""
    kind = detect_audio_format(b"who knows", claimed_mime=claimed)

    assert (kind.mime, kind.extension) == (mime, extension)


@pytest.mark.parametrize("name", KINDS)
def test_audio_detection_accepts_truncated_files(name: str) -> None:
    """A length may be missing then."""
    sound = (SOUNDS / name).read_bytes()
    for end in range(min(len(sound), 300)):
        detect_audio_format(sound[:end])
        seconds = find_duration_s(sound[:end])
        assert seconds is None or seconds >= 0
