"""Answer files: an OpenAI-compatible chat endpoint whose answers somebody writes into files.

Each new request becomes ``0007.request.txt`` in a folder and waits for ``0007.answer.txt`` beside
it, however long that takes. An answer is one of

- the text of the reply;
- JSON where a schema is asked for, whether as ``response_format`` or as a tool that must be called;
- tool calls: ``{"tool_calls": [{"name": "note", "arguments": {"words": "…"}}], "text": ""}``.

Write it under another name and rename it, or it may be read half written. A request with the same
messages, tools and schema as an earlier one gets the same answer without being asked again, also
after a restart.
"""

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from oldfriend.domain.messages import estimate_tokens

POLL_S: Final = 0.1
BACKLOG: Final = 256
REQUEST, ANSWER = ".request.txt", ".answer.txt"
KEY_LINE: Final = "key: "
TOKENS_LINE: Final = "about "
KEY_PARTS: Final = ("messages", "tools", "tool_choice", "response_format")
"""The parts of a request that decide whether another one is the same."""
Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request, its answer, and the estimated tokens of both."""

    label: str  # the first part of the path: what the request was made for
    model: str
    number: int
    prompt: str  # the texts of all its messages
    tokens_in: int
    tokens_out: int


@dataclass(slots=True)
class AnswerFiles:
    """The requests of a folder and their answers."""

    folder: Path
    url: str = ""
    exchanges: list[Exchange] = field(default_factory=list)
    _numbers: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take up the requests of earlier runs."""
        self.folder.mkdir(parents=True, exist_ok=True)
        for file in self.folder.glob(f"*{REQUEST}"):
            key = file.read_text("utf-8").partition("\n")[0].removeprefix(KEY_LINE)
            self._numbers[key] = int(file.name.removesuffix(REQUEST))

    def address(self, label: str) -> str:
        """Return the base URL under which requests carry a label."""
        return f"{self.url}/{label}/v1"

    def list_exchanges(self, label: str, model: str) -> list[Exchange]:
        """List the answered requests of a label to a model, oldest first."""
        return [each for each in self.exchanges if each.label == label and each.model == model]

    async def answer(self, label: str, body: Body) -> tuple[dict[str, Any], Exchange]:
        """Return the message that answers a request, once somebody has written it."""
        number = self._find_number(label, body)
        message = parse_answer(await self._wait_for_answer(number), body, number)
        exchange = Exchange(
            label=label,
            model=str(body["model"]),
            number=number,
            prompt="\n\n".join(map(render_message, body["messages"])),
            tokens_in=count_tokens_in(body),
            tokens_out=estimate_tokens(render_message(message)),
        )
        self.exchanges.append(exchange)
        return message, exchange

    async def _wait_for_answer(self, number: int) -> str:
        """Return what somebody writes as the answer to a request."""
        while True:
            if (text := self._find_answer(number)) is not None:
                return text
            await asyncio.sleep(POLL_S)

    def _find_answer(self, number: int) -> str | None:
        file = self.folder / f"{number:04}{ANSWER}"
        return file.read_text("utf-8") if file.exists() else None

    def _find_number(self, label: str, body: Body) -> int:
        """Return the number of a request, written down if it is new."""
        key = compute_key(body)
        if key not in self._numbers:
            self._numbers[key] = max(self._numbers.values(), default=0) + 1
            file = self.folder / f"{self._numbers[key]:04}{REQUEST}"
            unfinished = file.with_suffix(".part")
            unfinished.write_text(f"{KEY_LINE}{key}\nfor: {label}\n{render_request(body)}", "utf-8")
            unfinished.rename(file)
        return self._numbers[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A request in a folder that was answered with a text."""

    label: str
    model: str
    number: int
    prompt: str
    tokens_in: int
    reply: str


def list_written(folder: Path) -> list[Written]:
    """List the requests of a folder that were answered with a text, oldest first."""
    found = []
    for file in sorted(folder.glob(f"*{REQUEST}")):
        number = int(file.name.removesuffix(REQUEST))
        answer = folder / f"{number:04}{ANSWER}"
        if not answer.exists():
            continue
        message = parse_answer(answer.read_text("utf-8"), {}, number)
        if message["content"] and "tool_calls" not in message:
            found.append(parse_written(file.read_text("utf-8"), number, message["content"]))
    return found


def parse_written(text: str, number: int, reply: str) -> Written:
    """Parse a request as it is written down."""
    head, _, prompt = text.partition("\n\n")
    fields = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    tokens = next(line for line in head.splitlines() if line.startswith(TOKENS_LINE))
    for part in KEY_PARTS[1:]:
        prompt = prompt.partition(f"\n=== {part} ===\n")[0]
    return Written(
        label=fields["for"],
        model=fields["model"],
        number=number,
        prompt=prompt,
        tokens_in=int(tokens.removeprefix(TOKENS_LINE).split()[0]),
        reply=reply,
    )


def compute_key(body: Body) -> str:
    """Return what two equal requests have in common."""
    parts = json.dumps([body.get(part) for part in KEY_PARTS], sort_keys=True)
    return sha256(parts.encode()).hexdigest()[:16]


def render_request(body: Body) -> str:
    """Render everything that a request shows."""
    lines = [f"model: {body['model']}", f"{TOKENS_LINE}{count_tokens_in(body)} tokens", ""]
    for message in body["messages"]:
        lines += [f"=== {message['role']} ===", render_message(message), ""]
    for part in KEY_PARTS[1:]:
        if body.get(part):
            lines += [f"=== {part} ===", json.dumps(body[part], ensure_ascii=False), ""]
    return "\n".join(lines)


def render_message(message: Body) -> str:
    """Return the text of a message, and its tool calls."""
    content = message.get("content") or ""
    if not isinstance(content, str):
        content = "\n".join(part.get("text", "") for part in content)
    calls = [
        f"{call['function']['name']} {call['function']['arguments']}"
        for call in message.get("tool_calls") or ()
    ]
    return "\n".join(filter(None, [content, *calls]))


def count_tokens_in(body: Body) -> int:
    """Estimate the tokens of a request, tools and schema included."""
    texts = [render_message(message) for message in body["messages"]]
    texts += [json.dumps(body[part]) for part in ("tools", "response_format") if body.get(part)]
    return sum(map(estimate_tokens, texts))


def find_forced_tool(body: Body) -> str | None:
    """Return the tool that an answer has to call; None if it may be text."""
    choice = body.get("tool_choice")
    tools: list[Any] = body.get("tools") or []
    if isinstance(choice, dict):
        return str(choice["function"]["name"])
    if choice == "required" and len(tools) == 1:
        return str(tools[0]["function"]["name"])
    return None


def parse_answer(text: str, body: Body, number: int) -> dict[str, Any]:
    """Return the message that an answer file stands for."""
    text, parsed = text.strip(), None
    with suppress(ValueError):
        parsed = json.loads(text)
    calls: list[Mapping[str, Any]] = []
    if isinstance(parsed, dict) and "tool_calls" in parsed:
        text, calls = str(parsed.get("text", "")), parsed["tool_calls"]
    elif (forced := find_forced_tool(body)) is not None and parsed is not None:
        text, calls = "", [{"name": forced, "arguments": parsed}]
    message: dict[str, Any] = {"role": "assistant", "content": text or None}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call_{number}_{place}",
                "type": "function",
                "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
            }
            for place, call in enumerate(calls)
        ]
    return message


def build_completion(message: Body, exchange: Exchange) -> dict[str, Any]:
    """Return a whole response."""
    choice = {"index": 0, "message": message, "finish_reason": get_finish_reason(message)}
    return {**build_frame(exchange, "chat.completion"), "choices": [choice]}


def build_chunks(message: Body, exchange: Exchange) -> Iterator[dict[str, Any]]:
    """Yield the pieces of a streamed response; the last one has the usage."""
    frame = build_frame(exchange, "chat.completion.chunk")
    usage = frame.pop("usage")
    calls = [{**call, "index": at} for at, call in enumerate(message.get("tool_calls") or ())]
    delta = {**message, **({"tool_calls": calls} if calls else {})}
    yield {**frame, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    end = {"index": 0, "delta": {}, "finish_reason": get_finish_reason(message)}
    yield {**frame, "choices": [end]}
    yield {**frame, "choices": [], "usage": usage}


def build_frame(exchange: Exchange, kind: str) -> dict[str, Any]:
    """Return what stands around the choices of a response."""
    return {
        "id": f"answer-{exchange.number}",
        "object": kind,
        "created": 1,
        "model": exchange.model,
        "usage": {
            "prompt_tokens": exchange.tokens_in,
            "completion_tokens": exchange.tokens_out,
            "total_tokens": exchange.tokens_in + exchange.tokens_out,
        },
    }


def get_finish_reason(message: Body) -> str:
    """Return why a response ends."""
    return "tool_calls" if message.get("tool_calls") else "stop"


def build_site(files: AnswerFiles) -> Starlette:
    """Build the site that answers chat requests."""

    async def complete(request: Request) -> Response:
        body = await request.json()
        message, exchange = await files.answer(request.path_params["label"], body)
        if not body.get("stream"):
            return JSONResponse(build_completion(message, exchange))
        pieces = [*map(json.dumps, build_chunks(message, exchange)), "[DONE]"]
        text = "".join(f"data: {piece}\n\n" for piece in pieces)
        return Response(text, media_type="text/event-stream")

    return Starlette(routes=[Route("/{label}/v1/chat/completions", complete, methods=["POST"])])


@asynccontextmanager
async def serve_answers(folder: Path) -> AsyncIterator[AnswerFiles]:
    """Serve the answers of a folder on this machine until left."""
    files = AnswerFiles(folder)
    server = uvicorn.Server(uvicorn.Config(build_site(files), log_level="warning"))
    with socket.create_server(("127.0.0.1", 0), backlog=BACKLOG) as listening:
        files.url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(server.serve(sockets=[listening]))
            try:
                yield files
            finally:
                server.should_exit = True
