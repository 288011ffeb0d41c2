"""Who is to do something, do they do it, and how is that choice kept? However it was made.

Whoever asks has made sure that it can be right; what is known of providers is not known here.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from oldfriend.app.choices.settings import Settings
from oldfriend.app.connecting import (
    Wish,
    keep_embedder,
    keep_for_role,
    keep_local_embedder,
    keep_model,
    measure_embedder,
    try_model,
)
from oldfriend.app.connecting_speech import (
    keep_local_transcriber,
    keep_speaker,
    keep_transcriber,
    local_model,
    try_speaker,
    try_transcriber,
)
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.sayings import saying

Use = Literal["main", "small", "reflect", "embedder", "transcriber", "speaker"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Who is to do something."""

    use: Use
    wish: Wish | None  # None: something in this program
    folder: str = ""  # where that is, if it is to listen
    voice: str = ""  # with which it is to speak

    @property
    def model(self) -> str:
        """As it is written in settings. Raises ModelMisconfigured where no folder is named."""
        return local_model(self.folder) if self.wish is None else self.wish.model

    @property
    def wished(self) -> Wish:
        """The wish, where nothing in this program can do it. Raises InvalidInput."""
        if self.wish is None:
            raise InvalidInput(saying("provider_unnamed", "Name a provider."))
        return self.wish


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What somebody did when they were tried."""

    told: str
    dimension: int | None = None  # of an embedder: how long its vectors are
    is_opus: bool = True  # of a speaker: what goes out as a voice message


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """Who does what from now on, and where the key went, if there was one."""

    key_in: str | None = None
    models: Mapping[str, str] = field(default_factory=dict)


async def try_out(settings: Settings, candidate: Candidate) -> Trial:
    """Have somebody do a little of it. Raises ModelError, EmbeddingFailed, InvalidInput."""
    match candidate.use:
        case "transcriber":
            await try_transcriber(settings, candidate.model, candidate.wish)
            return Trial(told=saying("trial_listens", "It listens."))
        case "embedder" if candidate.wish is None:
            return Trial(told=saying("trial_in_program", "It is in this program."))
        case "embedder":
            dimension = await measure_embedder(settings, candidate.wished)
            return Trial(
                told=saying(
                    "trial_vectors", f"Vectors of {dimension} numbers.", dimension=dimension
                ),
                dimension=dimension,
            )
        case "speaker":
            speech = await try_speaker(settings, candidate.wished, candidate.voice)
            return Trial(told=speech.mime, is_opus=speech.is_opus)
    return Trial(told=await try_model(settings, candidate.wished))


def keep_candidate(
    settings: Settings, candidate: Candidate, *, dimension: int | None = None
) -> Keeping:
    """Keep a choice. Of an embedder elsewhere ``dimension`` must be known. Raises InvalidInput."""
    use, wish = candidate.use, candidate.wish
    match use:
        case "embedder" if wish is None:
            keep_local_embedder(settings)
            return Keeping()
        case "transcriber" if wish is None:
            keep_local_transcriber(settings, candidate.model)
            return Keeping(models={use: candidate.model})
        case "main":
            roles, key_in = keep_model(settings, candidate.wished)
            models = {str(role): model for role, model in roles.items()}
            return Keeping(key_in=key_in, models=models)
    key_in = keep_one(settings, candidate, dimension)
    return Keeping(key_in=key_in, models={use: candidate.model})


def keep_one(settings: Settings, candidate: Candidate, dimension: int | None) -> str | None:
    """Keep the choice of somebody elsewhere for one thing; where the key went."""
    match candidate.use:
        case "embedder":
            if dimension is None:
                raise InvalidInput("Without a test, say how long its vectors are: --dimension N.")
            return keep_embedder(settings, candidate.wished, dimension)
        case "transcriber":
            return keep_transcriber(settings, candidate.wished)
        case "speaker":
            return keep_speaker(settings, candidate.wished, candidate.voice)
        case role:
            return keep_for_role(settings, candidate.wished, role)
