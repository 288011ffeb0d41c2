"""Who shows the page to somebody? A browser of this machine; where there is none, they are told.

It does not know who they are, nor whether they look.
"""

import asyncio
import shutil
import sys
import threading
import webbrowser
from typing import Final

NAME: Final = "oldfriend"
PATIENCE_S: Final = 2.0
"""A browser that has not come back by then stays in the foreground, and has opened."""
TEXT_BROWSERS: Final = frozenset({"www-browser", "links", "elinks", "lynx", "w3m"})
"""They would take over the terminal, and run no scripts."""


async def show(link: str) -> str:
    """Open a one-time link in a browser; what is to be said of it."""
    page = link.partition("#")[0]
    if await asyncio.to_thread(has_opened, link):
        return f"Oldfriend is open in your browser, at {page}"
    port = page.rstrip("/").rpartition(":")[2]
    return (
        f"No browser could be opened here. Open it in one (once, within ten minutes): {link}\n"
        f"On another machine, first: ssh -L {port}:localhost:{port} THIS-MACHINE. In the terminal "
        f"instead: {as_called()} chat"
    )


def as_called() -> str:
    """How this program is called in a terminal: by its name where that is found, else as it was."""
    is_found = shutil.which(NAME) is not None or not sys.argv[0].endswith(f"/{NAME}")
    return NAME if is_found else sys.argv[0]


def has_opened(link: str) -> bool:
    """Whether a browser has taken the link."""
    opened: list[bool] = []
    opening = threading.Thread(target=lambda: opened.append(opens(link)), daemon=True)
    opening.start()
    opening.join(PATIENCE_S)
    return opened[0] if opened else True


def opens(link: str) -> bool:
    """Have a browser open the link; False where there is none for windows."""
    try:
        browser = webbrowser.get()
        return browser.name not in TEXT_BROWSERS and browser.open(link)
    except webbrowser.Error:
        return False
