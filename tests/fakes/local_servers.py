"""Fakes of the four model servers that people run themselves, as strict as the real ones.

Formats are those of Ollama's docs/api.md and api/types.go, LM Studio's "REST API v0", llama.cpp's
tools/server/README.md, and vLLM's OpenAI-compatible server; the texts of refusals are as public
reports quote them.
"""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from typing import Any, ClassVar

Json = dict[str, Any]

THOUGHT_TOKENS = 5_000
"""What a model that thinks spends before it says anything."""
OLLAMA_CONTEXT = 4_096
"""Of an Ollama that is told of no other."""


class Refused(Exception):
    """A status and a body."""

    def __init__(self, status: int, body: object) -> None:
        """Refuse."""
        super().__init__(status)
        self.status, self.body = status, body


@dataclass(frozen=True, slots=True, kw_only=True)
class FakeModel:
    """A model that a server has."""

    name: str
    parameters: int = 8_030_261_248
    context: int = 32_768  # as trained, or as loaded where the server loads it so
    has_tools: bool = True
    thinks: bool = False
    embeds: bool = False


@dataclass(slots=True)
class FakeServer:
    """What all of them have: models, an answer for each schema, and a record of what was asked."""

    provider: ClassVar[str]
    models: Sequence[FakeModel]
    reply: str = "I hear you."
    answers: Mapping[str, object] = field(default_factory=dict)  # by the key of an asked schema
    url: str = ""
    requests: list[tuple[str, str, Json]] = field(default_factory=list)
    has_tool_parser: bool = True  # vLLM's --enable-auto-tool-choice

    @property
    def base_url(self) -> str:
        """The address that is connected."""
        return f"{self.url}/v1"

    @property
    def chats(self) -> list[Json]:
        """What was asked of models."""
        return [body for _, path, body in self.requests if "chat" in path]

    def get(self, path: str) -> object:
        """Answer a GET."""
        raise NotImplementedError

    def post(self, path: str, body: Json) -> object:
        """Answer a POST: an object, or an iterator of what is streamed."""
        raise NotImplementedError

    def find(self, name: object) -> FakeModel | None:
        """A model by its name."""
        return next((model for model in self.models if model.name == name), None)

    def write(self, schema: Json | None) -> str:
        """What a model writes; where there is a schema, nothing that is not in it."""
        if schema is None:
            return self.reply
        allowed = schema["properties"]
        return json.dumps({key: value for key, value in self.answers.items() if key in allowed})


def count_tokens(value: object) -> int:
    """About how many tokens something has."""
    return len(json.dumps(value, ensure_ascii=False)) // 4


def require(is_right: bool, status: int, body: object) -> None:
    """Refuse what is not right."""
    if not is_right:
        raise Refused(status, body)


class FakeOllama(FakeServer):
    """An Ollama."""

    provider = "ollama"

    def get(self, path: str) -> object:
        """The list of its models."""
        require(path == "/api/tags", 404, "404 page not found")
        return {
            "models": [
                {
                    "name": model.name,
                    "model": model.name,
                    "modified_at": "2026-11-01T10:00:00Z",
                    "size": model.parameters // 2,
                    "digest": "0" * 64,
                    "details": {"family": "llama", "parameter_size": "8.0B"},
                }
                for model in self.models
            ]
        }

    def post(self, path: str, body: Json) -> object:
        """What a model can do, or a chat."""
        require(path in {"/api/show", "/api/chat"}, 404, "404 page not found")
        model = self.find(body.get("model"))
        if model is None:
            raise Refused(404, {"error": f"model '{body.get('model')}' not found"})
        return self.show(model) if path == "/api/show" else self.chat(model, body)

    def show(self, model: FakeModel) -> Json:
        """As /api/show tells."""
        abilities = ["embedding"] if model.embeds else ["completion"]
        abilities += ["tools"] * model.has_tools + ["thinking"] * model.thinks
        return {
            "details": {"family": "llama", "parameter_size": "8.0B"},
            "model_info": {
                "general.architecture": "llama",
                "general.parameter_count": model.parameters,
                "llama.context_length": model.context,
            },
            "capabilities": abilities,
        }

    def chat(self, model: FakeModel, body: Json) -> object:
        """Refuse what does not decode, and cut silently what is too long unless told not to."""
        self.check_types(body)
        name, think = model.name, body.get("think")
        require(not model.embeds, 400, {"error": f'"{name}" does not support chat'})
        asks_tools = bool(body.get("tools"))
        require(model.has_tools or not asks_tools, 400, {"error": f"{name} does not support tools"})
        require(model.thinks or not think, 400, {"error": f'"{name}" does not support thinking'})
        options = body.get("options", {})
        room = min(options.get("num_ctx", OLLAMA_CONTEXT), model.context)
        prompt = count_tokens(body["messages"])
        if prompt > room and body.get("truncate") is False:
            raise Refused(400, {"error": "the input length exceeds the context length"})
        budget = options.get("num_predict", room)
        spent = THOUGHT_TOKENS if model.thinks and think is not False else 0
        schema = body.get("format")
        text = self.write(schema if isinstance(schema, dict) else None)
        text = text[: max(0, budget - spent) * 4]
        end = {
            "done": True,
            "done_reason": "stop" if text else "length",
            "prompt_eval_count": min(prompt, room),
            "eval_count": min(budget, spent + len(text) // 4),
        }
        head = {"model": name, "created_at": "2026-11-01T10:00:00Z"}
        if body.get("stream", True):
            return self.stream(head, text, end)
        return {**head, "message": {"role": "assistant", "content": text}, **end}

    def stream(self, head: Json, text: str, end: Json) -> Iterator[str]:
        """One JSON object in each line."""
        for at in range(0, len(text), 8):
            piece = {"role": "assistant", "content": text[at : at + 8]}
            yield json.dumps({**head, "message": piece, "done": False}) + "\n"
        yield json.dumps({**head, "message": {"role": "assistant", "content": ""}, **end}) + "\n"

    def check_types(self, body: Json) -> None:
        """Go decodes nothing into a field of another type."""
        wrong = {"error": "json: cannot unmarshal into Go struct field ChatRequest"}
        for message in body["messages"]:
            require(isinstance(message["content"], str), 400, wrong)
            for call in message.get("tool_calls", ()):
                require(isinstance(call["function"]["arguments"], dict), 400, wrong)
        require(isinstance(body.get("options", {}), dict), 400, wrong)
        require(isinstance(body.get("format", {}), dict | str), 400, wrong)
        require(body.get("think") in {None, True, False, "low", "medium", "high"}, 400, wrong)


class FakeOpenAi(FakeServer):
    """What the three have in common that imitate OpenAI's chat completions."""

    def post(self, path: str, body: Json) -> object:
        """A chat."""
        require(path == "/v1/chat/completions", 404, self.error(404, "Not Found"))
        model = self.find(body.get("model"))
        if model is None:
            message = f"The model `{body.get('model')}` does not exist."
            raise Refused(404, self.error(404, message, "NotFoundError"))
        self.check(model, body)
        thinks = model.thinks and self.may_think(body)
        budget = body.get("max_tokens", body.get("max_completion_tokens", model.context))
        text = self.write(self.read_schema(body))
        text = text[: max(0, budget - (THOUGHT_TOKENS if thinks else 0)) * 4]
        reason = "stop" if text else "length"
        used = {"prompt_tokens": count_tokens(body["messages"]), "completion_tokens": 7}
        usage = {**used, "total_tokens": sum(used.values())}
        head = {"id": "c", "created": 0, "model": model.name}
        if body.get("stream"):
            return self.stream({**head, "object": "chat.completion.chunk"}, text, reason, usage)
        message = {"role": "assistant", "content": text}
        choice = {"index": 0, "message": message, "finish_reason": reason}
        return {**head, "object": "chat.completion", "choices": [choice], "usage": usage}

    def check(self, model: FakeModel, body: Json) -> None:
        """Refuse what this server refuses, and what the chat templates of most models refuse."""
        roles = [message["role"] for message in body["messages"]]
        once = "System message must be at the beginning."
        require("system" not in roles[1:], 400, self.error(400, once))
        spoken = [role for role in roles if role in {"user", "assistant"}]
        alternate = all(one != other for one, other in pairwise(spoken))
        require(alternate or "tool" in roles, 400, self.error(400, "roles must alternate"))
        require(not model.embeds, 400, self.error(400, "no chat template"))

    def may_think(self, body: Json) -> bool:
        """Whether thinking was not turned off."""
        return True

    def read_schema(self, body: Json) -> Json | None:
        """The schema that was asked for."""
        asked = body.get("response_format")
        return None if asked is None else asked["json_schema"]["schema"]

    def stream(self, head: Json, text: str, reason: str, usage: Json) -> Iterator[str]:
        """Events, as OpenAI sends them."""
        for at in range(0, len(text), 8):
            delta = {"role": "assistant", "content": text[at : at + 8]}
            choice = {"index": 0, "delta": delta, "finish_reason": None}
            yield f"data: {json.dumps({**head, 'choices': [choice]})}\n\n"
        choice = {"index": 0, "delta": {}, "finish_reason": reason}
        yield f"data: {json.dumps({**head, 'choices': [choice]})}\n\n"
        yield f"data: {json.dumps({**head, 'choices': [], 'usage': usage})}\n\n"
        yield "data: [DONE]\n\n"

    def error(self, status: int, message: str, kind: str = "BadRequestError") -> Json:
        """An error in OpenAI's form."""
        return {"error": {"message": message, "type": kind, "param": None, "code": status}}


class FakeLmStudio(FakeOpenAi):
    """An LM Studio: it says of an unknown endpoint that it is none, with a 200."""

    provider = "lmstudio"

    def get(self, path: str) -> object:
        """The list of its models."""
        if path != "/api/v0/models":
            return {"error": f"Unexpected endpoint or method. (GET {path})"}
        return {
            "object": "list",
            "data": [
                {
                    "id": model.name,
                    "object": "model",
                    "type": "embeddings" if model.embeds else "llm",
                    "arch": "llama",
                    "state": "loaded",
                    "max_context_length": 131_072,
                    "loaded_context_length": model.context,
                    "capabilities": ["tool_use"] * model.has_tools,
                }
                for model in self.models
            ],
        }

    def check(self, model: FakeModel, body: Json) -> None:
        """It takes a schema or text, and no choice of one tool."""
        super().check(model, body)
        kind = body.get("response_format", {"type": "text"})["type"]
        text = "'response_format.type' must be 'json_schema' or 'text'"
        require(kind in {"json_schema", "text"}, 400, {"error": text})
        choice = body.get("tool_choice", "auto")
        require(isinstance(choice, str), 400, {"error": "Invalid tool_choice type: 'object'."})
        is_long = count_tokens(body["messages"]) > model.context
        text = "The number of tokens to keep is greater than the context length"
        require(not is_long, 400, {"error": text})


class FakeLlamaServer(FakeOpenAi):
    """A llama-server with one model."""

    provider = "llama-server"

    def get(self, path: str) -> object:
        """Its model, and what it was started with."""
        require(path in {"/v1/models", "/props"}, 404, self.error(404, "File Not Found"))
        (model,) = self.models
        if path == "/props":
            switch = "{% if enable_thinking %}<think>{% endif %}" if model.thinks else ""
            return {
                "default_generation_settings": {"n_ctx": model.context},
                "total_slots": 1,
                "chat_template": f"{{% for message in messages %}}{switch}",
                "chat_template_caps": {"supports_tools": model.has_tools},
            }
        meta = {"n_params": model.parameters, "n_ctx_train": 131_072, "n_vocab": 128_256}
        entry = {"id": model.name, "object": "model", "owned_by": "llamacpp", "meta": meta}
        return {"object": "list", "data": [entry]}

    def check(self, model: FakeModel, body: Json) -> None:
        """It does not cut a prompt that is too long."""
        super().check(model, body)
        kwargs = body.get("chat_template_kwargs", {})
        require(isinstance(kwargs, dict), 400, self.error(400, "chat_template_kwargs"))
        needed = count_tokens(body["messages"])
        error = self.error(
            400, "request exceeds the available context size", "exceed_context_size_error"
        )
        require(needed <= model.context, 400, error)

    def may_think(self, body: Json) -> bool:
        """Its template has a switch."""
        return body.get("chat_template_kwargs", {}).get("enable_thinking", True) is not False


class FakeVllm(FakeLlamaServer):
    """A vLLM: the answer has to fit beside the prompt, and tools need a parser."""

    provider = "vllm"

    def get(self, path: str) -> object:
        """The list of its models."""
        require(path == "/v1/models", 404, {"detail": "Not Found"})
        return {
            "object": "list",
            "data": [
                {
                    "id": model.name,
                    "object": "model",
                    "created": 1_739_421_415,
                    "owned_by": "vllm",
                    "root": model.name,
                    "parent": None,
                    "max_model_len": model.context,
                }
                for model in self.models
            ],
        }

    def check(self, model: FakeModel, body: Json) -> None:
        """By its own messages."""
        FakeOpenAi.check(self, model, body)
        needed = count_tokens(body["messages"]) + body.get(
            "max_tokens", body.get("max_completion_tokens", 0)
        )
        text = f"This model's maximum context length is {model.context} tokens."
        require(needed <= model.context, 400, self.error(400, text))
        auto = bool(body.get("tools")) and body.get("tool_choice", "auto") != "none"
        text = '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser'
        require(self.has_tool_parser or not auto, 400, self.error(400, text))


@contextmanager
def running(fake: FakeServer) -> Iterator[FakeServer]:
    """Start it on this machine, and stop it on leaving."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            fake.requests.append(("GET", self.path, {}))
            self.answer(lambda: fake.get(self.path))

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            fake.requests.append(("POST", self.path, body))
            self.answer(lambda: fake.post(self.path, body))

        def answer(self, work: Any) -> None:
            try:
                status, told = 200, work()
            except Refused as refused:
                status, told = refused.status, refused.body
            self.send_response(status)
            self.send_header("content-type", "application/json")
            if isinstance(told, Iterator):
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                for piece in told:
                    self.wfile.write(piece.encode())
                return
            data = told.encode() if isinstance(told, str) else json.dumps(told).encode()
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        fake.url = f"http://127.0.0.1:{server.server_port}"
        try:
            yield fake
        finally:
            server.shutdown()
            thread.join()
