"""How does somebody sign in with what their device keeps? By a signature that only it can make.

The device is asked to sign something random, once. What is kept proves who has signed, and opens
nothing. The library is imported when it is first needed.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from oldfriend.app.house import House
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.ids import PersonId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.people import Person
from oldfriend.domain.sayings import saying
from oldfriend.memory.passkeys import (
    Passkey,
    find_passkey,
    list_passkeys,
    note_use_of_passkey,
    use_challenge,
    write_challenge,
    write_passkey,
)

ANYBODY = ""
"""Whose challenge it is while nobody is signed in."""
REFUSED = saying(
    "passkey_unverified",
    "The device's answer could not be verified. Try it once more, from the start.",
)  # fmt: skip

Answer = Mapping[str, JsonValue]
"""What the browser hands over of the device's answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the page is, as browsers see it; a passkey is good there alone."""

    host: str
    origin: str


async def ask_to_make(house: House, person: Person, place: Place) -> JsonValue:
    """What a device is asked, so that it makes a passkey for a person."""
    from webauthn import generate_registration_options, options_to_json
    from webauthn.helpers import base64url_to_bytes, bytes_to_base64url
    from webauthn.helpers.structs import (
        AuthenticatorSelectionCriteria,
        PublicKeyCredentialDescriptor,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    async with house.db.reading() as tx:
        known = await list_passkeys(tx, person.id)
    options = generate_registration_options(
        rp_id=place.host, rp_name="Oldfriend", user_name=person.name, user_id=person.id.encode(),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED,
            user_verification=UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=[
            PublicKeyCredentialDescriptor(id=base64url_to_bytes(each.id)) for each in known
        ],
    )  # fmt: skip
    await keep(house, bytes_to_base64url(options.challenge), person.id)
    asked: JsonValue = json.loads(options_to_json(options))
    return asked


async def add_made(
    house: House, person: Person, place: Place, answer: Answer, *, name: str
) -> Passkey:
    """Keep the passkey that a device has made. Raises InvalidInput."""
    from webauthn import verify_registration_response
    from webauthn.helpers import base64url_to_bytes, bytes_to_base64url

    challenge = await challenge_in(house, answer, person.id)
    with refusing():
        made = verify_registration_response(
            credential=json.dumps(answer), expected_challenge=base64url_to_bytes(challenge),
            expected_rp_id=place.host, expected_origin=place.origin,
            require_user_verification=True,
        )  # fmt: skip
    passkey = Passkey(
        id=bytes_to_base64url(made.credential_id), person=person.id, name=name,
        public_key=made.credential_public_key, sign_count=made.sign_count, made_at=house.clock(),
    )  # fmt: skip
    async with house.db.writing() as tx:
        return await write_passkey(tx, passkey)


async def ask_to_sign(house: House, place: Place) -> JsonValue:
    """What a device is asked, so that it says whose it is; it offers what it has for this place."""
    from webauthn import generate_authentication_options, options_to_json
    from webauthn.helpers import bytes_to_base64url
    from webauthn.helpers.structs import UserVerificationRequirement

    options = generate_authentication_options(
        rp_id=place.host, user_verification=UserVerificationRequirement.REQUIRED
    )
    await keep(house, bytes_to_base64url(options.challenge), ANYBODY)
    asked: JsonValue = json.loads(options_to_json(options))
    return asked


async def signed_by(house: House, place: Place, answer: Answer) -> PersonId | None:
    """Whose passkey has signed; None: it is nobody's. Raises InvalidInput where it has not."""
    from webauthn import verify_authentication_response
    from webauthn.helpers import base64url_to_bytes

    challenge = await challenge_in(house, answer, ANYBODY)
    async with house.db.reading() as tx:
        passkey = await find_passkey(tx, str(answer.get("id", "")).rstrip("="))
    if passkey is None:
        return None
    with refusing():
        signed = verify_authentication_response(
            credential=json.dumps(answer), expected_challenge=base64url_to_bytes(challenge),
            expected_rp_id=place.host, expected_origin=place.origin,
            credential_public_key=passkey.public_key,
            credential_current_sign_count=passkey.sign_count, require_user_verification=True,
        )  # fmt: skip
    async with house.db.writing() as tx:
        is_there = await note_use_of_passkey(
            tx, passkey, sign_count=signed.new_sign_count, now=house.clock()
        )
    return passkey.person if is_there else None


async def keep(house: House, challenge: str, person: str) -> None:
    """Keep what a device is asked to sign. Raises TooManyAttempts."""
    async with house.db.writing() as tx:
        await write_challenge(tx, challenge, person, now=house.clock())


async def challenge_in(house: House, answer: Answer, person: str) -> str:
    """What a device says it has signed, used up. Raises InvalidInput where it was not asked to."""
    from webauthn.helpers import base64url_to_bytes, bytes_to_base64url, parse_client_data_json

    response = answer.get("response")
    told = response.get("clientDataJSON") if isinstance(response, dict) else None
    with refusing():
        client = parse_client_data_json(base64url_to_bytes(str(told)))
        challenge = bytes_to_base64url(client.challenge)
    async with house.db.writing() as tx:
        if not await use_challenge(tx, challenge, person, now=house.clock()):
            raise InvalidInput(saying(
                "passkey_late", "That took too long, or was answered already. Try it once more.",
            ))  # fmt: skip
    return challenge


@contextmanager
def refusing() -> Iterator[None]:
    """Whatever the library cannot read or verify is refused. Raises InvalidInput."""
    from webauthn.helpers.exceptions import WebAuthnException

    try:
        yield
    except (WebAuthnException, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(REFUSED) from error
