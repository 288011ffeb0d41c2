"""A Telegram on this machine: real HTTP, and strict about what the real one is strict about."""

from tests.fakes.telegram.server import running_telegram
from tests.fakes.telegram.world import Fault, Shown, World

__all__ = ["Fault", "Shown", "World", "running_telegram"]
