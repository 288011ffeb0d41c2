"""What did hearing and speaking cost? By minutes and characters, as providers have published it.

Only where the provider is at its usual address; else it is not known.
"""

import math
from types import MappingProxyType
from typing import Final

from oldfriend.llm.catalogue import PROVIDERS, Choice, is_free

MINUTE_S: Final = 60
HEARD: Final = MappingProxyType({
    "openai:whisper-1": 6_000, "openai:gpt-4o-transcribe": 6_000,
    "openai:gpt-4o-mini-transcribe": 3_000,
    "groq:whisper-large-v3": 1_850, "groq:whisper-large-v3-turbo": 667,
})  # fmt: skip
"""Millionths of a dollar for a minute (ACCEPTANCE W12)."""
SPOKEN: Final = MappingProxyType({"openai:gpt-4o-mini-tts": 15_000})
"""The same; as OpenAI estimates it, which bills by tokens that it does not report."""
SPOKEN_BY_CHARACTERS: Final = MappingProxyType({"openai:tts-1": 15, "openai:tts-1-hd": 30})
"""Millionths of a dollar for a character."""
LEAST_S: Final = MappingProxyType({"groq": 10.0})
"""Seconds that are charged at least."""


def price_of_hearing(choice: Choice, seconds: float | None) -> int | None:
    """Millionths of a dollar, rounded up; None where it is not known, 0 only where it is free."""
    if is_free(choice):
        return 0
    return by_minutes(choice, HEARD.get(choice.model), seconds)


def price_of_speaking(choice: Choice, text: str, seconds: float | None) -> int | None:
    """The same, for a text and the sound that was made of it."""
    if is_free(choice):
        return 0
    each = SPOKEN_BY_CHARACTERS.get(choice.model)
    if each is not None and is_at_usual_place(choice):
        return each * len(text)
    return by_minutes(choice, SPOKEN.get(choice.model), seconds)


def by_minutes(choice: Choice, each: int | None, seconds: float | None) -> int | None:
    """What so many seconds cost."""
    if each is None or seconds is None or not is_at_usual_place(choice):
        return None
    return math.ceil(each * max(seconds, LEAST_S.get(choice.provider, 0.0)) / MINUTE_S)


def is_at_usual_place(choice: Choice) -> bool:
    """Whether it is the provider itself, not somebody of the same name."""
    known = PROVIDERS.get(choice.provider)
    return known is not None and choice.base_url == known.base_url
