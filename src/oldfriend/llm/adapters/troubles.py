"""What is said of a provider that does not do as it should, whatever it was asked for?

No sentence contains a key.
"""

from oldfriend.domain.sayings import Saying, saying
from oldfriend.llm.catalogue import Choice, is_on_this_machine


def unpaid(choice: Choice) -> Saying:
    """There is no money left."""
    who = choice.provider
    return saying(
        "provider_unpaid",
        f"{who} has no credit left for this account. Top it up, or connect another.", provider=who,
    )  # fmt: skip


def busy(choice: Choice) -> Saying:
    """Too much was asked at once."""
    who = choice.provider
    return saying("provider_busy", f"{who} asks for fewer requests (429).", provider=who)


def overloaded(choice: Choice) -> Saying:
    """Too many ask."""
    return saying(
        "provider_overloaded", f"{choice.provider} is overloaded.", provider=choice.provider,
    )  # fmt: skip


def slow(choice: Choice) -> Saying:
    """It took too long."""
    return saying(
        "provider_slow", f"{choice.provider} did not answer in time.", provider=choice.provider,
    )  # fmt: skip


def unreached(choice: Choice) -> Saying:
    """Nobody is there."""
    who, address = choice.provider, choice.base_url
    text = f"{who} cannot be reached at {address}."
    if is_on_this_machine(address):
        told = f"{text} Is it running?"
        return saying("provider_unreached_here", told, provider=who, address=address)
    return saying("provider_unreached", text, provider=who, address=address)


def lost(choice: Choice, more: str = "") -> Saying:
    """Nobody is there any more."""
    who = choice.provider
    return saying("provider_lost", f"The connection to {who} was lost{more}.", provider=who)


def failed(choice: Choice, said: str, *, status: int | None = None) -> Saying:
    """It has failed, and said something itself."""
    how = "" if status is None else f" ({status})"
    return saying(
        "provider_failed", f"{choice.provider} failed{how}: {said}", provider=choice.provider,
        said=said,
    )  # fmt: skip


def not_taken(choice: Choice, said: str, *, status: int | None = None) -> Saying:
    """It does not do what it was asked for, and says why itself."""
    what = "this request" if status is None else f"this ({status})"
    return saying(
        "request_not_taken", f"{choice.model} does not take {what}: {said}", model=choice.model,
        said=said,
    )  # fmt: skip


def key_refused(choice: Choice, what: str) -> Saying:
    """The key opens nothing; what a provider says of it is not repeated: some quote it."""
    return saying(
        "key_refused",
        f"{choice.provider} does not accept the key, or does not let it use {choice.name}. "
        f"Give it another one: oldfriend connect {what}",
        provider=choice.provider,
    )  # fmt: skip


def model_unknown(choice: Choice, kind: str, what: str, *, meant: str | None = None) -> Saying:
    """There is no such model; ``meant``: the provider knows one that is called alike."""
    who, name, address = choice.provider, choice.name, choice.base_url
    hint = "" if meant is None else f" Did you mean {meant}?"
    return saying(
        "model_unknown" if meant is None else "model_unknown_meant",
        f"{who} has no {kind} {name!r} at {address}.{hint} "
        f"Choose another one: oldfriend connect {what}",
        provider=who, name=name, address=address, meant=meant or "",
    )  # fmt: skip
