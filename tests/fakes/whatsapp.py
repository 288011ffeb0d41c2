"""A WhatsApp of a test: Meta's Cloud API by its rules over HTTP, and the webhook that it calls.

It refuses what Meta refuses, by the same numbers, and tells by signed calls what people write and
what has become of each message: again until it is confirmed, and if it is told to, doubled or in
another order.
"""

import hashlib
import hmac
import json
import re
import socket
import threading
import time
import urllib.error
import urllib.request
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.fakes.telegram.server import CutOff, Reset
from tests.fakes.weather import Mishap, Weather, fine

Fields = dict[str, Any]

TOKEN, APP_SECRET, VERIFY_TOKEN = "EAAfakeTokenOfAFake", "5ec4e7" * 5, "a word of ours"
PHONE_NUMBER_ID, NUMBER = "106540352242922", "15550783881"
CREDENTIALS = {
    "token": TOKEN,
    "phone_number_id": PHONE_NUMBER_ID,
    "app_secret": APP_SECRET,
    "verify_token": VERIFY_TOKEN,
}
TEMPLATES = {("good_to_see_you", "en"), ("hello_world", "en_US")}
VERSION = "v26.0"
WINDOW_S = 24 * 60 * 60.0
LONGEST_TEXT, LONGEST_INTERACTIVE, LONGEST_TITLE, LONGEST_ROW = 4_096, 1_024, 20, 24
LONGEST_DESCRIPTION, LONGEST_ID, LONGEST_CALLBACK = 72, 200, 512
LARGEST_AUDIO = 16 * 1024 * 1024
AUDIO_MIMES = {"audio/aac", "audio/amr", "audio/mpeg", "audio/mp4", "audio/ogg; codecs=opus"}


def units(text: str) -> int:
    """How long a text is for WhatsApp."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


class Refused(Exception):
    """The API refuses a call."""

    def __init__(self, status: int, code: int, message: str, **headers: str) -> None:
        super().__init__(message)
        self.status, self.code, self.headers = status, code, headers


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """How the next call goes wrong."""

    status: int = 500  # 0: the connection is reset
    code: int = 0  # of Meta's error; 0: the answer is no JSON
    is_done: bool = False  # it is done all the same, and only the answer is lost


MISHAPS: dict[Mishap, Fault] = {
    "unreachable": Fault(status=500, code=131000),
    "unanswered": Fault(status=0, is_done=True),
}


@dataclass(slots=True, kw_only=True)
class Shown:
    """A message of the companion as its reader sees it."""

    id: str
    to: str
    kind: str
    text: str = ""
    buttons: list[tuple[str, str]] = field(default_factory=list)  # what they say, and send
    file: bytes = b""
    is_voice: bool = False
    callback: str = ""
    statuses: list[str] = field(default_factory=list)


class WhatsApp:
    """Everything on this WhatsApp; tests talk to it directly, the program by HTTP alone."""

    def __init__(self) -> None:
        """Nobody is here yet."""
        self.url = ""  # of the API, with its version
        self.webhook_url = ""  # whom it calls
        self.changed = threading.Condition(threading.RLock())
        self.calls: deque[Fields] = deque()  # that wait to be told
        self.is_calling = False
        self.last_call: Fields = {}
        self.hooked: list[int] = []  # what the webhook has answered; 0: nothing
        self.shown: list[Shown] = []
        self.read: list[str] = []  # messages marked as read
        self.typing: list[str] = []
        self.requests: list[tuple[str, str]] = []
        self.files: dict[str, bytes] = {}
        self.heard_at: dict[str, float] = {}
        self.known: set[str] = set()  # ids of messages, ours and theirs
        self.gone: set[str] = set()
        self.faults: deque[Fault] = deque()
        self.weather: Weather = fine
        self.flooded = 0  # how many more messages are too many
        self.tells_statuses = True
        self.fails_later: dict[str, int] = {}  # by address: accepted, and then not delivered
        self.doubles = False
        self.shuffles = False
        self.file_host = ""  # where files are said to be kept; "": here
        self.now: Callable[[], float] = time.time
        self._numbers = count(1)

    def says(self, address: str, text: str = "", **more: Any) -> str:
        """Somebody writes; the id of their message."""
        kind = {"type": "text", "text": {"body": text}} if text else {}
        return self.tells(address, **{**kind, **more})

    def tells(self, address: str, *, name: str = "", at: float | None = None, **said: Any) -> str:
        """The webhook is told of a message of somebody."""
        message_id, now = f"wamid.in{next(self._numbers)}=", self.now() if at is None else at
        sender = {"from": address} if address.isdecimal() else {"from_user_id": address}
        key = "wa_id" if address.isdecimal() else "user_id"
        contact = {"profile": {"name": name or f"Name of {address}"}, key: address}
        message = {**sender, "id": message_id, "timestamp": str(int(now)), **said}
        with self.changed:
            self.known.add(message_id)
            self.heard_at[address] = max(now, self.heard_at.get(address, 0.0))
        self.call({"contacts": [contact], "messages": [message]})
        return message_id

    def presses(self, address: str, shown: Shown, number: int = 0) -> str:
        """Somebody presses a button below a message of ours."""
        label, command = shown.buttons[number]
        kind = "button_reply" if shown.kind == "button" else "list_reply"
        reply = {"type": kind, kind: {"id": command, "title": label}}
        context = {"from": NUMBER, "id": shown.id}
        return self.tells(address, type="interactive", interactive=reply, context=context)

    def voice(self, content: bytes) -> Fields:
        """A voice note whose recording is kept here."""
        media_id = f"{next(self._numbers)}00"
        self.files[media_id] = content
        media = {"id": media_id, "mime_type": "audio/ogg; codecs=opus", "voice": True}
        return {"type": "audio", "audio": media}

    def call(self, value: Fields) -> None:
        """Tell the webhook something of our number."""
        metadata = {"display_phone_number": NUMBER, "phone_number_id": PHONE_NUMBER_ID}
        value = {"messaging_product": "whatsapp", "metadata": metadata, **value}
        change = {"id": "10", "changes": [{"value": value, "field": "messages"}]}
        with self.changed:
            self.last_call = payload = {"object": "whatsapp_business_account", "entry": [change]}
            for _ in range(2 if self.doubles else 1):
                self.calls.append(payload)
            if self.shuffles:
                self.calls.rotate(1)
            self.changed.notify_all()

    def status(self, shown: Shown, status: str, *, code: int = 0) -> None:
        """Tell the webhook what has become of a message of ours."""
        shown.statuses.append(status)
        errors = {"errors": [{"code": code, "title": "It was not delivered"}]} if code else {}
        raw = {
            "id": shown.id,
            "status": status,
            "timestamp": str(int(self.now())),
            "recipient_id": shown.to,
            **({"biz_opaque_callback_data": shown.callback} if shown.callback else {}),
            **errors,
        }
        self.call({"statuses": [raw]})

    def texts(self, address: str) -> list[str]:
        """What somebody has been sent."""
        with self.changed:
            return [each.text for each in self.shown if each.to == address]

    def wait(self, is_so: Callable[[], Any], seconds: float = 20) -> bool:
        """Wait until something is so."""
        with self.changed:
            return bool(self.changed.wait_for(is_so, timeout=seconds))

    def sign(self, body: bytes) -> str:
        """What a body is signed with."""
        return f"sha256={hmac.new(APP_SECRET.encode(), body, hashlib.sha256).hexdigest()}"


class Api:
    """The calls of the Cloud API that a companion makes."""

    def __init__(self, world: WhatsApp) -> None:
        self.world = world

    async def answer(self, request: Request) -> Response:
        """Answer one call."""
        path = request.path_params["path"]
        self.world.requests.append((request.method, path))
        scripted = self.world.faults.popleft() if self.world.faults else None
        fault = scripted or MISHAPS.get(self.world.weather())
        if fault is not None and not fault.is_done:
            return failing(fault)
        try:
            told = await self._answer(request, path)
        except Refused as refused:
            return refusal(refused)
        return told if fault is None else failing(fault)

    async def _answer(self, request: Request, path: str) -> Response:
        if request.headers.get("authorization") != f"Bearer {TOKEN}":
            raise Refused(401, 190, "Error validating access token: it is not valid.")
        if request.path_params["version"] != VERSION:
            raise Refused(400, 2500, "Unknown path components")
        match request.method, path.split("/"):
            case "GET", [one] if one == PHONE_NUMBER_ID:
                return JSONResponse(self._number(request))
            case "POST", [one, "messages"] if one == PHONE_NUMBER_ID:
                return JSONResponse(self._message(await request.json()))
            case "POST", [one, "media"] if one == PHONE_NUMBER_ID:
                return JSONResponse({"id": await self._upload(request)})
            case "GET", [media_id] if media_id in self.world.files:
                return JSONResponse(self._media(media_id))
            case "GET", ["files", media_id] if media_id in self.world.files:
                return Response(self.world.files[media_id], media_type="audio/ogg")
        raise Refused(400, 100, "Unsupported request: the object does not exist")

    def _number(self, request: Request) -> Fields:
        proof = hmac.new(APP_SECRET.encode(), TOKEN.encode(), hashlib.sha256).hexdigest()
        if request.query_params.get("appsecret_proof", proof) != proof:
            raise Refused(400, 100, "Invalid appsecret_proof provided in the API argument")
        hook = {"application": self.world.webhook_url} if self.world.webhook_url else {}
        return {
            "id": PHONE_NUMBER_ID,
            "display_phone_number": "+1 555-078-3881",
            "verified_name": "Oldfriend",
            "quality_rating": "GREEN",
            "webhook_configuration": hook,
        }

    async def _upload(self, request: Request) -> str:
        async with request.form() as form:
            file, kind = form.get("file"), form.get("type")
            need(form.get("messaging_product") == "whatsapp", "messaging_product")
            if file is None or isinstance(file, str):
                raise Refused(400, 100, "(#100) The parameter file is required.")
            content, claimed = await file.read(), file.content_type
        if kind not in AUDIO_MIMES or claimed != kind:
            raise Refused(400, 100, "(#100) Param file must be a file of a supported type.")
        if not content or len(content) > LARGEST_AUDIO:
            raise Refused(400, 131053, "Media upload error")
        media_id = f"{next(self.world._numbers)}01"
        self.world.files[media_id] = content
        return media_id

    def _media(self, media_id: str) -> Fields:
        here = f"{self.world.url}/files/{media_id}"
        kept = f"https://{self.world.file_host}/{media_id}" if self.world.file_host else here
        size = len(self.world.files[media_id])
        return {"id": media_id, "url": kept, "mime_type": "audio/ogg", "file_size": size}

    def _message(self, body: Fields) -> Fields:
        need(body.get("messaging_product") == "whatsapp", "messaging_product is required")
        if body.get("status") == "read":
            return self._read(body)
        to = str(body.get("to") or body.get("recipient") or "")
        need(bool(body.get("to")) == to.isdecimal(), "to is a number, recipient another id")
        need(re.fullmatch(r"\d{6,15}|[A-Z]{2}\.\w+", to), "The recipient is not valid")
        need(body.get("recipient_type") == "individual", "recipient_type")
        callback = str(body.get("biz_opaque_callback_data", ""))
        need(units(callback) <= LONGEST_CALLBACK, "biz_opaque_callback_data is too long")
        shown = SHAPES.get(str(body.get("type")), unsupported)(self.world, body)
        if self.world.flooded > 0:
            self.world.flooded -= 1
            raise Refused(429, 131056, "(Business Account, Consumer Account) pair rate limit hit")
        if to in self.world.gone:
            raise Refused(400, 131026, "Message undeliverable")
        is_open = self.world.now() < self.world.heard_at.get(to, 0.0) + WINDOW_S
        if not is_open and shown.kind != "template":
            raise Refused(400, 131047, "Re-engagement message: more than 24 hours have passed")
        return self._accept(shown, to, callback)

    def _accept(self, shown: Shown, to: str, callback: str) -> Fields:
        shown.to, shown.callback = to, callback
        with self.world.changed:
            shown.id = f"wamid.out{next(self.world._numbers)}="
            self.world.known.add(shown.id)
            if code := self.world.fails_later.get(to):
                self.world.status(shown, "failed", code=code)
            else:
                self.world.shown.append(shown)
                for status in ("sent", "delivered") if self.world.tells_statuses else ():
                    self.world.status(shown, status)
            self.world.changed.notify_all()
        who = {"input": to, "wa_id": to} if to.isdecimal() else {"input": to, "user_id": to}
        sent = {"id": shown.id, "message_status": "accepted"}
        return {"messaging_product": "whatsapp", "contacts": [who], "messages": [sent]}

    def _read(self, body: Fields) -> Fields:
        message_id = str(body.get("message_id"))
        need(message_id in self.world.known, "The message_id is not valid")
        with self.world.changed:
            self.world.read.append(message_id)
            if body.get("typing_indicator"):
                need(body["typing_indicator"] == {"type": "text"}, "typing_indicator")
                self.world.typing.append(message_id)
            self.world.changed.notify_all()
        return {"success": True}


def need(is_so: object, what: str) -> None:
    """Refuse a parameter that is not as it must be."""
    if not is_so:
        raise Refused(400, 131009, f"Parameter value is not valid: {what}")


def unsupported(_: WhatsApp, body: Fields) -> Shown:
    """What is no message."""
    raise Refused(400, 131051, f"Unsupported message type {body.get('type')!r}")


def text_shape(_: WhatsApp, body: Fields) -> Shown:
    """A text."""
    text = body["text"]["body"]
    need(1 <= units(text) <= LONGEST_TEXT and text.strip(), "text.body")
    return Shown(id="", to="", kind="text", text=text)


def interactive_shape(_: WhatsApp, body: Fields) -> Shown:
    """A text with buttons, or with a list."""
    raw = body["interactive"]
    text, kind, action = raw["body"]["text"], raw["type"], raw["action"]
    if kind == "button":
        found = [(each["reply"]["title"], each["reply"]["id"]) for each in action["buttons"]]
        most, longest, widest = 3, LONGEST_INTERACTIVE, LONGEST_TITLE
        need(all(each["type"] == "reply" for each in action["buttons"]), "type of a button")
    else:
        need(kind == "list", "interactive.type")
        need(1 <= units(action["button"]) <= LONGEST_TITLE, "action.button")
        rows = [row for section in action["sections"] for row in section["rows"]]
        found = [(row["title"], row["id"]) for row in rows]
        most, longest, widest = 10, LONGEST_TEXT, LONGEST_ROW
        descriptions = (units(row.get("description", "")) for row in rows)
        need(max(descriptions) <= LONGEST_DESCRIPTION, "description of a row")
    need(1 <= units(text) <= longest, "interactive.body.text")
    need(1 <= len(found) <= most, "how many there are to choose from")
    need(all(1 <= units(title) <= widest for title, _ in found), "title")
    need(all(1 <= units(each) <= LONGEST_ID for _, each in found), "id")
    need(len({title for title, _ in found}) == len(found), "titles that differ")
    need(len({each for _, each in found}) == len(found), "ids that differ")
    return Shown(id="", to="", kind=kind, text=text, buttons=found)


def audio_shape(world: WhatsApp, body: Fields) -> Shown:
    """Audio that was uploaded before."""
    audio = body["audio"]
    need(audio.get("id") in world.files, "audio.id")
    file = world.files[audio["id"]]
    need(not audio.get("voice") or file.startswith(b"OggS"), "a voice note that is no ogg")
    return Shown(id="", to="", kind="audio", file=file, is_voice=bool(audio.get("voice")))


def template_shape(_: WhatsApp, body: Fields) -> Shown:
    """A template that was approved."""
    template = body["template"]
    name = (template["name"], template["language"]["code"])
    if name not in TEMPLATES:
        raise Refused(404, 132001, "Template name does not exist in the translation")
    return Shown(id="", to="", kind="template", text=name[0])


SHAPES: dict[str, Callable[[WhatsApp, Fields], Shown]] = {
    "text": text_shape,
    "interactive": interactive_shape,
    "audio": audio_shape,
    "template": template_shape,
}


def refusal(refused: Refused) -> Response:
    """A refusal as Meta words it."""
    error = {
        "message": f"(#{refused.code}) {refused}",
        "type": "OAuthException",
        "code": refused.code,
        "error_data": {"messaging_product": "whatsapp", "details": str(refused)},
        "fbtrace_id": "A0",
    }
    return JSONResponse({"error": error}, status_code=refused.status)


def failing(fault: Fault) -> Response:
    """What a call gets that goes wrong."""
    if fault.status == 0:
        return CutOff() if fault.is_done else Reset()
    if fault.code:
        return refusal(Refused(fault.status, fault.code, "It goes wrong"))
    return Response("<html>Sorry, something went wrong.</html>", status_code=fault.status)


def free_port() -> int:
    """A port that nobody uses now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def running_whatsapp() -> Iterator[WhatsApp]:
    """Start it on a free port, in a thread of its own, and stop it on leaving."""
    world = WhatsApp()
    api = Api(world)
    app = Starlette(routes=[Route("/{version}/{path:path}", api.answer, methods=["GET", "POST"])])
    with socket.socket(proto=socket.IPPROTO_TCP) as listening:
        listening.bind(("127.0.0.1", 0))
        world.url = f"http://127.0.0.1:{listening.getsockname()[1]}/{VERSION}"
        config = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_keep_alive=30)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
        hooks = threading.Thread(target=deliver, args=(world, server), daemon=True)
        thread.start()
        hooks.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield world
        finally:
            server.should_exit = server.force_exit = True
            thread.join(timeout=10)


def deliver(world: WhatsApp, server: uvicorn.Server) -> None:
    """Call the webhook again and again until each call is confirmed, whatever comes after it."""
    pause_s = 0.05
    while not server.should_exit:
        with world.changed:
            world.changed.wait_for(lambda: world.webhook_url and world.calls, timeout=0.1)
            if not (world.webhook_url and world.calls):
                continue
            payload, world.is_calling = world.calls.popleft(), True
        status = post(world, payload)
        with world.changed:
            world.is_calling = False
            world.hooked.append(status)
            if status != 200:
                (world.calls.append if world.shuffles else world.calls.appendleft)(payload)
            world.changed.notify_all()
        if status != 200:
            time.sleep(pause_s)
        pause_s = 0.05 if status == 200 else min(2 * pause_s, 1.0)


def post(world: WhatsApp, payload: Fields) -> int:
    """Call the webhook once; the status of the answer, 0 where there is none."""
    body = json.dumps(payload).encode()
    headers = {"content-type": "application/json", "X-Hub-Signature-256": world.sign(body)}
    request = urllib.request.Request(world.webhook_url, body, headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
    except (urllib.error.URLError, OSError):
        return 0
