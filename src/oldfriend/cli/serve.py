"""oldfriend serve: be there for everybody, until told to stop.

One for each data folder. It takes what waits and answers it, does what is to be done in between,
shows the page in a browser, and says on the same port how it does. What happens is told on
standard error.
"""

import argparse
import socket
import sys
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from oldfriend.app.choices.settings import Settings
from oldfriend.app.house import House
from oldfriend.app.inviting import new_link
from oldfriend.app.listening import listen_on
from oldfriend.app.running.door import Door, listen
from oldfriend.app.running.presence import Presence, address, find_serving, present
from oldfriend.app.running.supervisor import Supervisor, Work, heeding_signals
from oldfriend.app.running.telling import begin_telling, tell
from oldfriend.app.wiring import open_house
from oldfriend.channels.channel import PLATFORMS
from oldfriend.cli.link import opens_at
from oldfriend.cli.opening import opened, settings_from
from oldfriend.cli.showing_page import show
from oldfriend.cli.work import WORKS
from oldfriend.domain.clock import system_clock
from oldfriend.domain.errors import CannotServe
from oldfriend.web.room import Room
from oldfriend.web.site import site_of

SERVES: Final[Mapping[str, Work]] = MappingProxyType(
    {**WORKS, **{name: partial(listen_on, name) for name in sorted(PLATFORMS)}}
)
"""What is kept running in the one that serves."""


async def run(options: argparse.Namespace) -> int:
    """Serve until told to stop; 0 when everything that was begun came to its end.

    Who only wants to see the page is shown the one that is served already.
    """
    settings, opens = settings_from(options), bool(options.open)
    if opens and await is_shown(options, settings):
        return 0
    begin_telling(sys.stderr, only_troubles=opens)
    with (
        present(settings.data, now=system_clock()) as presence,
        listen_for(settings, opens=opens) as listening,
    ):
        async with open_house(settings, reaches=True) as house:
            port = listening.getsockname()[1]
            room = Room(house, port=port)
            supervisor = Supervisor(
                house, {**SERVES, "pages": room.answer_here, "parcels": room.porter.carry},
                read_again=partial(settings_from, options),
            )  # fmt: skip
            with heeding_signals(supervisor):
                say_where(presence, settings, port)
                print(await opening(house, port, opens=opens), flush=True)
                site = site_of(room, lambda: supervisor.troubles, supervisor.reload_now)
                door = Door(supervisor=supervisor, listening=listening, site=site)
                has_ended = await supervisor.run(
                    door=door.stay_open, has_reloaded=presence.has_reloaded
                )
    tell("stopped")
    return 0 if has_ended else 1


def listen_for(settings: Settings, *, opens: bool) -> socket.socket:
    """Listen where the settings say; who is shown the page needs not know the port.

    Raises CannotServe.
    """
    try:
        return listen(settings.serve.host, settings.serve.port)
    except CannotServe:
        if not opens:
            raise
        return listen(settings.serve.host, 0)


async def is_shown(options: argparse.Namespace, settings: Settings) -> bool:
    """Whether a process serves the folder already; then its page is opened."""
    serving = find_serving(settings.data)
    if serving is None or serving.port is None:
        return False
    async with opened(options, create=False) as house:
        print(await show(await new_link(house, None, port=serving.port)))
    return True


async def opening(house: House, port: int, *, opens: bool) -> str:
    """What is said of the page: that it is open, or how to open it.

    The owner's link is shown where somebody reads it, and not in a log.
    """
    if opens:
        return f"{await show(await new_link(house, None, port=port))} (Ctrl-C ends it)"
    here = f"How it does: {address(house.settings.serve.host, port)}/ready"
    how = (
        opens_at(await new_link(house, None, port=port))
        if sys.stdout.isatty()
        else "Open its page in a browser: `oldfriend link` prints a link that is good once."
    )
    return (
        f"Oldfriend serves {house.settings.data}. {here}\n"
        f"Stop it with Ctrl-C or `oldfriend stop`.\n{how}"
    )


def say_where(presence: Presence, settings: Settings, port: int) -> None:
    """Tell whoever may look for it where it is."""
    presence.listens_at(settings.serve.host, port)
    tell("serving", host=settings.serve.host, port=port, data=str(settings.data))
