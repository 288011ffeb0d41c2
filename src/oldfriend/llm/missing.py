"""What stands in for a model that was chosen and cannot be had?"""

from dataclasses import dataclass

from oldfriend.domain.errors import ModelMisconfigured
from oldfriend.llm.model import Completion, Request, Say


@dataclass(frozen=True, slots=True, kw_only=True)
class NoModel:
    """Says why when it is asked, so that another one of a chain can answer."""

    name: str
    why: str

    async def complete(self, request: Request, say: Say | None = None) -> Completion:
        """Raise ModelMisconfigured."""
        del request, say
        raise ModelMisconfigured(self.why)
