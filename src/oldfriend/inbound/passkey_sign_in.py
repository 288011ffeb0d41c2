"""Passkey sign-in: WebAuthn registration and authentication.

The device signs a random challenge that is valid once. The stored public key proves who has signed,
and cannot be used to sign in. The library is imported when it is first needed.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.ids import PersonId
from oldfriend.domain.json import JsonValue
from oldfriend.domain.messages import Person
from oldfriend.memory.credentials import (
    Passkey,
    find_passkey,
    insert_challenge,
    list_passkeys,
    record_passkey_use,
    redeem_challenge,
    save_passkey,
)

ANONYMOUS = ""
"""The person of a challenge while nobody is signed in."""
REFUSED = localizable(
    "passkey_unverified",
    "The device's answer could not be verified. Start again.",
)

DeviceAnswer = Mapping[str, JsonValue]
"""The device's answer, as the browser passes it on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RelyingParty:
    """The page as browsers see it; a passkey is valid only there."""

    host: str
    origin: str


async def build_registration_options(
    db: Database, clock: Clock, person: Person, rp: RelyingParty
) -> JsonValue:
    """Build the options for a device to create a passkey for a person."""
    from webauthn import generate_registration_options, options_to_json
    from webauthn.helpers import base64url_to_bytes, bytes_to_base64url
    from webauthn.helpers.structs import (
        AuthenticatorSelectionCriteria,
        PublicKeyCredentialDescriptor,
        ResidentKeyRequirement,
        UserVerificationRequirement,
    )

    async with db.begin_read() as tx:
        known = await list_passkeys(tx, person.id)
    options = generate_registration_options(
        rp_id=rp.host,
        rp_name="Oldfriend",
        user_name=person.name,
        user_id=person.id.encode(),
        authenticator_selection=AuthenticatorSelectionCriteria(
            resident_key=ResidentKeyRequirement.REQUIRED,
            user_verification=UserVerificationRequirement.REQUIRED,
        ),
        exclude_credentials=[
            PublicKeyCredentialDescriptor(id=base64url_to_bytes(each.id)) for each in known
        ],
    )
    await save_challenge(db, clock, bytes_to_base64url(options.challenge), person.id)
    encoded: JsonValue = json.loads(options_to_json(options))
    return encoded


async def register_passkey(
    db: Database, clock: Clock, person: Person, rp: RelyingParty, answer: DeviceAnswer, *, name: str
) -> Passkey:
    """Verify and store the passkey that a device has created. Raises InvalidInput."""
    from webauthn import verify_registration_response
    from webauthn.helpers import base64url_to_bytes, bytes_to_base64url

    challenge = await consume_challenge(db, clock, answer, person.id)
    with raise_invalid_input():
        made = verify_registration_response(
            credential=json.dumps(answer),
            expected_challenge=base64url_to_bytes(challenge),
            expected_rp_id=rp.host,
            expected_origin=rp.origin,
            require_user_verification=True,
        )
    passkey = Passkey(
        id=bytes_to_base64url(made.credential_id),
        person=person.id,
        name=name,
        public_key=made.credential_public_key,
        sign_count=made.sign_count,
        made_at=clock(),
    )
    async with db.begin_write() as tx:
        return await save_passkey(tx, passkey)


async def build_login_options(db: Database, clock: Clock, rp: RelyingParty) -> JsonValue:
    """Build the options for a device to sign in with any passkey that it has for this page."""
    from webauthn import generate_authentication_options, options_to_json
    from webauthn.helpers import bytes_to_base64url
    from webauthn.helpers.structs import UserVerificationRequirement

    options = generate_authentication_options(
        rp_id=rp.host, user_verification=UserVerificationRequirement.REQUIRED
    )
    await save_challenge(db, clock, bytes_to_base64url(options.challenge), ANONYMOUS)
    encoded: JsonValue = json.loads(options_to_json(options))
    return encoded


async def verify_login(
    db: Database, clock: Clock, rp: RelyingParty, answer: DeviceAnswer
) -> PersonId | None:
    """Return whose passkey has signed, or None if it is unknown. Raises InvalidInput."""
    from webauthn import verify_authentication_response
    from webauthn.helpers import base64url_to_bytes

    challenge = await consume_challenge(db, clock, answer, ANONYMOUS)
    async with db.begin_read() as tx:
        passkey = await find_passkey(tx, str(answer.get("id", "")).rstrip("="))
    if passkey is None:
        return None
    with raise_invalid_input():
        signed = verify_authentication_response(
            credential=json.dumps(answer),
            expected_challenge=base64url_to_bytes(challenge),
            expected_rp_id=rp.host,
            expected_origin=rp.origin,
            credential_public_key=passkey.public_key,
            credential_current_sign_count=passkey.sign_count,
            require_user_verification=True,
        )
    async with db.begin_write() as tx:
        is_there = await record_passkey_use(
            tx, passkey, sign_count=signed.new_sign_count, now=clock()
        )
    return passkey.person if is_there else None


async def save_challenge(db: Database, clock: Clock, challenge: str, person: str) -> None:
    """Store the challenge that a device is asked to sign. Raises TooManyAttempts."""
    async with db.begin_write() as tx:
        await insert_challenge(tx, challenge, person, now=clock())


async def consume_challenge(db: Database, clock: Clock, answer: DeviceAnswer, person: str) -> str:
    """Use up and return the challenge that a device has signed. Raises InvalidInput if unknown."""
    from webauthn.helpers import base64url_to_bytes, bytes_to_base64url, parse_client_data_json

    response = answer.get("response")
    client_data = response.get("clientDataJSON") if isinstance(response, dict) else None
    with raise_invalid_input():
        client = parse_client_data_json(base64url_to_bytes(str(client_data)))
        challenge = bytes_to_base64url(client.challenge)
    async with db.begin_write() as tx:
        if not await redeem_challenge(tx, challenge, person, now=clock()):
            raise InvalidInput(
                localizable(
                    "passkey_late",
                    "That took too long, or was answered already. Try again.",
                )
            )
    return challenge


@contextmanager
def raise_invalid_input() -> Iterator[None]:
    """Raise InvalidInput for whatever the library cannot read or verify."""
    from webauthn.helpers.exceptions import WebAuthnException

    try:
        yield
    except (WebAuthnException, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(REFUSED) from error
