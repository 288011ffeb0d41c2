"""Draw the icons of the installed page from its mark (icon.svg), with Chromium.

They lie in the repository; draw them anew when the mark changes.
"""

import shutil
from pathlib import Path
from typing import Final

from playwright.sync_api import sync_playwright

STATIC: Final = Path(__file__).parents[1] / "src" / "oldfriend" / "api" / "static"
PAPER: Final = "#faf6ef"
MARK: Final = (STATIC / "icon.svg").read_text("utf-8")
ICONS: Final = {
    # name: size, corner in percent, mark in percent of the size
    "icon-192.png": (192, 22, 66),
    "icon-512.png": (512, 22, 66),
    "maskable-512.png": (512, 0, 54),  # systems cut it to a shape of their own
    "touch-180.png": (180, 0, 62),
}


def main() -> None:
    """Draw each."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        for name, (size, corner, mark) in ICONS.items():
            page = browser.new_page(viewport={"width": size, "height": size})
            page.set_content(
                f"<style>body {{ margin: 0; background: transparent }} div {{ height: 100vh;"
                f" display: grid; place-items: center; background: {PAPER};"
                f" border-radius: {corner}% }} svg {{ width: {mark}% }}</style><div>{MARK}</div>"
            )
            page.screenshot(path=STATIC / "icons" / name, omit_background=True)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
