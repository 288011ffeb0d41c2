"""A device that keeps passkeys: makes and signs as real ones do, or wrongly, as told."""

import base64
import hashlib
import json
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import cbor2
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

PRESENT, VERIFIED, ATTESTED = 1, 4, 64


def encoded(data: bytes) -> str:
    """Bytes as WebAuthn's JSON has them."""
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


@dataclass
class Device:
    """One passkey, for one place."""

    origin: str
    name: bytes = b"a device's own name of it"
    key: ec.EllipticCurvePrivateKey = field(
        default_factory=lambda: ec.generate_private_key(ec.SECP256R1())
    )
    used: int = 1

    def make(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Make the passkey that is asked for."""
        point = self.key.public_key().public_numbers()
        public = cbor2.dumps(
            {1: 2, 3: -7, -1: 1, -2: point.x.to_bytes(32, "big"), -3: point.y.to_bytes(32, "big")}
        )
        told = self.told(PRESENT | VERIFIED | ATTESTED, self.host)
        told += bytes(16) + len(self.name).to_bytes(2, "big") + self.name + public
        attestation = cbor2.dumps({"fmt": "none", "attStmt": {}, "authData": told})
        client = self.client("webauthn.create", asked["challenge"], self.origin)
        return self.credential(
            {"clientDataJSON": encoded(client), "attestationObject": encoded(attestation)}
        )

    def sign(self, asked: dict[str, Any], *, wrong: str = "") -> dict[str, Any]:
        """Sign what is asked; ``wrong`` says in what it is not as it must be."""
        self.used += 1
        origin = "http://evil.example" if wrong == "origin" else self.origin
        challenge = encoded(b"another" * 8) if wrong == "challenge" else asked["challenge"]
        client = self.client("webauthn.get", challenge, origin)
        flags = PRESENT if wrong == "unverified" else PRESENT | VERIFIED
        if wrong == "count":
            self.used = 1
        told = self.told(flags, "evil.example" if wrong == "host" else self.host)
        key = ec.generate_private_key(ec.SECP256R1()) if wrong == "signature" else self.key
        signature = key.sign(told + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        response = {
            "clientDataJSON": encoded(client),
            "authenticatorData": encoded(told),
            "signature": encoded(signature),
            "userHandle": None,
        }
        if wrong == "nonsense":
            response |= {"authenticatorData": encoded(b"\xff" * 9)}
        return self.credential(response)

    @property
    def host(self) -> str:
        """The place for which it is."""
        return urlsplit(self.origin).hostname or ""

    def told(self, flags: int, host: str) -> bytes:
        """What the device says of itself."""
        count = self.used.to_bytes(4, "big")
        return hashlib.sha256(host.encode()).digest() + bytes([flags]) + count

    def client(self, kind: str, challenge: str, origin: str) -> bytes:
        """What the browser says of where it is."""
        return json.dumps({"type": kind, "challenge": challenge, "origin": origin}).encode()

    def credential(self, response: dict[str, Any]) -> dict[str, Any]:
        """As the browser hands it over."""
        return {
            "id": encoded(self.name),
            "rawId": encoded(self.name),
            "type": "public-key",
            "response": response,
            "clientExtensionResults": {},
        }
