"""API routes: the addresses at which programs talk with the companion as with a model."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, TypeAlias

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import BaseRoute, Route
from starlette.types import ASGIApp

from oldfriend.api.connections import ConnectionHub
from oldfriend.config.keys import ensure_deletion_key
from oldfriend.domain.clock import SECOND
from oldfriend.domain.errors import OldfriendError
from oldfriend.domain.ids import TurnId, new_id
from oldfriend.domain.json import JsonValue
from oldfriend.inbound.accept import ChatContext
from oldfriend.memory.message_log import list_recent_messages
from oldfriend.memory.people import get_companion_name
from oldfriend.memory.web_sessions import Principal
from oldfriend.openai_api.chat_completions import ChatCompletionFormat, read_chat_completion
from oldfriend.openai_api.chat_messages import read_text
from oldfriend.openai_api.chat_reply import ChatReply
from oldfriend.openai_api.chat_request import MODEL_USES, ChatRequest, get_model_use
from oldfriend.openai_api.companion_replies import (
    CountedReply,
    begin_companion_reply,
    find_repeated,
    is_own_request,
    open_api_chat,
    raise_if_full,
)
from oldfriend.openai_api.direct_log import log_earlier, log_words
from oldfriend.openai_api.direct_replies import (
    RememberingReply,
    build_plain_reply,
    open_model,
)
from oldfriend.openai_api.error_json import ApiRefusal, ErrorFormat, to_refusal
from oldfriend.openai_api.housekeeping import QUOTED_WINDOW, is_housekeeping
from oldfriend.openai_api.ollama_format import (
    API_VERSION,
    OllamaFormat,
    OllamaRoute,
    build_shown,
    build_tag,
    read_ollama_request,
)
from oldfriend.openai_api.reply_response import ReplyResponse
from oldfriend.openai_api.resent_history import NewWords, find_words, read_new_words
from oldfriend.openai_api.responses import ResponseFormat, read_response_request
from oldfriend.openai_api.speaker_pairing import answer_unknown_user
from oldfriend.openai_api.token_access import Caller, UnknownUser, authenticate, identify_speaker
from oldfriend.replies.amended_replies import find_answer
from oldfriend.runtime.admin_http import OLLAMA_PREFIX
from oldfriend.usage.model_calls import CallContext

SECRET_PREFIX: Final = f"{OLLAMA_PREFIX}{{secret}}"
"""Before Ollama's addresses, for programs that can send a token only as part of the address."""
COMPANION: Final = "oldfriend"
THREAD_BYTES: Final = 100_000
"""Bodies of more bytes are parsed outside the event loop."""
NO_SUCH_ADDRESS: Final = (
    "There is no such address here. There are: /v1/models, /v1/chat/completions, /v1/responses."
)
NOTHING_SAID: Final = "There is no text to answer. Pictures and files cannot be read here."

Endpoint: TypeAlias = Callable[[Request], Awaitable[ASGIApp]]


class ApiEndpoints:
    """What is done at each address."""

    def __init__(self, hub: ConnectionHub) -> None:
        """Serve the memory of a hub, whose app context may be replaced."""
        self._hub = hub

    async def list_models(self, request: Request) -> ASGIApp:
        """List the names that can be talked to, as OpenAI does."""
        await self._authenticate(request)
        models: list[JsonValue] = [await self._build_model(name) for name in self._list_names()]
        return JSONResponse({"object": "list", "data": models})

    async def show_model(self, request: Request) -> ASGIApp:
        """Show one of these names."""
        await self._authenticate(request)
        name = str(request.path_params["name"])
        get_model_use(name)
        return JSONResponse(await self._build_model(name))

    async def complete_chat(self, request: Request) -> ASGIApp:
        """Reply to a chat completion request."""
        principal, body = await self._authenticate(request), await read_body(request)
        chat = read_chat_completion(body, request.headers)
        reply = await self._begin(request, principal, chat, user=read_user(body))
        created = self._hub.app.clock() // SECOND
        return ReplyResponse(
            reply, ChatCompletionFormat(request=chat, id=reply.id, created=created)
        )

    async def respond(self, request: Request) -> ASGIApp:
        """Reply to a request for a response."""
        principal, body = await self._authenticate(request), await read_body(request)
        chat = read_response_request(body, request.headers)
        reply = await self._begin(request, principal, chat, user=read_user(body))
        created = self._hub.app.clock() // SECOND
        return ReplyResponse(reply, ResponseFormat(request=chat, id=reply.id, created=created))

    async def chat_as_ollama(self, request: Request) -> ASGIApp:
        """Reply to a chat request of an Ollama client."""
        return await self._answer_ollama(request, "chat")

    async def generate_as_ollama(self, request: Request) -> ASGIApp:
        """Reply to a generate request of an Ollama client."""
        return await self._answer_ollama(request, "generate")

    async def refuse_unknown(self, request: Request) -> ASGIApp:
        """Refuse what of OpenAI's API is not here, in its form of an error."""
        await self._authenticate(request)
        raise ApiRefusal(404, NO_SUCH_ADDRESS, code="unknown_url")

    async def list_tags(self, request: Request) -> ASGIApp:
        """List the names that can be talked to, as Ollama does."""
        await self._authenticate(request)
        now = self._hub.app.clock()
        return JSONResponse({"models": [build_tag(name, now) for name in self._list_names()]})

    async def show_as_ollama(self, request: Request) -> ASGIApp:
        """Show one of these names, as Ollama does."""
        await self._authenticate(request)
        body = await read_body(request)
        name = read_text(body.get("model") or body.get("name"), "model")
        get_model_use(name)
        app = self._hub.app
        return JSONResponse(build_shown(name, app.clock(), can_call=bool(app.models)))

    async def show_version(self, request: Request) -> ASGIApp:
        """Tell which version of Ollama's API this is."""
        await self._authenticate(request)
        return JSONResponse({"version": API_VERSION})

    async def _answer_ollama(self, request: Request, route: OllamaRoute) -> ASGIApp:
        principal, body = await self._authenticate(request), await read_body(request)
        chat = read_ollama_request(body, request.headers, route)
        form = OllamaFormat(request=chat, route=route, now=self._hub.app.clock())
        if not chat.messages:
            return JSONResponse(form.build_loaded())
        return ReplyResponse(await self._begin(request, principal, chat, user=""), form)

    async def _authenticate(self, request: Request) -> Principal:
        secret = str(request.path_params.get("secret", ""))
        return await authenticate(self._hub.app, request, secret)

    async def _begin(
        self, request: Request, principal: Principal, chat_request: ChatRequest, *, user: str
    ) -> ChatReply:
        """Log what is new, and return the reply that is about to be written. Raises ApiRefusal."""
        app = self._hub.app
        speaker = await identify_speaker(app, principal, request.headers, user=user)
        said = [each.text for each in chat_request.messages if each.role == "user"]
        if isinstance(speaker, UnknownUser):
            return await answer_unknown_user(app, speaker.sender, said[-1] if said else "")
        raise_if_full(self._hub, speaker)
        chat_request = chat_request.fit_to(has_model=bool(app.models))
        if chat_request.use == "plain":
            plain = build_plain_reply(app, speaker.person.id, chat_request)
            return CountedReply(hub=self._hub, caller=speaker, reply=plain)
        chat_context = await open_api_chat(app, speaker.person.id)
        async with app.db.begin_read() as tx:
            recent = await list_recent_messages(
                tx, speaker.person.id, chat_context.chat.id, limit=QUOTED_WINDOW
            )
        if is_housekeeping(chat_request, recent):
            plain = build_plain_reply(app, speaker.person.id, chat_request)
            return CountedReply(hub=self._hub, caller=speaker, reply=plain)
        words = read_new_words(chat_request, ensure_deletion_key(app.settings))
        if words is None and chat_request.messages[-1].role == "user":
            raise ApiRefusal(400, NOTHING_SAID, param="messages")
        if words is not None:
            await log_earlier(app, chat_context, words)
        if words is not None and chat_request.use == "companion" and not chat_request.needs_model:
            return await begin_companion_reply(
                self._hub, speaker, chat_context, chat_request, words
            )
        return await self._begin_direct(speaker, chat_context, chat_request, words)

    async def _begin_direct(
        self,
        speaker: Caller,
        chat_context: ChatContext,
        chat_request: ChatRequest,
        words: NewWords | None,
    ) -> ChatReply:
        """Log what is new, and return the reply of a model with this memory, or the companion's.

        The companion answers what it is itself asked to do. Raises ApiRefusal.
        """
        app, message = self._hub.app, None
        turn = TurnId(new_id(app.clock()))
        if words is not None:
            found = await find_words(
                app.db, chat_context, words, chat_request=chat_request, now=app.clock()
            )
            stored = None if found.message is None else await find_answer(app, found.message)
            repeated = find_repeated(chat_request, words, found, stored)
            if repeated is not None:
                return repeated
            if chat_request.may_be_own and await is_own_request(app, chat_context, found):
                return await begin_companion_reply(
                    self._hub, speaker, chat_context, chat_request, words
                )
            # What nobody can answer is refused before it is kept as said.
            await open_model(app, CallContext(person=speaker.person.id, turn=turn), "main")
            message = await log_words(app, chat_context, found)
        reply = RememberingReply(
            app=app,
            chat_context=chat_context,
            request=chat_request,
            message=message,
            fallback_turn=turn,
        )
        return CountedReply(hub=self._hub, caller=speaker, reply=reply)

    def _list_names(self) -> list[str]:
        """List the names; those of models alone only where one is connected."""
        return [*MODEL_USES] if self._hub.app.models else [COMPANION]

    async def _build_model(self, name: str) -> JsonValue:
        """Return a model as OpenAI lists it, with the companion's name to show."""
        async with self._hub.app.db.begin_read() as tx:
            companion = await get_companion_name(tx)
        shown = name.replace(COMPANION, companion, 1)
        return {
            "id": name,
            "object": "model",
            "created": self._hub.app.opened_at // SECOND,
            "owned_by": COMPANION,
            "name": shown,
        }


async def read_body(request: Request) -> Mapping[str, JsonValue]:
    """Return the JSON object of a request. Raises ApiRefusal."""
    raw = await request.body()
    try:
        is_long = len(raw) > THREAD_BYTES
        found = await asyncio.to_thread(json.loads, raw) if is_long else json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise ApiRefusal(400, "The body is no JSON that can be read.") from error
    if not isinstance(found, dict):
        raise ApiRefusal(400, "The body must be a JSON object.")
    return found


def read_user(body: Mapping[str, JsonValue]) -> str:
    """Return the user whom a request names."""
    found = body.get("user") or body.get("safety_identifier")
    return found if isinstance(found, str) else ""


def guard(endpoint: Endpoint, error_format: ErrorFormat) -> Endpoint:
    """Return an endpoint that answers every error in a format that its programs show."""

    async def answer(request: Request) -> ASGIApp:
        try:
            return await endpoint(request)
        except HTTPException as error:  # the body is too large, or arrives too slowly
            refusal = ApiRefusal(error.status_code, str(error.detail))
        except (ApiRefusal, OldfriendError) as error:
            refusal = to_refusal(error)
        return refusal.to_response(error_format)

    return answer


def build_api_routes(hub: ConnectionHub) -> list[BaseRoute]:
    """Build the routes of OpenAI's and Ollama's addresses."""
    ends = ApiEndpoints(hub)
    routes: list[BaseRoute] = [
        Route("/v1/models", guard(ends.list_models, "openai")),
        Route("/v1/models/{name}", guard(ends.show_model, "openai")),
        Route("/v1/chat/completions", guard(ends.complete_chat, "openai"), methods=["POST"]),
        Route("/v1/responses", guard(ends.respond, "openai"), methods=["POST"]),
    ]
    unknown = guard(ends.refuse_unknown, "openai")
    routes.append(Route("/v1/{path:path}", unknown, methods=["GET", "POST", "DELETE"]))
    for prefix in ("", SECRET_PREFIX):
        routes += [
            Route(f"{prefix}/api/version", guard(ends.show_version, "ollama")),
            Route(f"{prefix}/api/tags", guard(ends.list_tags, "ollama")),
            Route(f"{prefix}/api/show", guard(ends.show_as_ollama, "ollama"), methods=["POST"]),
            Route(f"{prefix}/api/chat", guard(ends.chat_as_ollama, "ollama"), methods=["POST"]),
            Route(
                f"{prefix}/api/generate",
                guard(ends.generate_as_ollama, "ollama"),
                methods=["POST"],
            ),
        ]
    return routes
