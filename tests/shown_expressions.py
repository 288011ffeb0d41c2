"""How much each regular expression is shown of hostile messages, in a process of its own.

Called with the length of a message; prints as JSON how many expressions with a bound were shown
anything, and those that were shown more, or were searched for though they are only to be matched.
"""

import asyncio
import json
import re
import sys
from typing import Any, Final

from tests.expressions import AT_ONE_PLACE, Expression, collect

EXAMPLES: Final = "tests.expression_examples"
TEXT_AT: Final = {
    **dict.fromkeys(("match", "fullmatch", "search", "findall", "finditer", "split"), 0),
    **dict.fromkeys(("sub", "subn"), 1),
}
"""At which place of the arguments the text stands."""
SAID: Final = (
    "I live in Porto and my sister Ana is a nurse and ",
    "Vivo en Porto y mi hermana Ana es enfermera y ",
    "Ich wohne in Porto und meine Schwester Ana ist Ärztin und ",
    "J'habite à Porto et ma sœur Ana est infirmière et ",
    "我住在波尔图我妈妈叫王秀琴",
    "What did I promise Ana to do? Where do I live? Wo wohne ich? 我住在哪里? ",
)


class Watched:
    """An expression that notes how much it is shown, and whether it is searched for."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        """Watch an expression."""
        self._pattern = pattern
        self.most = 0
        self.is_searched = False

    def __getattr__(self, name: str) -> Any:
        """Whatever the expression has."""
        kept = getattr(self._pattern, name)
        if name not in TEXT_AT:
            return kept

        def note_and_act(*arguments: Any, **options: Any) -> Any:
            text, *place = arguments[TEXT_AT[name] :]
            if place and TEXT_AT[name] == 0:
                text = text[slice(*[*place, None][:2])]
            self.most = max(self.most, len(text))
            self.is_searched |= name not in AT_ONE_PLACE
            return kept(*arguments, **options)

        return note_and_act


class Watch:
    """All expressions that are watched, equal ones as one."""

    def __init__(self) -> None:
        """Watch none."""
        self._watched: dict[re.Pattern[Any], Watched] = {}

    def put(self, pattern: re.Pattern[Any] | Watched) -> Watched:
        """Watch one more."""
        if isinstance(pattern, Watched):
            return pattern
        return self._watched.setdefault(pattern, Watched(pattern))


def is_kept(expression: Expression) -> bool:
    """Whether an expression was shown no more than it is said to be shown, and as it is said."""
    watched: Any = expression.pattern
    is_short = expression.most is None or watched.most <= expression.most
    return is_short and not (expression.is_matched and watched.is_searched)


async def talk(length: int) -> None:
    """Have hostile messages accepted, answered, and read by rules."""
    from oldfriend_evals.hostile_text import UNITS, build_hostile, handle_text
    from oldfriend_evals.temporary_stores import open_temporary_store

    async with open_temporary_store() as app:
        for number, unit in enumerate((*UNITS.values(), *SAID)):
            await handle_text(app, f"somebody {number}", build_hostile(unit, length))


def main(length: int) -> None:
    """Print what is shown too much."""
    expressions = collect(EXAMPLES, put=Watch().put)
    watched = [each for each in expressions if isinstance(each.pattern, Watched)]
    for each in watched:
        each.pattern.most, each.pattern.is_searched = 0, False
    asyncio.run(talk(length))
    bounded = [each for each in watched if each.most is not None]
    shown = sum(each.pattern.most > 0 for each in bounded)
    too_much = [f"{each.pattern.most}: {each}" for each in watched if not is_kept(each)]
    sys.stdout.write(json.dumps({"shown": shown, "too_much": too_much}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
