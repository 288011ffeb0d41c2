"""A fake Bot API: a Telegram with many people on it, as a process of its own.

    python -m oldfriend_evals.fake_bot_api CHATS ROUNDS

All say something; once all are answered they talk, each as soon as they have their reply. When
that is over it tells how long it took, in seconds. It takes everything, and checks nothing.
"""

import asyncio
import json
import socket
import sys
import time
from collections import Counter
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qs

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from oldfriend.domain.json import JsonValue

BOT: Final[Mapping[str, JsonValue]] = {
    "id": 1,
    "is_bot": True,
    "first_name": "Oldfriend",
    "username": "oldfriend_bot",
}
FIRST: Final = 1_000
"""The number of the first person."""
LONGEST_ANSWER: Final = 100


class FakeTelegram:
    """People who talk to a bot, each as soon as they are answered."""

    def __init__(self, chats: int, rounds: int) -> None:
        """Everybody has greeted, where there is anything to be said."""
        self._left = Counter({FIRST + chat: rounds for chat in range(chats)})
        self._greeting = chats if rounds else 0
        self._updates: list[dict[str, JsonValue]] = []
        self._more = asyncio.Event()
        self._began_at = 0.0
        self._open = chats * rounds
        self._said = 0
        for chat in range(self._greeting):
            self._say(FIRST + chat)

    async def answer(self, request: Request) -> Response:
        """What a method of the API gives."""
        body = (await request.body()).decode()
        fields = {name: values[0] for name, values in parse_qs(body).items()}
        match request.path_params["method"].lower():
            case "getupdates":
                return build_response(await self._heard(fields))
            case "getme":
                return build_response(dict(BOT))
            case "getmycommands":
                return build_response([])
            case "sendmessage":
                chat = int(fields["chat_id"])
                self._is_answered(chat)
                return build_response(build_message(chat, "I see."))
            case _:
                return build_response(True)

    async def _heard(self, fields: Mapping[str, str]) -> JsonValue:
        offset, wait_s = int(fields.get("offset", 0)), float(fields.get("timeout", 0))
        self._updates = [each for each in self._updates if get_number(each) >= offset]
        if not self._updates:
            self._more.clear()
            try:
                async with asyncio.timeout(wait_s):
                    await self._more.wait()
            except TimeoutError:
                return []
        return [*self._updates[:LONGEST_ANSWER]]

    def _say(self, chat: int) -> None:
        self._said += 1
        number = self._said
        words = f"I saw {number} boats today."
        self._updates.append({"update_id": number, "message": build_message(chat, words, number)})
        self._more.set()

    def _is_answered(self, chat: int) -> None:
        if self._greeting:
            self._greeting -= 1
            if not self._greeting:
                self._began_at = time.monotonic()
                for each in self._left:
                    self._say(each)
            return
        self._open -= 1
        self._left[chat] -= 1
        if self._left[chat]:
            self._say(chat)
        if not self._open:
            send_to_parent(time.monotonic() - self._began_at)


def build_message(chat: int, text: str, number: int = 1) -> dict[str, JsonValue]:
    """A message as the API shows one."""
    person: dict[str, JsonValue] = {"id": chat, "first_name": f"P{chat}"}
    return {
        "message_id": number,
        "date": int(time.time()),
        "text": text,
        "chat": {**person, "type": "private"},
        "from": {**person, "is_bot": False},
    }


def get_number(update: Mapping[str, JsonValue]) -> int:
    """The number of an update."""
    number = update["update_id"]
    assert isinstance(number, int)
    return number


def build_response(result: JsonValue) -> Response:
    """An answer as the API words it."""
    return JSONResponse({"ok": True, "result": result})


def send_to_parent(what: float) -> None:
    """Tell whoever has started this process."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def main(chats: int, rounds: int) -> None:
    """Be there until it is ended; first it tells on which port."""
    town = FakeTelegram(chats, rounds)
    app = Starlette(routes=[Route("/bot{token}/{method}", town.answer, methods=["GET", "POST"])])
    with socket.socket(proto=socket.IPPROTO_TCP) as listening:  # named: no answer is held back
        listening.bind(("127.0.0.1", 0))
        send_to_parent(listening.getsockname()[1])
        config = uvicorn.Config(app, log_level="critical", lifespan="off", timeout_keep_alive=60)
        uvicorn.Server(config).run(sockets=[listening])


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
