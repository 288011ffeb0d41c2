"""Web push: encrypts a text for one browser, and hands it to the service that reaches that browser.

As RFC 8030 (delivery), RFC 8291 (encryption) and RFC 8292 (who sends) have it. The service sees who
is told something and when, never what. Its address is chosen by the browser, so it is checked like
any address that somebody else has chosen. The library is imported when it is first needed.
"""

import base64
import binascii
import json
import os
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, TypeGuard

from oldfriend.domain.clock import SECOND, Micros
from oldfriend.domain.errors import FetchFailed, InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.web.public_addresses import WebTarget, is_inner_target, parse_target
from oldfriend.web.safe_fetch import FetchLimits, FetchRequest, WebFetcher

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

POINT_BYTES: Final = 65
"""A public key: a point of P-256, uncompressed."""
AUTH_BYTES: Final = 16
SALT_BYTES: Final = 16
NONCE_BYTES: Final = 12
SCALAR_BYTES: Final = 32
RECORD_BYTES: Final = 4096
"""What push services take at most."""
MAX_PLAIN_BYTES: Final = 3993
"""What a record has room for (RFC 8291, section 4)."""
TOKEN_TTL_S: Final = 12 * 3600
MESSAGE_TTL_S: Final = 3600
"""How long a push service keeps what cannot be delivered yet."""
UNKNOWN_CONTACT: Final = "https://oldfriend.example"
"""Whom to ask where nobody has said: Apple's service refuses who names nobody."""
LIMITS: Final = FetchLimits(max_bytes=1 << 16, total_s=10.0, max_redirects=0)
TAKEN: Final = frozenset({200, 201, 202, 204})


@dataclass(frozen=True, slots=True, kw_only=True)
class PushAddress:
    """Where one browser is reached, and what only it can read with: all of it is secret."""

    endpoint: str = field(repr=False)
    public_key: bytes = field(repr=False)
    auth: bytes = field(repr=False)
    contact: str | None = None
    """Where a push service may ask about this installation; None: nobody has said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PushText:
    """What is sent, encrypted; one with the topic of an earlier one takes its place."""

    plain: bytes = field(repr=False)
    topic: str
    is_urgent: bool


def parse_address(
    endpoint: str, public_key: str, auth: str, *, contact: str | None = None
) -> PushAddress:
    """Parse what a browser hands over. Raises InvalidInput for what no push service can be."""
    try:
        check_service(endpoint)
        point, secret = decode_base64url(public_key), decode_base64url(auth)
        check_keys(point, secret)
    except (FetchFailed, ValueError) as error:
        raise InvalidInput(
            localizable(
                "push_unfit", "This browser's push service cannot be used. Try another browser."
            )
        ) from error
    return PushAddress(endpoint=endpoint, public_key=point, auth=secret, contact=contact)


def check_service(endpoint: str) -> None:
    """Raise FetchFailed or ValueError for what can be no push service on the web."""
    target = parse_target(endpoint)
    if target.scheme != "https" or is_inner_target(target):
        raise ValueError("not an address of the web")


def check_keys(point: bytes, secret: bytes) -> None:
    """Raise ValueError for what are no keys of a browser."""
    from cryptography.hazmat.primitives.asymmetric import ec

    if len(point) != POINT_BYTES or len(secret) != AUTH_BYTES:
        raise ValueError("not as long as keys are")
    ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), point)


def generate_push_key() -> str:
    """Return a new key by which push services know this installation."""
    from cryptography.hazmat.primitives.asymmetric import ec

    scalar = ec.generate_private_key(ec.SECP256R1()).private_numbers().private_value
    return encode_base64url(scalar.to_bytes(SCALAR_BYTES, "big"))


def compute_public_key(key: str) -> str:
    """Return the public half of a key, as browsers are told it. Raises ValueError."""
    return encode_base64url(encode_point(load_key(key)))


def load_key(key: str) -> "EllipticCurvePrivateKey":
    """Load a private key. Raises ValueError."""
    from cryptography.hazmat.primitives.asymmetric import ec

    scalar = decode_base64url(key)
    if len(scalar) != SCALAR_BYTES:
        raise ValueError("not a key of P-256")
    return ec.derive_private_key(int.from_bytes(scalar, "big"), ec.SECP256R1())


def encode_point(private_key: "EllipticCurvePrivateKey") -> bytes:
    """Return the public half as a point."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return private_key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def encrypt(
    plain: bytes, push_address: PushAddress, *, sender: "EllipticCurvePrivateKey", salt: bytes
) -> bytes:
    """Encrypt a text for one browser (RFC 8291); sender and salt are used for one text only."""
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    if len(plain) > MAX_PLAIN_BYTES:
        raise ValueError("too long for one record")
    receiver = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), push_address.public_key)
    own = encode_point(sender)
    shared = sender.exchange(ec.ECDH(), receiver)
    info = b"WebPush: info\0" + push_address.public_key + own
    seed = derive(shared, salt=push_address.auth, info=info, length=32)
    key = derive(seed, salt=salt, info=b"Content-Encoding: aes128gcm\0", length=16)
    nonce = derive(seed, salt=salt, info=b"Content-Encoding: nonce\0", length=NONCE_BYTES)
    head = salt + RECORD_BYTES.to_bytes(4, "big") + bytes([len(own)]) + own
    return head + AESGCM(key).encrypt(nonce, plain + b"\x02", None)


def derive(secret: bytes, *, salt: bytes | None, info: bytes, length: int) -> bytes:
    """Derive a key from a secret (HKDF with SHA-256)."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(secret)


def sign_token(
    private_key: "EllipticCurvePrivateKey", target: WebTarget, contact: str | None, now: Micros
) -> str:
    """Sign for one push service who sends (RFC 8292), for half a day."""
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
    from cryptography.hazmat.primitives.hashes import SHA256

    claims = {
        "aud": f"{target.scheme}://{target.authority}",
        "exp": now // SECOND + TOKEN_TTL_S,
        "sub": contact if is_contact(contact) else UNKNOWN_CONTACT,
    }
    parts = ({"typ": "JWT", "alg": "ES256"}, claims)
    text = ".".join(encode_base64url(json.dumps(each).encode()) for each in parts)
    signed = decode_dss_signature(private_key.sign(text.encode(), ec.ECDSA(SHA256())))
    raw = b"".join(each.to_bytes(SCALAR_BYTES, "big") for each in signed)
    return f"{text}.{encode_base64url(raw)}"


def is_contact(text: str | None) -> TypeGuard[str]:
    """Tell whether push services accept an address as whom they may ask; Apple's demand one."""
    return text is not None and text.startswith(("https://", "mailto:"))


async def send_push(
    fetcher: WebFetcher, key: str, push_address: PushAddress, push_text: PushText, *, now: Micros
) -> None:
    """Hand a text to the push service of a browser. Raises FetchFailed, ValueError."""
    from cryptography.hazmat.primitives.asymmetric import ec

    identity = load_key(key)
    token = sign_token(identity, parse_target(push_address.endpoint), push_address.contact, now)
    once = ec.generate_private_key(ec.SECP256R1())
    request = FetchRequest(
        url=push_address.endpoint,
        body=encrypt(push_text.plain, push_address, sender=once, salt=os.urandom(SALT_BYTES)),
        body_type="application/octet-stream",
        content_types=None,
        statuses=TAKEN,
        headers={
            "authorization": f"vapid t={token}, k={compute_public_key(key)}",
            "content-encoding": "aes128gcm",
            "ttl": str(MESSAGE_TTL_S),
            "urgency": "high" if push_text.is_urgent else "normal",
            "topic": push_text.topic,
        },
    )
    await replace(fetcher, limits=LIMITS).fetch(request)


def seal(push_address: PushAddress, key: str, *, label: str) -> bytes:
    """Encrypt an address as it is stored; only who has the key, and the same label, can read it."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    fields = {
        "endpoint": push_address.endpoint,
        "public_key": encode_base64url(push_address.public_key),
        "auth": encode_base64url(push_address.auth),
        "contact": push_address.contact,
    }
    nonce = os.urandom(NONCE_BYTES)
    plain = json.dumps(fields).encode()
    return nonce + AESGCM(derive_sealing_key(key)).encrypt(nonce, plain, label.encode())


def unseal(sealed: bytes, key: str, *, label: str) -> PushAddress | None:
    """Decrypt a stored address; None if it was encrypted by another key or under another label."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce, rest = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
    try:
        plain = AESGCM(derive_sealing_key(key)).decrypt(nonce, rest, label.encode())
    except (InvalidTag, ValueError):
        return None
    fields = json.loads(plain)
    return PushAddress(
        endpoint=fields["endpoint"],
        public_key=decode_base64url(fields["public_key"]),
        auth=decode_base64url(fields["auth"]),
        contact=fields["contact"],
    )


def derive_sealing_key(key: str) -> bytes:
    """Derive the key by which addresses are stored."""
    return derive(decode_base64url(key), salt=None, info=b"oldfriend push address", length=32)


def encode_base64url(data: bytes) -> str:
    """Encode bytes without padding."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode_base64url(text: str) -> bytes:
    """Decode bytes, with or without padding. Raises ValueError."""
    bare = text.rstrip("=")
    try:
        return base64.b64decode(bare + "=" * (-len(bare) % 4), altchars=b"-_", validate=True)
    except binascii.Error as error:
        raise ValueError("not base64url") from error
