"""How much time goes into looking for garbage? Little, in a process that stays.

What is there once all is warm stays for good, and a turn leaves no garbage that counting
references does not find.
"""

import gc
from typing import Final

MOST_UNLOOKED: Final = 20_000
"""Objects, new since the youngest were looked at last; a busy turn makes some thousands."""
MOST_LOOKS: Final = 20
"""At younger objects before older ones are looked at."""


def collect_seldom() -> None:
    """Leave alone what is there by now, and look at the rest less often. For a whole process."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(MOST_UNLOOKED, MOST_LOOKS, MOST_LOOKS)
