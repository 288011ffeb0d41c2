"""A push service at its strictest, and a browser that reads what it is sent.

Signature, claims and headers are checked as RFC 8030 and RFC 8292 have them; the browser decrypts
as RFC 8188 and RFC 8291 have it, by code of its own.
"""

import asyncio
import base64
import hashlib
import hmac
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from oldfriend.domain.clock import SECOND
from tests.clock import FrozenClock
from tests.fakes.web_sites import Serve, Write, page

HOST = "push.example"
DAY_S = 24 * 3600
AUTHORIZATION = re.compile(r"vapid t=([\w-]+)\.([\w-]+)\.([\w-]+), k=([\w-]{87})")


def from_base64url(text: str) -> bytes:
    """Decode without padding."""
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def to_base64url(data: bytes) -> str:
    """Encode without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def hkdf(salt: bytes, secret: bytes, info: bytes, length: int) -> bytes:
    """Extract and expand once (RFC 5869)."""
    extracted = hmac.new(salt, secret, hashlib.sha256).digest()
    return hmac.new(extracted, info + b"\x01", hashlib.sha256).digest()[:length]


def load_point(point: bytes) -> ec.EllipticCurvePublicKey:
    """Load a public key."""
    return ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)


@dataclass(slots=True)
class Browser:
    """One browser's subscription, and what it was shown."""

    name: str = "a"
    auth: bytes = bytes(range(16))
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )
    server_key: str = ""  # whom it has allowed to send
    shown: list[dict[str, Any]] = field(default_factory=list)

    @property
    def endpoint(self) -> str:
        """Where the service reaches it."""
        return f"https://{HOST}/{self.name}"

    @property
    def point(self) -> bytes:
        """Its public key."""
        return self.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)

    def subscription(self, **more: str) -> dict[str, Any]:
        """What it hands to the page."""
        keys = {"p256dh": to_base64url(self.point), "auth": to_base64url(self.auth)}
        return {"endpoint": self.endpoint, "keys": keys, **more}

    def read(self, body: bytes) -> bytes:
        """Decrypt one record."""
        salt, size, length = body[:16], int.from_bytes(body[16:20], "big"), body[20]
        sender, record = body[21 : 21 + length], body[21 + length :]
        assert (size, length) == (4096, 65)
        assert len(record) < size
        shared = self.key.exchange(ec.ECDH(), load_point(sender))
        seed = hkdf(self.auth, shared, b"WebPush: info\0" + self.point + sender, 32)
        key = hkdf(salt, seed, b"Content-Encoding: aes128gcm\0", 16)
        nonce = hkdf(salt, seed, b"Content-Encoding: nonce\0", 12)
        plain = AESGCM(key).decrypt(nonce, record, None).rstrip(b"\0")
        assert plain.endswith(b"\x02")  # the last record
        return plain[:-1]


@dataclass(slots=True)
class PushService:
    """Takes messages for its browsers; what it answers first can be set."""

    clock: FrozenClock
    browsers: list[Browser] = field(default_factory=lambda: [Browser()])
    answers: list[str] = field(default_factory=list)  # statuses, before it takes any
    taken: list[Mapping[str, str]] = field(default_factory=list)  # the headers
    contacts: list[str | None] = field(default_factory=list)  # whom it may ask
    faults: list[str] = field(default_factory=list)  # what is not as it must be
    has_shown: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def sites(self) -> Mapping[str, Serve]:
        """What it serves."""
        return {f"{HOST}/{each.name}": self.serve_for(each) for each in self.browsers}

    def serve_for(self, browser: Browser) -> Serve:
        """Serve the address of one browser."""

        async def serve(request: str, write: Write) -> None:
            head, _, rest = request.partition("\r\n\r\n")
            lines = head.split("\r\n")
            headers = dict(line.lower().split(": ", 1) for line in lines[1:])
            fault = self.find_fault(lines[0], head, headers, browser)
            if self.answers:
                await page("", status=self.answers.pop(0))(request, write)
                return
            if fault:
                self.faults.append(fault)
                await page(fault, status="400 Bad Request")(request, write)
                return
            self.taken.append(headers)
            browser.shown.append(json.loads(browser.read(rest.encode(errors="surrogateescape"))))
            self.has_shown.set()
            await write(b"HTTP/1.1 201 Created\r\nlocation: https://push.example/m\r\n\r\n")

        return serve

    def find_fault(
        self, first: str, head: str, headers: Mapping[str, str], browser: Browser
    ) -> str:
        """Return what is wrong with a request; "" if nothing is."""
        given = re.search(r"(?im)^authorization: (.*?)\r?$", head)
        parsed = AUTHORIZATION.fullmatch(given[1]) if given else None
        if not first.startswith("POST /") or parsed is None:
            return "no vapid"
        wrong = {
            "ttl": not headers.get("ttl", "").isdecimal(),
            "encoding": headers.get("content-encoding") != "aes128gcm",
            "urgency": headers.get("urgency") not in {"very-low", "low", "normal", "high"},
            "topic": not re.fullmatch(r"[\w-]{1,32}", headers.get("topic", "")),
            "size": not 0 < int(headers.get("content-length", 0)) <= 4096,
            "key": parsed[4] != browser.server_key,
        }
        return next((name for name, is_wrong in wrong.items() if is_wrong), "") or self.check_token(
            parsed
        )

    def check_token(self, parsed: re.Match[str]) -> str:
        """Check signature and claims."""
        header, claims = (json.loads(from_base64url(parsed[number])) for number in (1, 2))
        raw, now_s = from_base64url(parsed[3]), self.clock() // SECOND
        signature = encode_dss_signature(
            int.from_bytes(raw[:32], "big"), int.from_bytes(raw[32:], "big")
        )
        load_point(from_base64url(parsed[4])).verify(
            signature, f"{parsed[1]}.{parsed[2]}".encode(), ec.ECDSA(SHA256())
        )
        if header != {"typ": "JWT", "alg": "ES256"} or claims["aud"] != f"https://{HOST}":
            return "claims"
        if not now_s < claims["exp"] <= now_s + DAY_S:
            return "expiry"
        self.contacts.append(claims.get("sub"))
        return "" if claims.get("sub", "").startswith(("mailto:", "https://")) else "contact"
