"""Oura at its strictest: codes and refresh tokens are taken once, only the newest token reads."""

import base64
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.fakes.web_sites import Serve, Write, page

APPLICATION = ("app-id", "app-secret")
PAGE_SIZE = 2


def day_of(number: int) -> str:
    """A day of May."""
    return f"2024-05-{number:02d}"


async def go_on() -> None:
    """Nothing happens before an answer goes out."""


@dataclass(slots=True)
class Oura:
    """The service with one account."""

    items: Mapping[str, list[dict[str, Any]]] = field(default_factory=dict)
    codes: set[str] = field(default_factory=lambda: {"code-1"})
    redirect: str = ""  # that was agreed to; "": any
    refresh: str = ""  # the one that is not spent
    access: str = ""
    made: int = 0
    trades: list[str] = field(default_factory=list)  # the refresh tokens that were sent
    before_tokens: Callable[[], Awaitable[None]] = go_on
    is_down: bool = False

    @property
    def sites(self) -> Mapping[str, Serve]:
        """What it serves."""
        reading = {
            f"api.ouraring.com/v2/usercollection/{name}": self.read(name)
            for name in ("daily_sleep", "daily_readiness", "daily_activity", "sleep")
        }
        return {"api.ouraring.com/oauth/token": self.trade, **reading}

    async def trade(self, request: str, write: Write) -> None:
        """Take a code or a refresh token, once, and give new tokens."""
        head, _, body = request.partition("\r\n\r\n")
        form = {name: values[0] for name, values in parse_qs(body).items()}
        is_form = "content-type: application/x-www-form-urlencoded" in head.lower()
        is_known = (form.get("client_id"), form.get("client_secret")) == APPLICATION
        given = ""
        if form.get("grant_type") == "authorization_code":
            given = form.get("code", "")
            is_good = given in self.codes and form.get("redirect_uri", "") != ""
            self.codes.discard(given)
        else:
            given = form.get("refresh_token", "")
            self.trades.append(given)
            is_good = bool(given) and given == self.refresh
        if not (head.startswith("POST") and is_form and is_known and is_good):
            body_text = json.dumps({"error": "invalid_grant"})
            refusal = page(body_text, content_type="application/json", status="400 Bad Request")
            await refusal(request, write)
            return
        self.made += 1
        self.refresh, self.access = f"refresh-{self.made}", f"access-{self.made}"
        await self.before_tokens()
        tokens = {
            "token_type": "bearer",
            "access_token": self.access,
            "refresh_token": self.refresh,
            "expires_in": 86_400,
        }
        await page(json.dumps(tokens), content_type="application/json")(request, write)

    def read(self, name: str) -> Serve:
        """Serve a collection by pages of two, to whoever has the newest access token."""

        async def serve(request: str, write: Write) -> None:
            if self.is_down:
                await page("", status="503 Service Unavailable")(request, write)
                return
            lines = request.lower().split("\r\n")
            if f"authorization: bearer {self.access}" not in lines:
                await page("{}", content_type="application/json", status="401 Unauthorized")(
                    request, write
                )
                return
            query = parse_qs(urlsplit(request.split(" ")[1]).query)
            first, last = query["start_date"][0], query["end_date"][0]
            meant = [each for each in self.items.get(name, []) if first <= each["day"] <= last]
            start = int(base64.b64decode(query["next_token"][0])) if "next_token" in query else 0
            following = start + PAGE_SIZE
            token = base64.b64encode(str(following).encode()).decode()
            answer = {
                "data": meant[start:following],
                "next_token": token if following < len(meant) else None,
            }
            await page(json.dumps(answer), content_type="application/json")(request, write)

        return serve
