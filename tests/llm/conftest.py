"""What the tests of models may ask for: a fake provider, and requests to send it."""

from collections.abc import Iterator

import pytest

from tests.fakes.model_server import ModelServer, model_server
from tests.packages import why_not_here


@pytest.fixture(scope="session")
def running_provider() -> Iterator[ModelServer]:
    """Started once; needs node and npm."""
    why_not = why_not_here()
    if why_not:
        pytest.skip(f"the fake providers need node and npm: {why_not}")
    with model_server() as server:
        yield server


@pytest.fixture
def provider(running_provider: ModelServer) -> ModelServer:
    """A provider that has been told nothing yet."""
    running_provider.answers()
    return running_provider
