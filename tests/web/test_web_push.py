"""Texts for browsers: encrypted as the RFC has it, and sent to nobody on this network."""

import base64

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from oldfriend.domain.errors import FetchFailed, InvalidInput
from oldfriend.web.web_push import (
    MAX_PLAIN_BYTES,
    PushText,
    compute_public_key,
    decode_base64url,
    encode_base64url,
    encode_point,
    encrypt,
    generate_push_key,
    load_key,
    parse_address,
    seal,
    send_push,
    unseal,
)
from tests.clock import FrozenClock
from tests.fakes.push_service import Browser, PushService
from tests.fakes.web_sites import web_sites

RECEIVER = "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
SENT = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS"
    "6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qu"
    "lcy4a-fN"
)
TEXT = PushText(plain=b'{"title": "O"}', topic="abc", is_urgent=True)


def test_text_is_encrypted_as_in_the_example_of_the_rfc() -> None:
    """Appendix A of RFC 8291."""
    address = parse_address("https://push.example/a", RECEIVER, AUTH)
    body = encrypt(
        b"When I grow up, I want to be a watermelon",
        address,
        sender=load_key("yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"),
        salt=decode_base64url("DGv6ra1nlYgDCS1FRnbzlw"),
    )

    assert encode_base64url(body) == SENT


@pytest.mark.parametrize("size", [0, 1, MAX_PLAIN_BYTES])
def test_texts_of_any_fitting_size_can_be_read_and_fit_a_record(size: int) -> None:
    browser = Browser()
    told = browser.subscription()
    address = parse_address(told["endpoint"], **rename(told["keys"]))
    body = encrypt(
        b"a" * size, address, sender=ec.generate_private_key(ec.SECP256R1()), salt=bytes(16)
    )

    assert browser.read(body) == b"a" * size
    assert len(body) <= 4096
    with pytest.raises(ValueError, match="too long"):
        encrypt(
            bytes(MAX_PLAIN_BYTES + 1), address, sender=load_key("A" * 42 + "E"), salt=bytes(16)
        )


def rename(keys: dict[str, str]) -> dict[str, str]:
    """The names that parse_address has for them."""
    return {"public_key": keys["p256dh"], "auth": keys["auth"]}


@pytest.mark.parametrize(
    "endpoint",
    [
        "http://push.example/a",
        "https://127.0.0.1/a",
        "https://[::1]/a",
        "https://10.1.2.3/a",
        "https://169.254.169.254/latest",
        "https://localhost/a",
        "https://printer.local/a",
        "https://push.example:8443/a",
        "https://user:word@push.example/a",
        "file:///etc/passwd",
        "",
    ],
)
def test_address_that_no_push_service_can_have_is_refused(endpoint: str) -> None:
    with pytest.raises(InvalidInput):
        parse_address(endpoint, RECEIVER, AUTH)


@pytest.mark.parametrize(
    ("public_key", "auth"),
    [
        ("", AUTH),
        (RECEIVER, ""),
        (RECEIVER[:-4], AUTH),
        (RECEIVER, AUTH + "AAAA"),
        (encode_base64url(b"\x04" + bytes(64)), AUTH),  # not on the curve
        (encode_base64url(b"\x00"), AUTH),  # the point at infinity
        ("ä" * 87, AUTH),
    ],
)
def test_keys_that_no_browser_can_have_are_refused(public_key: str, auth: str) -> None:
    with pytest.raises(InvalidInput):
        parse_address("https://push.example/a", public_key, auth)


@pytest.mark.parametrize("name", ["10.0.0.7", "127.0.0.1", "fd00::7"])
async def test_service_that_resolves_into_this_network_is_sent_nothing(
    clock: FrozenClock, name: str
) -> None:
    """A public name may point anywhere, also after it was accepted."""
    service = PushService(clock)
    browser = service.browsers[0]
    told = browser.subscription()
    address = parse_address(told["endpoint"], **rename(told["keys"]))
    async with web_sites(service.sites, {"push.example": [name]}) as web:
        with pytest.raises(FetchFailed) as refused:
            await send_push(web.fetcher(), generate_push_key(), address, TEXT, now=clock())

    assert refused.value.reason == "address"
    assert web.dialled == []


async def test_redirect_of_a_service_is_not_followed(clock: FrozenClock) -> None:
    """Whatever it answers is no reason to ask somebody else."""
    service = PushService(clock, answers=["302 Found\r\nlocation: https://push.example/b"])
    told = service.browsers[0].subscription()
    address = parse_address(told["endpoint"], **rename(told["keys"]))
    async with web_sites(service.sites) as web:
        with pytest.raises(FetchFailed) as refused:
            await send_push(web.fetcher(), generate_push_key(), address, TEXT, now=clock())

    assert refused.value.reason == "redirects"
    assert len(web.requests) == 1


@pytest.mark.parametrize("contact", [None, "http://friend.example", "https://friend.example"])
async def test_service_is_always_told_an_address_that_it_accepts(
    clock: FrozenClock, contact: str | None
) -> None:
    """Apple's refuses a token without one; also where the page has none of its own."""
    service = PushService(clock)
    key = generate_push_key()
    told = service.browsers[0].subscription()
    service.browsers[0].server_key = compute_public_key(key)
    address = parse_address(told["endpoint"], **rename(told["keys"]), contact=contact)
    stored = unseal(seal(address, key, label="s"), key, label="s")
    assert stored is not None
    async with web_sites(service.sites) as web:
        await send_push(web.fetcher(), key, stored, TEXT, now=clock())

    (told_contact,) = service.contacts
    assert told_contact is not None
    assert told_contact.startswith("https://")
    assert (told_contact == contact, service.faults) == (contact == "https://friend.example", [])


def test_stored_address_opens_only_by_its_key_and_for_its_session() -> None:
    """Nor does anything of it stand there as it is."""
    key = generate_push_key()
    address = parse_address("https://push.example/secret", RECEIVER, AUTH, contact="mailto:a@b.c")
    sealed = seal(address, key, label="session")

    assert unseal(sealed, key, label="session") == address
    assert unseal(sealed, key, label="another") is None
    assert unseal(sealed, generate_push_key(), label="session") is None
    assert unseal(sealed, "no key", label="session") is None
    assert unseal(b"", key, label="session") is None
    assert b"secret" not in sealed
    assert base64.b64decode(AUTH + "==", altchars=b"-_") not in sealed
    assert encode_point(load_key(key)) not in sealed
