"""Number words: numbers that are spelled out, as speech recognition gives them, in digits.

Languages in Latin script are read by text2num; Chinese numerals here, which that does not know.
"""

import re
from typing import Final

from oldfriend.lang.language_pack import LANGUAGES, get_traits

DIGITS: Final = {each: value for value, each in enumerate("零一二三四五六七八九")} | {
    "两": 2,
    "〇": 0,
}
MULTIPLES: Final = {"十": 10, "百": 100, "千": 1_000, "万": 10_000}
NUMERAL: Final = re.compile(
    "[零〇一二两三四五六七八九十百千万]+(?:点[零〇一二两三四五六七八九]+(?![十百千万]))?"
)
LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")
MAX_CHARS: Final = 1_000


def write_digits(text: str, language: str) -> str:
    """Return a text in which numbers in words stand in digits: "eighty three point six" as 83.6.

    In a language that is not read, the text stays as it is; of a long one only its begin changes.
    """
    begin, rest = text[:MAX_CHARS], text[MAX_CHARS:]
    traits = get_traits(language)
    if traits.is_han:
        return NUMERAL.sub(lambda found: write_numeral(found[0]), begin) + rest
    if language not in LANGUAGES or traits.script != "latin" or LONE_SURROGATE.search(begin):
        return text
    from text_to_num import alpha2digit

    return str(alpha2digit(begin, language)) + rest


def write_numeral(numeral: str) -> str:
    """Return a Chinese number in digits: 六十三点二 as 63.2, 一百三十五 as 135."""
    whole, _, decimals = numeral.partition("点")
    if not MULTIPLES.keys() & set(whole):
        digits = "".join(str(DIGITS[each]) for each in whole)
    else:
        digits = str(sum_numeral(whole))
    return f"{digits}.{''.join(str(DIGITS[each]) for each in decimals)}" if decimals else digits


def sum_numeral(numeral: str) -> int:
    """Return the value of a Chinese whole number with its multiples."""
    total = section = digit = 0
    last = 1
    for each in numeral:
        if each == "万":
            total, section, digit = (total + section + digit) * MULTIPLES[each], 0, 0
        elif each in MULTIPLES:
            section += (digit or 1) * MULTIPLES[each]
            digit = 0
        else:
            digit = DIGITS[each]
        last = MULTIPLES.get(each, last if each not in "零〇" else 1)
    is_short = digit and last >= MULTIPLES["百"] and numeral[-1] in DIGITS  # 一百三 is 130
    return total + section + (digit * last // 10 if is_short else digit)
