"""Somebody who hears or speaks failed: what does it mean for us, and what should be done about it?

No sentence contains a key, also where the provider quotes it.
"""

from typing import Final, Literal

import httpx2

from oldfriend.domain.errors import (
    AudioTooLarge,
    KeyRefused,
    ModelError,
    ModelMisconfigured,
    ModelUnavailable,
    Outage,
    RequestRejected,
)
from oldfriend.llm.adapters.provided import MAY_PASS, quoted, wait_in
from oldfriend.llm.catalogue import Choice, is_on_this_machine

UNPAID: Final = "insufficient_quota"
Asked = Literal["transcriber", "speaker"]


def lost(choice: Choice, error: httpx2.HTTPError) -> ModelUnavailable:
    """What it means that no answer came."""
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        hint = " Is it running?" if is_on_this_machine(choice.base_url) else ""
        return ModelUnavailable(
            f"{choice.provider} cannot be reached at {choice.base_url}.{hint}"
        )  # fmt: skip
    if isinstance(error, httpx2.TimeoutException):
        return ModelUnavailable(f"{choice.provider} did not answer in time.", outage="slow")
    return ModelUnavailable(f"The connection to {choice.provider} was lost.")


def failure(choice: Choice, answer: httpx2.Response, what: Asked) -> ModelError:
    """What an answer that is none means for who was asked as what."""
    status, said = answer.status_code, quoted(choice, answer)
    if status == 402 or (status == 429 and UNPAID in answer.text):
        return ModelUnavailable(
            f"{choice.provider} has no credit left for this account. "
            "Top it up, or connect another.",
            outage="unpaid",
        )
    if status in MAY_PASS or status >= 500:
        outage: Outage = "busy" if status == 429 else "failing"
        return ModelUnavailable(
            f"{choice.provider} failed ({status}): {said}", outage=outage,
            retry_after_s=wait_in(answer.headers),
        )  # fmt: skip
    if status in {401, 403}:  # not quoted: some repeat parts of the key
        return KeyRefused(
            f"{choice.provider} does not accept the key, or does not let it use {choice.name}. "
            f"Give it another one: oldfriend connect {what}"
        )
    if status in {404, 405}:
        return ModelMisconfigured(
            f"{choice.provider} has no {what} {choice.name!r} at {choice.base_url}. "
            f"Choose another one: oldfriend connect {what}"
        )
    if status == 413:
        return AudioTooLarge(f"The recording is larger than {choice.model} takes.")
    return RequestRejected(f"{choice.model} does not take this ({status}): {said}")
