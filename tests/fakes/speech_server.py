"""A server that hears and speaks, by the rules of OpenAI's interface, and as strict as that.

Written from the interface's reference: what is not allowed in a request gets 400, with words. What
it hears in a recording, what it gives as speech, and how it fails is set by the test.
"""

import json
import re
import socket
import struct
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Literal

from oldfriend.config.settings import Settings
from oldfriend.config.settings_schema import ProviderSettings, SpeechSettings

SOUNDS = Path(__file__).parents[1] / "data/sounds"
MOST_BYTES = 25 * 1024 * 1024
MOST_CHARACTERS = 4096
EXTENSIONS = {"flac", "mp3", "mp4", "mpeg", "mpga", "m4a", "ogg", "wav", "webm"}
MAGIC = {
    "ogg": b"OggS",
    "wav": b"RIFF",
    "flac": b"fLaC",
    "webm": b"\x1a\x45\xdf\xa3",
    "mp3": b"ID3",
}
TRANSCRIBING = {"file", "model", "language", "prompt", "response_format", "temperature"}
SPEAKING = {"model", "input", "voice", "response_format", "speed", "instructions"}
FORMATS = {"opus": "voice.ogg", "mp3": "tone.mp3", "wav": "tone.wav", "flac": "tone.flac"}
VOICES = {"alloy", "ash", "coral", "echo", "nova"}
Trouble = tuple[int, str] | tuple[int, str, Mapping[str, str]] | Literal["hang", "reset"]


class Refused(Exception):
    """A request breaks the rules; with a status."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@dataclass(slots=True)
class SpeechServer:
    """Hears what it is told to hear, and speaks half a second of a tone."""

    url: str = ""
    key: str | None = None  # that it wants to see
    hears: object = "Good morning."  # or a whole body
    seconds: float | None = 7.0  # that it says it has heard
    silence: float = 0.01  # how likely nobody speaks
    formats: Mapping[str, str] = field(default_factory=lambda: dict(FORMATS))
    speaks: bytes | None = None  # instead of what belongs to the format
    troubles: list[Trouble] = field(default_factory=list)  # used up first
    unknown: frozenset[str] = frozenset({"gpt-9"})  # models that it does not have
    heard: list[dict[str, object]] = field(default_factory=list)  # each request for a transcript
    spoken: list[dict[str, object]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def answer(self, path: str, headers: Mapping[str, str], body: bytes) -> tuple[str, bytes]:
        """The kind and the body of what one request gets. Raises Refused."""
        kind = headers.get("content-type", "")
        if self.key and headers.get("authorization") != f"Bearer {self.key}":
            raise Refused(f"Incorrect API key provided: {self.key}", 401)
        if path == "/v1/audio/transcriptions":
            return "application/json", as_json(self.transcribe(kind, body))
        if path == "/v1/audio/speech":
            return self.speak(kind, body)
        raise Refused(f"No such path {path}", 404)

    def transcribe(self, kind: str, body: bytes) -> object:
        """Check a form, and answer it."""
        fields = form(kind, body)
        self.heard.append(fields)
        if extra := set(fields) - TRANSCRIBING:
            raise Refused(f"Unknown parameter: {sorted(extra)}")
        name, mime, sound = file_of(fields)
        check_sound(name, mime, sound)
        model, wanted = str(fields.get("model")), str(fields.get("response_format", "json"))
        self.check_model(model)
        language = fields.get("language")
        if language is not None and not re.fullmatch("[a-z]{2}", str(language)):
            raise Refused(f"Invalid language {language!r}. Language must be in ISO-639-1 format.")
        if wanted not in {"json", "text", "srt", "verbose_json", "vtt"} or (
            wanted != "json" and "whisper" not in model
        ):
            raise Refused(f"response_format {wanted!r} is not compatible with model {model!r}.")
        return self.transcript(in_full=wanted == "verbose_json")

    def transcript(self, *, in_full: bool) -> object:
        """What it has heard."""
        if not isinstance(self.hears, str):
            return self.hears
        if not in_full:
            told = {"usage": {"type": "duration", "seconds": self.seconds}} if self.seconds else {}
            return {"text": self.hears, **told}
        segment = {
            "id": 0,
            "text": self.hears,
            "no_speech_prob": self.silence,
            "avg_logprob": -1.4 if self.silence > 0.5 else -0.2,
        }
        return {
            "task": "transcribe",
            "language": "english",
            "duration": self.seconds,
            "text": self.hears,
            "segments": [segment],
        }

    def speak(self, kind: str, body: bytes) -> tuple[str, bytes]:
        """Check what is to be spoken; its kind, as the server calls it, and the sound."""
        if kind.partition(";")[0] != "application/json":
            raise Refused(f"Expected JSON, not {kind}")
        fields: dict[str, object] = json.loads(body)
        self.spoken.append(fields)
        if extra := set(fields) - SPEAKING:
            raise Refused(f"Unknown parameter: {sorted(extra)}")
        text, wanted = fields.get("input"), str(fields.get("response_format", "mp3"))
        if not isinstance(text, str) or not 0 < len(text) <= MOST_CHARACTERS:
            raise Refused(f"input must have 1 to {MOST_CHARACTERS} characters")
        self.check_model(str(fields.get("model")))
        if fields.get("voice") not in VOICES:
            raise Refused(f"voice must be one of {sorted(VOICES)}")
        if wanted not in self.formats:
            raise Refused(f"response_format must be one of {sorted(self.formats)}")
        sound = (SOUNDS / self.formats[wanted]).read_bytes()
        return f"audio/{wanted}", sound if self.speaks is None else self.speaks

    def check_model(self, model: str) -> None:
        """Raise Refused for one that is not there."""
        if not model or model in self.unknown:
            raise Refused(f"The model {model!r} does not exist", 404)


def form(kind: str, body: bytes) -> dict[str, object]:
    """The parts of a form, by the letter: each once; a file as name, kind and bytes."""
    found = re.fullmatch(r"multipart/form-data; boundary=([\w'()+,./:=?-]{1,70})", kind)
    if found is None:
        raise Refused(f"Expected a form, not {kind}")
    mark = b"--" + found[1].encode()
    if not body.startswith(mark + b"\r\n") or not body.rstrip(b"\r\n").endswith(mark + b"--"):
        raise Refused("The form is cut off")
    fields: dict[str, object] = {}
    for part in body.split(mark)[1:-1]:
        head, gap, content = part.removeprefix(b"\r\n").partition(b"\r\n\r\n")
        name = re.search(rb'form-data; name="(\w+)"(?:; filename="([^"]+)")?', head)
        if not gap or name is None or not content.endswith(b"\r\n"):
            raise Refused("A part of the form cannot be read")
        if (key := name[1].decode()) in fields:
            raise Refused(f"{key} stands there twice")
        mime = re.search(rb"Content-Type: (\S+)", head, re.IGNORECASE)
        value = content.removesuffix(b"\r\n")
        fields[key] = (
            (name[2].decode(), mime[1].decode() if mime else "", value)
            if name[2]
            else value.decode()
        )
    return fields


def file_of(fields: Mapping[str, object]) -> tuple[str, str, bytes]:
    """The recording in a form."""
    match fields.get("file"):
        case (str(name), str(mime), bytes(sound)):
            return name, mime, sound
        case _:
            raise Refused("file is missing")


def check_sound(name: str, mime: str, sound: bytes) -> None:
    """Raise Refused unless a recording is what it is called."""
    extension = name.rpartition(".")[2].lower()
    if len(sound) > MOST_BYTES:
        raise Refused("Maximum content size limit exceeded", 413)
    if extension not in EXTENSIONS:
        raise Refused(f"Invalid file format. Supported formats: {sorted(EXTENSIONS)}")
    if not mime.startswith(("audio/", "video/")):
        raise Refused(f"{mime or 'nothing'} is no kind of sound")
    if extension in MAGIC and not sound.startswith(MAGIC[extension]):
        raise Refused("The audio file could not be decoded or its format is not supported.")


class Server(ThreadingHTTPServer):
    """Serves one fake."""

    def __init__(self, fake: SpeechServer) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.fake = fake

    def handle_error(self, *_: object) -> None:
        pass  # whoever asked has hung up, or was hung up on: some tests are about that


class Handler(BaseHTTPRequestHandler):
    """Speaks HTTP."""

    server: Server

    def do_POST(self) -> None:
        fake = self.server.fake
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        fake.headers.append(headers)
        if fake.troubles:
            self.fail(fake.troubles.pop(0))
            return
        try:
            self.reply(200, *fake.answer(self.path, headers, body))
        except Refused as error:
            self.reply(error.status, "application/json", said(str(error)))

    def fail(self, trouble: Trouble) -> None:
        """Fail as a test wants it."""
        match trouble:
            case "hang":
                time.sleep(1.0)
            case "reset":
                linger = struct.pack("ii", 1, 0)
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.connection.close()
            case (status, text, *more):
                self.reply(status, "application/json", said(text), *more)

    def reply(
        self, status: int, kind: str, data: bytes, more: Mapping[str, str] | None = None
    ) -> None:
        """Send a whole answer."""
        self.send_response(status)
        for name, value in {"content-type": kind, **(more or {})}.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def speech_server() -> Iterator[SpeechServer]:
    """Start it, and stop it on leaving."""
    fake = SpeechServer()
    with Server(fake) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        fake.url = f"http://127.0.0.1:{server.server_port}/v1"
        try:
            yield fake
        finally:
            server.shutdown()
            thread.join()


def listened_to(settings: Settings, server: SpeechServer) -> Settings:
    """The settings of somebody whom it listens to, and who keeps what they say."""
    return replace(
        settings,
        speech=SpeechSettings(transcriber="mine:whisper-1", keep_audio=True),
        providers={"mine": ProviderSettings(base_url=server.url)},
    )


def said(text: str) -> bytes:
    """An error, as it is written."""
    return as_json({"error": {"message": text, "type": "invalid_request_error"}})


def as_json(body: object) -> bytes:
    """A body; text as it is."""
    return body.encode() if isinstance(body, str) else json.dumps(body).encode()
