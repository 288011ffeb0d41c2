"""Writes lang/packs/zh/variants.toml: which Chinese characters are one in both scripts.

    python scripts/build_chinese_variants.py

The pairs are those of OpenCC (Apache License 2.0), for characters that are in everyday use: the
traditional one in Big5, the simplified one in GB 2312. At run time OpenCC itself would be 8 MB for
what is a table of 20 kB.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import opencc

PACK: Final = Path(__file__).parent.parent / "src/oldfriend/lang/packs/zh/variants.toml"
HAN: Final = range(0x3400, 0xA000)
EVERYDAY_VARIANTS: Final = {"妳": "你", "祂": "他", "牠": "它", "姊": "姐", "嚒": "么"}
"""Characters that OpenCC keeps apart, but that are read as one in everyday writing."""
WIDTH: Final = 32
"""Pairs on a line."""


def main() -> None:
    """Write the pack's file."""
    to_simplified = {**dict(list_pairs("t2s")), **EVERYDAY_VARIANTS}
    traditional = dict(list_pairs("s2t"))
    shared = [each for each in traditional if is_in(each, "big5")]
    unique = [
        each
        for each, other in traditional.items()
        if each not in shared and to_simplified.get(other) == each
    ]
    PACK.write_text(
        "# Written by scripts/build_chinese_variants.py from OpenCC (Apache License 2.0).\n\n"
        "# Each traditional character with its simplified one.\n"
        f"simplified = '''\n{wrap(f'{a}{b}' for a, b in to_simplified.items())}'''\n\n"
        "# Each simplified character that no traditional text has, with its traditional one.\n"
        f"traditional = '''\n{wrap(each + traditional[each] for each in unique)}'''\n",
        "utf-8",
    )


def list_pairs(direction: str) -> Iterator[tuple[str, str]]:
    """Yield each everyday character that OpenCC converts, with what it becomes."""
    converter = opencc.OpenCC(direction)
    old, new = ("big5", "gb2312") if direction == "t2s" else ("gb2312", "big5")
    for code in HAN:
        one = chr(code)
        other = converter.convert(one)
        if other != one and is_in(one, old) and is_in(other, new):
            yield one, other


def is_in(character: str, encoding: str) -> bool:
    """Return whether an encoding has a character."""
    try:
        return bool(character.encode(encoding))
    except UnicodeEncodeError:
        return False


def wrap(pairs: Iterator[str]) -> str:
    """Return pairs in lines."""
    every = list(pairs)
    lines = (" ".join(every[start : start + WIDTH]) for start in range(0, len(every), WIDTH))
    return "".join(f"{line}\n" for line in lines)


if __name__ == "__main__":
    main()
