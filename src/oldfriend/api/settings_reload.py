"""Settings writer: writes the settings file and reloads it at once.

Changes are applied one at a time; a change that fails to reload is rolled back.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeAlias, TypeVar

from fastapi import Depends, Request

from oldfriend.api.connections import ConnectionHub
from oldfriend.app.app_context import AppContext
from oldfriend.app.pid_lock import ReloadResult
from oldfriend.config.settings import Settings
from oldfriend.config.settings_catalog import restore_settings_file
from oldfriend.config.settings_file import read_settings_text
from oldfriend.domain.errors import InvalidInput
from oldfriend.domain.i18n_messages import localizable

T = TypeVar("T")
ReloadSettings: TypeAlias = Callable[[], Awaitable[tuple[ReloadResult, AppContext]]]


class SettingsWriter:
    """Serializes changes to the settings file in this process."""

    def __init__(self, reload_settings: ReloadSettings) -> None:
        """Use ``reload_settings`` to reload after each write."""
        self._reload_settings = reload_settings
        self._lock = asyncio.Lock()

    async def apply(self, hub: ConnectionHub, write: Callable[[Settings], T]) -> T:
        """Write and reload; restores the file and raises InvalidInput if the reload is refused."""
        async with self._lock:
            settings = hub.app.settings
            before = await asyncio.to_thread(read_settings_text, settings.file)
            result = await asyncio.to_thread(write, settings)
            outcome, app = await self._reload_settings()
            if outcome.refused is not None:
                await asyncio.to_thread(restore_settings_file, settings.file, before)
                raise InvalidInput(
                    localizable(
                        "nothing_changed",
                        f"Nothing was changed: {outcome.refused}",
                        why=outcome.refused,
                    )
                )
            hub.app = app
            return result


async def get_settings_writer(request: Request) -> SettingsWriter:
    """Return the settings writer of this process."""
    writer = request.app.state.desk
    assert isinstance(writer, SettingsWriter)
    return writer


SettingsWriterDep = Annotated[SettingsWriter, Depends(get_settings_writer)]
