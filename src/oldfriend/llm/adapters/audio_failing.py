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
from oldfriend.domain.sayings import saying
from oldfriend.llm.adapters import troubles
from oldfriend.llm.adapters.provided import MAY_PASS, quoted, wait_in
from oldfriend.llm.catalogue import Choice

UNPAID: Final = "insufficient_quota"
Asked = Literal["transcriber", "speaker"]


def lost(choice: Choice, error: httpx2.HTTPError) -> ModelUnavailable:
    """What it means that no answer came."""
    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout):
        return ModelUnavailable(troubles.unreached(choice))
    if isinstance(error, httpx2.TimeoutException):
        return ModelUnavailable(troubles.slow(choice), outage="slow")
    return ModelUnavailable(troubles.lost(choice))


def failure(choice: Choice, answer: httpx2.Response, what: Asked) -> ModelError:
    """What an answer that is none means for who was asked as what."""
    status, said = answer.status_code, quoted(choice, answer)
    if status == 402 or (status == 429 and UNPAID in answer.text):
        return ModelUnavailable(troubles.unpaid(choice), outage="unpaid")
    if status in MAY_PASS or status >= 500:
        outage: Outage = "busy" if status == 429 else "failing"
        return ModelUnavailable(
            troubles.failed(choice, said, status=status), outage=outage,
            retry_after_s=wait_in(answer.headers),
        )  # fmt: skip
    if status in {401, 403}:
        return KeyRefused(troubles.key_refused(choice, what))
    if status in {404, 405}:
        return ModelMisconfigured(troubles.model_unknown(choice, what, what))
    if status == 413:
        return AudioTooLarge(saying(
            "recording_too_large", f"The recording is larger than {choice.model} takes.",
            model=choice.model,
        ))  # fmt: skip
    return RequestRejected(troubles.not_taken(choice, said, status=status))
