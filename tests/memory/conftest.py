"""Memory is tested on every engine."""

from tests.engines import every_engine

engine = every_engine
