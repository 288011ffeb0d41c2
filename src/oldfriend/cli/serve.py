"""oldfriend serve: the server process, one per data folder.

Answers messages, runs background jobs and serves the web page, with its readiness check on the same
port. Logs to standard error.
"""

import argparse
import asyncio
import shutil
import socket
import sys
import threading
import webbrowser
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from oldfriend.api.connections import ConnectionHub
from oldfriend.api.web_app import create_app
from oldfriend.app.event_log import configure_logging, log_event
from oldfriend.app.pid_lock import PidLock, find_server, format_base_url, hold_pid_lock
from oldfriend.channels.channel_registry import CHANNELS
from oldfriend.cli.link import format_link
from oldfriend.cli.open_context import (
    load_settings_from_options,
    open_from_options,
    print_permission_warnings,
)
from oldfriend.cli.work import WORK_TASKS
from oldfriend.config.settings import Settings
from oldfriend.db.database import Database
from oldfriend.domain.clock import Clock, system_clock
from oldfriend.domain.errors import InvalidInput, ServerProcessError
from oldfriend.domain.i18n_messages import build_missing_extra_text
from oldfriend.inbound.account_linking import create_sign_in_link
from oldfriend.inbound.receive import listen_on_channel
from oldfriend.mcp_server.http_door import build_mcp_routes
from oldfriend.openai_api.api_routes import build_api_routes
from oldfriend.runtime.admin_http import AdminServer, listen
from oldfriend.runtime.supervisor import Supervisor, WorkerPart, handle_signals
from oldfriend.runtime.wiring import open_app

PROGRAM_NAME: Final = "oldfriend"
BROWSER_TIMEOUT_S: Final = 2.0
"""A browser that has not returned by then runs in the foreground, so it did open."""
TEXT_BROWSERS: Final = frozenset({"www-browser", "links", "elinks", "lynx", "w3m"})
"""Text browsers would take over the terminal, and run no scripts."""

SERVE_TASKS: Final[Mapping[str, WorkerPart]] = MappingProxyType(
    {**WORK_TASKS, **{name: partial(listen_on_channel, name) for name in sorted(CHANNELS)}}
)
"""Tasks that the server keeps running."""


async def run(options: argparse.Namespace) -> int:
    """Serve until told to stop; 0 if everything that was started has finished.

    With --open, opens the page of a server that is already running instead of starting one.
    """
    settings, open_browser = load_settings_from_options(options), bool(options.open)
    if open_browser and await open_served_page(options, settings):
        return 0
    print_permission_warnings(settings)
    configure_logging(sys.stderr, only_warnings=open_browser)
    with (
        hold_pid_lock(settings.data, now=system_clock()) as pid_lock,
        open_listening_socket(settings, open_browser=open_browser) as listen_socket,
    ):
        async with open_app(settings, with_channels=True) as app:
            port = listen_socket.getsockname()[1]
            hub = ConnectionHub(app, port=port)
            parts: dict[str, WorkerPart] = {"pages": hub.run, "parcels": hub.import_worker.run}
            if settings.serve.wyoming_port is not None:
                parts["wyoming"] = build_wyoming_part(hub)
            supervisor = Supervisor(
                app,
                {**SERVE_TASKS, **parts},
                load_settings=partial(load_settings_from_options, options),
            )
            with handle_signals(supervisor):
                announce_address(pid_lock, settings, port)
                print(
                    await build_greeting(
                        app.db, app.clock, app.settings, port, open_browser=open_browser
                    ),
                    flush=True,
                )
                web_app = create_app(
                    hub,
                    lambda: supervisor.problems,
                    supervisor.reload_now,
                    [*build_mcp_routes(lambda: hub.app), *build_api_routes(hub)],
                )
                admin_server = AdminServer(
                    supervisor=supervisor, listen_socket=listen_socket, web_app=web_app
                )
                has_ended = await supervisor.run(
                    admin_server=admin_server.serve, on_reload=pid_lock.set_reload_result
                )
    log_event("stopped")
    return 0 if has_ended else 1


def build_wyoming_part(hub: ConnectionHub) -> WorkerPart:
    """Return the part that answers voice assistants. Raises InvalidInput without the extra."""
    try:
        from oldfriend.openai_api.wyoming_server import WyomingServer
    except ImportError as error:
        raise InvalidInput(build_missing_extra_text("Wyoming", "oldfriend[wyoming]")) from error
    return WyomingServer(hub).run


def open_listening_socket(settings: Settings, *, open_browser: bool) -> socket.socket:
    """Listen on the configured port; with ``open_browser``, on any free port if that one is taken.

    Raises ServerProcessError.
    """
    try:
        return listen(settings.serve.host, settings.serve.port)
    except ServerProcessError:
        if not open_browser:
            raise
        return listen(settings.serve.host, 0)


async def open_served_page(options: argparse.Namespace, settings: Settings) -> bool:
    """Open the page of a running server; False if there is none."""
    server = find_server(settings.data)
    if server is None or server.port is None:
        return False
    async with open_from_options(options, create=False) as app:
        print(
            await open_page(
                await create_sign_in_link(app.db, app.clock, app.settings, None, port=server.port)
            )
        )
    return True


async def build_greeting(
    db: Database, clock: Clock, settings: Settings, port: int, *, open_browser: bool
) -> str:
    """Build the start message: that the page is open, or how to open it.

    The owner's link is shown only on a terminal, never in a log.
    """
    if open_browser:
        link = await create_sign_in_link(db, clock, settings, None, port=port)
        opened = f"{await open_page(link)} (Ctrl-C stops it)"
        wanted = settings.serve.port
        if port == wanted or not wanted:
            return opened
        return f"{opened}\nPort {wanted} is taken by another program, so this is port {port}."
    status = f"Its state: {format_base_url(settings.serve.host, port)}/ready"
    page_hint = (
        format_link(await create_sign_in_link(db, clock, settings, None, port=port))
        if sys.stdout.isatty()
        else (
            "To open its page in a browser, run `oldfriend link`; it prints a link that works once."
        )
    )
    return (
        f"Oldfriend is running for {settings.data}. {status}\n"
        "Stop it with Ctrl-C or `oldfriend stop`.\n"
        f"{page_hint}"
    )


def announce_address(presence: PidLock, settings: Settings, port: int) -> None:
    """Publish the server's address in the PID file and in the log."""
    presence.set_address(settings.serve.host, port)
    log_event("serving", host=settings.serve.host, port=port, data=str(settings.data))


async def open_page(link: str) -> str:
    """Open a one-time link in a browser; return the message to print."""
    page = link.partition("#")[0]
    if await asyncio.to_thread(open_in_thread, link):
        return f"Oldfriend is open in your browser, at {page}"
    port = page.rstrip("/").rpartition(":")[2]
    return (
        "No browser could be opened here. Open this link in one (it works once, within ten "
        f"minutes): {link}\n"
        f"From another machine, first run: ssh -L {port}:localhost:{port} THIS-MACHINE. To chat "
        f"in the terminal instead: {get_program_name()} chat"
    )


def get_program_name() -> str:
    """Return the command name if it is on the PATH, else the path it was run with."""
    is_found = shutil.which(PROGRAM_NAME) is not None or not sys.argv[0].endswith(
        f"/{PROGRAM_NAME}"
    )
    return PROGRAM_NAME if is_found else sys.argv[0]


def open_in_thread(link: str) -> bool:
    """Tell whether a browser took the link, waiting at most BROWSER_TIMEOUT_S."""
    opened: list[bool] = []
    thread = threading.Thread(target=lambda: opened.append(open_browser(link)), daemon=True)
    thread.start()
    thread.join(BROWSER_TIMEOUT_S)
    return opened[0] if opened else True


def open_browser(link: str) -> bool:
    """Open the link in a graphical browser; False if there is none."""
    try:
        browser = webbrowser.get()
        return browser.name not in TEXT_BROWSERS and browser.open(link)
    except webbrowser.Error:
        return False
