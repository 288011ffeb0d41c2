"""Whom a call is charged to, in tests."""

from dataclasses import dataclass, field

from oldfriend.domain.errors import AllowanceUsedUp
from oldfriend.llm.model import ModelCall


@dataclass(slots=True)
class Purse:
    """An account that remembers what was charged, and lets so many requests be made."""

    left: int = 1000
    calls: list[ModelCall] = field(default_factory=list)

    async def check(self) -> None:
        """Refuse once it is empty."""
        if not self.left:
            raise AllowanceUsedUp("Nothing is left.")
        self.left -= 1

    async def record(self, call: ModelCall) -> None:
        """Remember one."""
        self.calls.append(call)

    @property
    def outcomes(self) -> list[str]:
        """How they ended."""
        return [call.outcome for call in self.calls]
