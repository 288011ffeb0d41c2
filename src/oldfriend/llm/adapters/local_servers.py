"""Local servers: finds the model servers on this machine by their lists of models.

Nothing but these lists, and what a server tells of each model, is asked for: no model is loaded,
no text is sent, no proxy is used and no redirect is followed. Needs no extra.

The formats are those of Ollama's docs/api.md (/api/tags, /api/show), of LM Studio's "REST API v0"
(/api/v0/models), of llama.cpp's tools/server/README.md (/v1/models, /props), and of vLLM's OpenAI-
compatible server (/v1/models with max_model_len).
"""

import asyncio
import http.client
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, suppress
from functools import partial
from typing import Final, TypeVar
from urllib.parse import urlsplit

from oldfriend.domain.json import JsonValue
from oldfriend.llm.addresses import is_forbidden_host
from oldfriend.llm.local_models import (
    LocalModel,
    LocalServer,
    is_embedder_name,
    parse_size_in_name,
)

CONNECT_TIMEOUT_S: Final = 0.3
"""A server on this machine accepts at once or not at all."""
READ_TIMEOUT_S: Final = 1.0
SERVER_TIMEOUT_S: Final = 1.5
"""For everything that one server is asked; the rest of its models stay undescribed."""
SEARCH_TIMEOUT_S: Final = SERVER_TIMEOUT_S + READ_TIMEOUT_S
"""For all servers, as all are asked at once."""
MAX_BYTES: Final = 4_000_000
MAX_MODELS: Final = 200
MAX_NAME_CHARS: Final = 300

MAX_COUNT: Final = 1 << 60

READ_ERRORS: Final = (
    OSError,
    http.client.HTTPException,
    ValueError,
    LookupError,
    TypeError,
    RecursionError,
)
"""What a server that is none of these, or breaks off, may cause."""

Json = Mapping[str, JsonValue]
T = TypeVar("T")


async def find_servers(places: Sequence[tuple[str, str]]) -> list[LocalServer]:
    """Return the servers that answer at some of the places (provider and address), in their order.

    All are asked at once, and none is waited for longer than SEARCH_TIMEOUT_S.
    """
    if not places:
        return []
    tasks = [
        asyncio.ensure_future(call_in_daemon(partial(read_server, provider, url)))
        for provider, url in places
    ]
    done, pending = await asyncio.wait(tasks, timeout=SEARCH_TIMEOUT_S)
    for task in pending:
        task.cancel()
    found: list[LocalServer] = []
    for task in tasks:
        server = task.result() if task in done else None
        # The same server may be reached by several names.
        if server and all(
            (server.provider, server.models) != (s.provider, s.models) for s in found
        ):
            found.append(server)
    return found


async def call_in_daemon(work: Callable[[], T]) -> T:
    """Return what work returns, done in a thread that neither the loop nor the exit waits for.

    A server that sends its header byte by byte, or a name that is not resolved, may hold it up.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()

    def settle(result: T) -> None:
        if not future.done():
            future.set_result(result)

    def run() -> None:
        result = work()
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, result)

    threading.Thread(target=run, daemon=True).start()
    return await future


def read_server(provider: str, base_url: str) -> LocalServer | None:
    """Return the server at an address with its models; None if there is no such server."""
    read = READERS.get(provider)
    if read is None:
        return None
    try:
        with closing(Link(base_url)) as link:
            name, models = read(link)
    except READ_ERRORS:
        return None
    return LocalServer(provider=name, base_url=base_url, models=tuple(models[:MAX_MODELS]))


class Link:
    """Connection to one server, with an end to what it may take."""

    def __init__(self, base_url: str) -> None:
        """Connect to nothing yet. Raises ValueError for a port that is no number."""
        parts = urlsplit(base_url)
        kind = (
            http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        )
        self._open = partial(kind, parts.hostname or "", parts.port, timeout=CONNECT_TIMEOUT_S)
        self._prefix = parts.path.rstrip("/").removesuffix("/v1")
        self._connection: http.client.HTTPConnection | None = None
        self._end = time.monotonic() + SERVER_TIMEOUT_S

    @property
    def is_late(self) -> bool:
        """Tell whether the time for this server is over."""
        return time.monotonic() > self._end

    def fetch(self, path: str, body: Json | None = None) -> Json:
        """Return the JSON object at a path. Raises one of READ_ERRORS."""
        connection = self._connect()
        data = None if body is None else json.dumps(body).encode()
        headers = {"Accept": "application/json"}
        if data is not None:
            headers["Content-Type"] = "application/json"
        connection.request(
            "GET" if data is None else "POST", f"{self._prefix}{path}", data, headers
        )
        response = connection.getresponse()
        if response.status != http.client.OK:
            self.close()
            raise ValueError(response.status)
        return read_object(json.loads(self._read(response)))

    def close(self) -> None:
        """Close the connection; the next request opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connect(self) -> http.client.HTTPConnection:
        if self._connection is None:
            self._connection = self._open()
            self._connection.connect()
            peer = self._connection.sock.getpeername()[0]
            if is_forbidden_host(str(peer)):
                raise ConnectionError(peer)
            self._connection.sock.settimeout(READ_TIMEOUT_S)
        return self._connection

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        pieces: list[bytes] = []
        while piece := response.read1(1 << 16):
            pieces.append(piece)
            if self.is_late or sum(map(len, pieces)) > MAX_BYTES:
                self.close()
                raise TimeoutError
        return b"".join(pieces)


def read_ollama(link: Link) -> tuple[str, list[LocalModel]]:
    """Return the models of an Ollama, most recently changed first."""
    tags = list_named(link.fetch("/api/tags"), "models", "name")
    return "ollama", [read_ollama_model(link, tag) for tag in tags[:MAX_MODELS]]


def read_ollama_model(link: Link, tag: Json) -> LocalModel:
    """Return a model that Ollama lists; it is described by /api/show, as long as there is time."""
    name = str(tag["name"])
    try:
        shown = {} if link.is_late else link.fetch("/api/show", {"model": name})
    except READ_ERRORS:
        link.close()
        shown = {}
    return parse_ollama_model(name, {**tag, **shown})


def parse_ollama_model(name: str, shown: Json) -> LocalModel:
    """Return a model as /api/show, or else /api/tags, describes it.

    Older servers list no capabilities; their embedding models have a pooling type.
    """
    info = find_object(shown, "model_info")
    details = find_object(shown, "details")
    capabilities = shown.get("capabilities")
    known = frozenset(map(str, capabilities)) if isinstance(capabilities, list) else None
    is_embedder = any(key.endswith(".pooling_type") for key in info)
    return LocalModel(
        name=name,
        is_embedder=(is_embedder or (not info and is_embedder_name(name)))
        if known is None
        else "embedding" in known,
        parameters=to_count(info.get("general.parameter_count"))
        or parse_count(str(details.get("parameter_size", ""))),
        context_length=next(
            (to_count(value) for key, value in info.items() if key.endswith(".context_length")),
            None,
        ),
        has_tools=None if known is None else "tools" in known,
        thinks=None if known is None else "thinking" in known,
    )


def read_lmstudio(link: Link) -> tuple[str, list[LocalModel]]:
    """Return the models of an LM Studio of 0.3.6 or later."""
    models = list_named(link.fetch("/api/v0/models"), "data", "id")
    typed = [each for each in models if isinstance(each.get("type"), str)]
    if models and not typed:
        raise LookupError("type")
    return "lmstudio", [
        LocalModel(
            name=str(each["id"]),
            is_embedder=each["type"] == "embeddings",
            parameters=parse_size_in_name(str(each["id"])),
            context_length=to_count(each.get("loaded_context_length"))
            or to_count(each.get("max_context_length")),
            has_tools=has_tool_use(each),
        )
        for each in typed
        if each["type"] in {"llm", "vlm", "embeddings"}
    ]


def has_tool_use(model_json: Json) -> bool | None:
    """Tell whether a model of LM Studio was trained to use tools; None if it is not said."""
    capabilities = model_json.get("capabilities")
    return "tool_use" in capabilities if isinstance(capabilities, list) else None


def read_openai_server(link: Link) -> tuple[str, list[LocalModel]]:
    """Return the models of a llama-server or a vLLM. Raises ValueError for any other server."""
    models = list_named(link.fetch("/v1/models"), "data", "id")
    owners = {each.get("owned_by") for each in models}
    if owners == {"vllm"}:
        return "vllm", [
            LocalModel(
                name=str(each["id"]),
                is_embedder=is_embedder_name(str(each["id"])),
                parameters=parse_size_in_name(str(each["id"])),
                context_length=to_count(each.get("max_model_len")),
            )
            for each in models
        ]
    if owners == {"llamacpp"}:
        return "llama-server", read_llama_server(link, models)
    raise ValueError(owners)


def read_llama_server(link: Link, models: Sequence[Json]) -> list[LocalModel]:
    """Return the models of a llama-server; its properties tell of the one that is loaded."""
    try:
        props = link.fetch("/props")
    except READ_ERRORS:
        props = {}
    settings = find_object(props, "default_generation_settings")
    template = props.get("chat_template")
    abilities = find_object(props, "chat_template_caps")
    tools = abilities.get("supports_tools")
    is_alone = len(models) == 1
    return [
        LocalModel(
            name=str(each["id"]),
            is_embedder=is_embedder_name(str(each["id"])),
            parameters=to_count(find_object(each, "meta").get("n_params"))
            or parse_size_in_name(str(each["id"])),
            context_length=(to_count(settings.get("n_ctx")) if is_alone else None)
            or to_count(find_object(each, "meta").get("n_ctx_train")),
            has_tools=tools if is_alone and isinstance(tools, bool) else None,
            thinks="enable_thinking" in template
            if is_alone and isinstance(template, str)
            else None,
        )
        for each in models
    ]


READERS: Final[Mapping[str, Callable[[Link], tuple[str, list[LocalModel]]]]] = {
    "ollama": read_ollama,
    "lmstudio": read_lmstudio,
    "llama-server": read_openai_server,
    "vllm": read_openai_server,
}


def read_object(value: JsonValue) -> Json:
    """Return a JSON object. Raises TypeError for anything else."""
    if not isinstance(value, dict):
        raise TypeError("no object")
    return value


def list_named(parent: Json, name: str, key: str) -> list[Json]:
    """Return the objects in a list that have a usable name; a malformed one hides no others.

    Raises LookupError, TypeError.
    """
    value = parent[name]
    if not isinstance(value, list):
        raise TypeError(name)
    named: list[Json] = [
        each for each in value if isinstance(each, dict) and is_model_name(each.get(key))
    ]
    if value and not named:
        raise LookupError(key)
    return named


def is_model_name(value: JsonValue) -> bool:
    """Return whether a value may be the name of a model: a short printable text."""
    is_text = isinstance(value, str) and value.isprintable() and bool(value.strip())
    return is_text and len(str(value)) <= MAX_NAME_CHARS


def find_object(parent: Json, name: str) -> Json:
    """Return an object within another, or an empty one."""
    value = parent.get(name)
    return value if isinstance(value, dict) else {}


def to_count(value: JsonValue) -> int | None:
    """Return a positive number, or None."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    return value if 0 < value < MAX_COUNT else None


def parse_count(text: str) -> int | None:
    """Return the number in a text such as "8.0B" or "596.05M", or None."""
    unit = {"K": 1e3, "M": 1e6, "B": 1e9}.get(text[-1:].upper())
    try:
        return None if unit is None else round(float(text[:-1]) * unit) or None
    except (ValueError, OverflowError):
        return None
