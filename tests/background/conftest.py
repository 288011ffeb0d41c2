"""People who talk to the companion, as in the tests of memory."""

from tests.memory.conftest import meet, nora, omar

__all__ = ["meet", "nora", "omar"]
