"""How is this Telegram reached? By the Bot API's rules, over HTTP, on this machine."""

import asyncio
import json
import re
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from email import message_from_bytes
from typing import Any
from urllib.parse import parse_qsl

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from tests.fakes.telegram.markup import LONGEST, MarkupError, seen, units
from tests.fakes.telegram.world import BOT, Fault, Fields, World

LARGEST_FILE = 20 * 1024 * 1024
LONGEST_DESCRIPTION = 256
LONGEST_TOAST, LONGEST_BUTTON_DATA = 200, 64
METHODS = {"sendmessage": "sendMessage"}
"""As those are known here that are asked for in other letters: their case does not matter."""
ACTIONS = {"typing", "record_voice", "upload_voice", "upload_document"}


class Refused(Exception):
    """The API refuses a call."""

    def __init__(self, status: int, description: str, **parameters: int) -> None:
        super().__init__(description)
        self.status, self.description, self.parameters = status, description, parameters


class Api:
    """The methods of the Bot API that a companion needs."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def answer(self, request: Request) -> Response:
        """Answer one call."""
        token, written = request.path_params["token"], request.path_params["method"]
        method = METHODS.get(written.lower(), written)
        fields = await fields_of(request)
        if token != self.world.token:
            return refusal(Refused(401, "Unauthorized"))
        self.world.calls.append((method, fields))
        fault = self.world.fault_for(method)
        if fault is not None and not fault.is_done and fault.status != 200:
            return await failing(fault)
        await asyncio.sleep(self.world.takes_s(method))
        handler = getattr(self, f"do_{method.lower()}", None)
        if handler is None:
            return refusal(Refused(404, "Not Found"))
        try:
            result = await handler(fields)
        except Refused as refused:
            return refusal(refused)
        if fault is not None:
            if fault.is_done and fault.status != 200:
                return await failing(fault)
            await asyncio.sleep(fault.delay_s)
        # With escapes, so that also half a character can be told of.
        told = json.dumps({"ok": True, "result": result})
        return Response(told, media_type="application/json")

    async def file(self, request: Request) -> Response:
        """Give a file."""
        content = self.world.files.get(request.path_params["path"])
        if request.path_params["token"] != self.world.token or content is None:
            return refusal(Refused(404, "Not Found"))
        return Response(content)

    async def do_getme(self, _: Fields) -> Any:
        return {
            **BOT,
            "can_join_groups": True,
            "can_read_all_group_messages": not self.world.has_privacy,
        }

    async def do_getupdates(self, fields: Fields) -> Any:
        """What has happened since an offset; all before it is confirmed, and gone."""
        world = self.world
        if world.webhook is not None:
            raise Refused(409, "Conflict: can't use getUpdates method while webhook is active")
        world.poller += 1
        mine, offset = world.poller, int(fields.get("offset", 0))
        ends = time.monotonic() + float(fields.get("timeout", 0))
        while True:
            with world.changed:
                while world.updates and world.updates[0]["update_id"] < offset:
                    world.updates.popleft()
                found = list(world.updates)[: int(fields.get("limit", 100))]
            if world.poller != mine:
                raise Refused(409, "Conflict: terminated by other getUpdates request")
            if found or time.monotonic() >= ends:
                return found
            await asyncio.sleep(0.01)

    async def do_setwebhook(self, fields: Fields) -> Any:
        url, secret = str(fields.get("url", "")), str(fields.get("secret_token", ""))
        if url and not url.startswith("https://") and "127.0.0.1" not in url:
            raise Refused(400, "Bad Request: bad webhook: An HTTPS URL must be provided")
        if secret and not re.fullmatch("[A-Za-z0-9_-]{1,256}", secret):
            raise Refused(400, "Bad Request: secret token contains unallowed characters")
        with self.world.changed:
            self.world.webhook = fields if url else None
            self.world.hook_error = None
            self.world.changed.notify_all()
        return True

    async def do_deletewebhook(self, _: Fields) -> Any:
        self.world.webhook = None
        return True

    async def do_getwebhookinfo(self, _: Fields) -> Any:
        webhook = self.world.webhook or {}
        waiting = len(self.world.updates)
        error = self.world.hook_error
        told = (
            {}
            if error is None
            else {"last_error_date": int(time.time()), "last_error_message": error}
        )
        return {
            "url": webhook.get("url", ""),
            "pending_update_count": waiting,
            "has_custom_certificate": False,
            **told,
        }

    async def do_sendmessage(self, fields: Fields) -> Any:
        chat = self._reachable(fields)
        text = self._text(fields, "text")
        shown = {"text": text, "html": str(fields["text"]), "buttons": buttons_of(fields)}
        return self._sent(chat, fields, shown)

    async def do_editmessagereplymarkup(self, fields: Fields) -> Any:
        chat, number = self._reachable(fields), int(fields["message_id"])
        shown = next((e for e in self.world.shown if (e.chat, e.id) == (chat, number)), None)
        if shown is None:
            raise Refused(400, "Bad Request: message to edit not found")
        if shown.buttons == (buttons := buttons_of(fields)):
            raise Refused(400, "Bad Request: message is not modified")
        with self.world.changed:
            shown.buttons = buttons
            self.world.changed.notify_all()
        return self._as_message(chat, number, shown.text)

    async def do_sendmessagedraft(self, fields: Fields) -> Any:
        """A text that is being written, in a private chat; gone with the next message."""
        if not self.world.drafts_are_known:
            raise Refused(404, "Not Found")
        chat = self._reachable(fields)
        if chat < 0:
            raise Refused(400, "Bad Request: TEXTDRAFT_PEER_INVALID")
        if not int(fields.get("draft_id", 0)):
            raise Refused(400, "Bad Request: draft_id must be non-zero")
        text = self._text(fields, "text") if fields.get("text") else ""
        self.world.drafts[chat].append(text)
        return True

    async def do_editmessagetext(self, fields: Fields) -> Any:
        chat = self._reachable(fields)
        text, number = self._text(fields, "text"), int(fields["message_id"])
        shown = next((e for e in self.world.shown if (e.chat, e.id) == (chat, number)), None)
        if shown is None:
            raise Refused(400, "Bad Request: message to edit not found")
        buttons = buttons_of(fields)
        if (shown.html, shown.buttons) == (fields["text"], buttons):
            raise Refused(400, "Bad Request: message is not modified")
        with self.world.changed:
            shown.text, shown.html, shown.edits = text, str(fields["text"]), shown.edits + 1
            shown.buttons = buttons
            self.world.changed.notify_all()
        return self._as_message(chat, number, text)

    async def do_deletemessage(self, fields: Fields) -> Any:
        chat, number = self._reachable(fields), int(fields["message_id"])
        with self.world.changed:
            kept = [e for e in self.world.shown if (e.chat, e.id) != (chat, number)]
            if len(kept) == len(self.world.shown):
                raise Refused(400, "Bad Request: message to delete not found")
            self.world.shown[:] = kept
        return True

    async def do_sendvoice(self, fields: Fields) -> Any:
        return self._sent_file(fields, "voice")

    async def do_sendaudio(self, fields: Fields) -> Any:
        return self._sent_file(fields, "audio")

    async def do_sendchataction(self, fields: Fields) -> Any:
        chat = self._reachable(fields)
        if fields.get("action") not in ACTIONS:
            raise Refused(400, "Bad Request: wrong parameter action in request")
        self.world.actions.append((chat, str(fields["action"])))
        return True

    async def do_answercallbackquery(self, fields: Fields) -> Any:
        query = str(fields.get("callback_query_id", ""))
        if not query.startswith("query-"):
            raise Refused(
                400,
                "Bad Request: query is too old and response timeout expired or query ID is invalid",
            )
        text = str(fields.get("text", ""))
        if units(text) > LONGEST_TOAST:
            raise Refused(400, "Bad Request: MESSAGE_TOO_LONG")
        with self.world.changed:
            self.world.toasts.setdefault(query, text)
            self.world.acknowledged.add(query)
            self.world.changed.notify_all()
        return True

    async def do_getfile(self, fields: Fields) -> Any:
        file = str(fields.get("file_id", ""))
        if file not in self.world.files:
            raise Refused(400, "Bad Request: invalid file_id")
        size = len(self.world.files[file])
        if size > LARGEST_FILE:
            raise Refused(400, "Bad Request: file is too big")
        return {"file_id": file, "file_unique_id": file, "file_size": size, "file_path": file}

    async def do_setmycommands(self, fields: Fields) -> Any:
        commands = json.loads(str(fields["commands"]))
        for each in commands:
            if not re.fullmatch("[a-z0-9_]{1,32}", each["command"]):
                raise Refused(400, "Bad Request: BOT_COMMAND_INVALID")
            if not 1 <= len(each["description"]) <= LONGEST_DESCRIPTION:
                raise Refused(400, "Bad Request: BOT_COMMAND_DESCRIPTION_INVALID")
        self.world.commands[offered_to(fields)] = commands
        return True

    async def do_getmycommands(self, fields: Fields) -> Any:
        return self.world.commands.get(offered_to(fields), [])

    def _reachable(self, fields: Fields) -> int:
        """The chat that a call is about. Raises Refused where the bot cannot speak."""
        try:
            chat = int(fields["chat_id"])
        except (KeyError, ValueError):
            raise Refused(400, "Bad Request: chat_id is empty") from None
        if chat in self.world.blocked:
            raise Refused(403, "Forbidden: bot was blocked by the user")
        if chat in self.world.kicked:
            raise Refused(403, "Forbidden: bot was kicked from the supergroup chat")
        if chat in self.world.gone or (chat < 0 and chat not in self.world.groups):
            raise Refused(400, "Bad Request: chat not found")
        if chat in self.world.moved:
            raise Refused(
                400,
                "Bad Request: group chat was upgraded to a supergroup chat",
                migrate_to_chat_id=self.world.moved[chat],
            )
        topic = fields.get("message_thread_id")
        if topic is not None and int(topic) not in self.world.topics[chat]:
            raise Refused(400, "Bad Request: message thread not found")
        return chat

    def _text(self, fields: Fields, name: str) -> str:
        """What people see of a text. Raises Refused."""
        try:
            text = seen(str(fields.get(name, "")), fields.get("parse_mode"))
        except MarkupError as error:
            raise Refused(400, f"Bad Request: can't parse entities: {error}") from None
        if not text:
            raise Refused(400, "Bad Request: message text is empty")
        if units(text) > LONGEST:
            raise Refused(400, "Bad Request: message is too long")
        return text

    def _sent(self, chat: int, fields: Fields, shown: Fields) -> Any:
        wait_s = self.world.flood_wait(chat)
        if wait_s is not None:
            raise Refused(429, f"Too Many Requests: retry after {wait_s}", retry_after=wait_s)
        topic = fields.get("message_thread_id")
        reply = fields.get("reply_parameters")
        reply_to = json.loads(reply)["message_id"] if isinstance(reply, str) else None
        made = self.world.show(
            chat, {**shown, "topic": None if topic is None else int(topic), "reply_to": reply_to}
        )
        return self._as_message(chat, made.id, made.text)

    def _sent_file(self, fields: Fields, kind: str) -> Any:
        chat = self._reachable(fields)
        caption = self._text(fields, "caption") if fields.get("caption") else ""
        content = fields.get(kind, b"")
        if not isinstance(content, bytes) or not content:
            raise Refused(400, "Bad Request: file must be non-empty")
        shown = {"text": caption, "html": caption, "kind": kind, "file": content}
        return self._sent(chat, fields, shown)

    def _as_message(self, chat: int, number: int, text: str) -> Fields:
        place = self.world.groups.get(chat, {"id": chat, "type": "private", "first_name": "User"})
        return {
            "message_id": number,
            "date": int(time.time()),
            "chat": place,
            "from": BOT,
            "text": text,
        }


async def fields_of(request: Request) -> Fields:
    """What a call says, in whichever way it is written."""
    kind, body = request.headers.get("content-type", ""), await request.body()
    fields: Fields = dict(request.query_params)
    if kind.startswith("application/json"):
        fields |= json.loads(body)
    elif kind.startswith("multipart/form-data"):
        fields |= parts_of(kind, body)
    else:
        fields |= parse_qsl(body.decode(), keep_blank_values=True)
    attached = {
        name: fields[value[9:]]
        for name, value in fields.items()
        if isinstance(value, str) and value.startswith("attach://")
    }
    return {**fields, **attached}


def parts_of(kind: str, body: bytes) -> Fields:
    """The parts of a form with files."""
    form = message_from_bytes(b"content-type: " + kind.encode() + b"\r\n\r\n" + body)
    parts = form.get_payload()
    assert isinstance(parts, list)
    fields: Fields = {}
    for part in parts:
        content = part.get_payload(decode=True)
        name = part.get_param("name", header="content-disposition")
        fields[str(name)] = content if part.get_filename() else content.decode()
    return fields


def buttons_of(fields: Fields) -> list[tuple[str, str]]:
    """The buttons below a message: what they say, and what they send. Raises Refused."""
    markup = fields.get("reply_markup")
    rows = (json.loads(markup) if isinstance(markup, str) else markup or {}).get(
        "inline_keyboard", []
    )
    found = [(str(each.get("text", "")), each) for row in rows for each in row]
    for text, button in found:
        if not text:
            raise Refused(400, "Bad Request: Text buttons are unallowed in the inline keyboard")
        data = str(button.get("callback_data", ""))
        if not 1 <= len(data.encode()) <= LONGEST_BUTTON_DATA:
            raise Refused(400, "Bad Request: BUTTON_DATA_INVALID")
    return [(text, button["callback_data"]) for text, button in found]


def offered_to(fields: Fields) -> tuple[str, str]:
    """To whom commands are offered: in which chats, and to which language."""
    scope = json.loads(str(fields.get("scope", '{"type": "default"}')))
    return scope["type"], str(fields.get("language_code", ""))


async def failing(fault: Fault) -> Response:
    """What a call gets that goes wrong."""
    await asyncio.sleep(fault.delay_s)
    if fault.status == 0:
        return CutOff() if fault.is_done and fault.is_cut else Reset()
    more = {} if fault.retry_after is None else {"retry_after": fault.retry_after}
    return refusal(Refused(fault.status, fault.description, **more))


class Reset(Response):
    """The connection is reset before anything is answered."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        receive.__self__.transport.abort()  # of uvicorn's cycle of a request


class CutOff(Response):
    """The connection breaks off in the middle of an answer."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", b"100")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"ok":', "more_body": True})


def refusal(refused: Refused) -> Response:
    """A refusal as the API words it."""
    body: Fields = {"ok": False, "error_code": refused.status, "description": refused.description}
    if refused.parameters:
        body["parameters"] = refused.parameters
    return JSONResponse(body, status_code=refused.status)


@contextmanager
def running_telegram() -> Iterator[World]:
    """Start it on a free port, in a thread of its own, and stop it on leaving."""
    world = World()
    api = Api(world)
    app = Starlette(
        routes=[
            Route("/bot{token}/{method}", api.answer, methods=["GET", "POST"]),
            Route("/file/bot{token}/{path:path}", api.file),
        ]
    )
    with socket.socket(proto=socket.IPPROTO_TCP) as listening:  # named: no answer is held back
        listening.bind(("127.0.0.1", 0))
        world.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
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
            server.should_exit = server.force_exit = True  # nobody waits for long polls
            thread.join(timeout=10)


def deliver(world: World, server: uvicorn.Server) -> None:
    """Send updates to the webhook, in order, again and again until each is taken."""
    pause_s = 0.05
    while not server.should_exit:
        with world.changed:
            world.changed.wait_for(lambda: world.webhook and world.updates, timeout=0.1)
            webhook, update = world.webhook, world.updates[0] if world.updates else None
        if webhook is None or update is None:
            continue
        status = post(str(webhook["url"]), update, str(webhook.get("secret_token", "")))
        with world.changed:
            world.hooked.append(status)
            is_taken = 200 <= status < 300
            world.hook_error = None if is_taken else f"Wrong response from the webhook: {status}"
            world.changed.notify_all()
        if is_taken:
            with world.changed:
                if world.updates and world.updates[0] is update:
                    world.updates.popleft()
            pause_s = 0.05
        else:
            time.sleep(pause_s)
            pause_s = min(2 * pause_s, 1.0)


def post(url: str, update: Fields, secret: str) -> int:
    """Send one update; the status of the answer, 0 where there is none."""
    headers = {"content-type": "application/json", "X-Telegram-Bot-Api-Secret-Token": secret}
    request = urllib.request.Request(url, json.dumps(update).encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as response:
            return int(response.status)
    except urllib.error.HTTPError as error:
        return error.code
    except (urllib.error.URLError, OSError):
        return 0
