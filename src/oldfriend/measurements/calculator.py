"""Calculator: evaluates arithmetic with decimals and percent, within bounds and without eval."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow
from functools import cache
from typing import Any, Final

from oldfriend.domain.errors import InvalidInput
from oldfriend.lang.language_pack import load_language_pack
from oldfriend.measurements.lexicon import NUMBER, MeasureLexicon, fold, is_whole_word
from oldfriend.measurements.quantities import normalize_number
from oldfriend.measurements.units import convert

MAX_CHARS: Final = 200
SIGN: Final = re.compile(r"[-+*/^%()\u00d7\u00f7\u2212]|sqrt")
CLEAR_SIGN: Final = re.compile(r"[*^()+\u00d7\u00f7]|\d\s[-/]\s\d")
EDGES: Final = " \t\n?=.!:,\u00bf\u00a1\u3002"


@dataclass(frozen=True, slots=True, kw_only=True)
class Calculation:
    """What was asked and what it is."""

    asked: str
    value: Decimal
    unit: str = ""


def read_calculation(text: str, lexicon: MeasureLexicon) -> Calculation | None:
    """Return what a message asks to calculate in one language; None for any other message."""
    if len(text) > MAX_CHARS or not any(map(str.isdigit, text)):
        return None
    words = load_calculator_words(lexicon.language)
    plain, is_asked = strip_openers(fold(text), words)
    converted = read_conversion(plain, lexicon, words)
    if converted is not None:
        return converted
    expression = to_expression(plain, lexicon, words["operators"])
    if not SIGN.search(expression) or not (is_asked or CLEAR_SIGN.search(expression)):
        return None
    try:
        return Calculation(asked=plain, value=calculate(expression))
    except InvalidInput:
        return None


def strip_openers(text: str, words: Mapping[str, Any]) -> tuple[str, bool]:
    """Return a text without the words that only ask, and whether there were any."""
    is_asked = text.rstrip().endswith(("?", "="))
    plain = text.strip(EDGES)
    for _ in range(3):  # "please can you calculate"
        opener = next((each for each in words["openers"] if begins_with(plain, each)), None)
        if opener is None:
            break
        plain, is_asked = plain[len(opener) :].strip(EDGES), True
    ending = next((each for each in words["endings"] if ends_with(plain, each)), None)
    if ending is not None:
        return plain[: -len(ending)].strip(EDGES), True
    return plain, is_asked


def begins_with(text: str, word: str) -> bool:
    """Tell whether a text begins with a whole word."""
    return text.startswith(word) and is_whole_word(text, 0, len(word))


def ends_with(text: str, word: str) -> bool:
    """Tell whether a text ends with a whole word."""
    return text.endswith(word) and is_whole_word(text, len(text) - len(word), len(text))


def read_conversion(
    text: str, lexicon: MeasureLexicon, words: Mapping[str, Any]
) -> Calculation | None:
    """Read "3.5 miles in km", or "km in 3.5 miles"."""
    for word in words["into"]:
        for at in find_word(text, word):
            parts = text[:at].strip(EDGES), text[at + len(word) :].strip(EDGES)
            for amount, wanted in (parts, parts[::-1]):
                found = convert_amount(amount, wanted, lexicon)
                if found is not None:
                    return found
    return None


def find_word(text: str, word: str) -> list[int]:
    """Return where a whole word stands in a text."""
    found = (match.start() for match in re.finditer(re.escape(word), text))
    return [at for at in found if is_whole_word(text, at, at + len(word))]


def convert_amount(amount: str, wanted: str, lexicon: MeasureLexicon) -> Calculation | None:
    """Convert an amount such as "3.5 miles" into a unit; None if either is none."""
    target = find_unit(wanted, lexicon)
    number = NUMBER.match(amount)
    if target is None or number is None:
        return None
    unit = find_unit(amount[number.end() :], lexicon)
    if unit is None or unit == target:
        return None
    likely, _ = normalize_number(number[0], has_decimal_comma=lexicon.has_decimal_comma)
    value = convert(Decimal(likely), unit, target)
    return None if value is None else Calculation(asked=amount, value=value, unit=target)


def find_unit(text: str, lexicon: MeasureLexicon) -> str | None:
    """Return the unit that a text is the name of, and nothing else."""
    tokens = lexicon.split_tokens(text.strip(EDGES))
    return tokens[0].unit if len(tokens) == 1 else None


def to_expression(text: str, lexicon: MeasureLexicon, operators: Mapping[str, str]) -> str:
    """Return a text with signs for words of arithmetic and points in its numbers."""
    for word in operators:
        for at in reversed(find_word(text, word)):
            text = f"{text[:at]} {operators[word]} {text[at + len(word) :]}"
    return NUMBER.sub(
        lambda each: normalize_number(each[0], has_decimal_comma=lexicon.has_decimal_comma)[0],
        text,
    )


@cache
def load_calculator_words(language: str) -> dict[str, Any]:
    """Load the words of a language for calculating, the longest first. Raises KeyError."""
    words = load_language_pack(language).read("measurements")["calculator"]
    operators: Mapping[str, str] = words["operators"]
    lists = {key: sort_by_length(each) for key, each in words.items() if key != "operators"}
    return {**lists, "operators": {each: operators[each] for each in sort_by_length([*operators])}}


def sort_by_length(words: Sequence[str]) -> list[str]:
    """Return words, the longest first."""
    return sorted(words, key=len, reverse=True)


MAX_TOKENS: Final = 100
MAX_DIGITS: Final = 40
MAX_EXPONENT: Final = 1_000
MAX_MAGNITUDE: Final = 500
"""Digits of a result before the point."""
TOKEN: Final = re.compile(r"\d+(?:\.\d+)?|\.\d+|sqrt|[-+*/^%()]|\*\*")
PRECEDENCE: Final = {"+": 1, "-": 1, "*": 2, "/": 2, "neg": 3, "^": 4, "sqrt": 5}
RIGHT: Final = frozenset({"^", "neg", "sqrt"})
UNARY: Final = frozenset({"neg", "sqrt"})
SIGNS: Final = str.maketrans(
    {"×": "*", "·": "*", "÷": "/", "−": "-", "–": "-", "（": "(", "）": ")"}
)


@dataclass(frozen=True, slots=True)
class Value:
    """A number on the stack; a percentage beside + or - is one of the other number."""

    number: Decimal
    is_percent: bool = False


def build_context() -> Context:
    """Return a decimal context that raises instead of giving infinities."""
    return Context(
        prec=50, Emax=9_999, Emin=-9_999, traps=[InvalidOperation, DivisionByZero, Overflow]
    )


def calculate(expression: str) -> Decimal:
    """Return the value of an expression such as "(12+7)*3". Raises InvalidInput."""
    if len(expression) > MAX_CHARS:
        raise build_error(expression)
    tokens = [*split_expression(expression.translate(SIGNS).replace("**", "^").lower())]
    if not tokens or len(tokens) > MAX_TOKENS:
        raise build_error(expression)
    try:
        return evaluate(to_postfix(tokens))
    except (ArithmeticError, IndexError, ValueError) as error:
        raise build_error(expression) from error


def build_error(expression: str) -> InvalidInput:
    """Build the error for what cannot be calculated."""
    return InvalidInput(f"“{expression[:MAX_DIGITS]}” cannot be calculated.")


def split_expression(text: str) -> Iterator[str]:
    """Yield the tokens; raises InvalidInput for anything else in the text."""
    at = 0
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        found = TOKEN.match(text, at)
        if found is None or len(found[0]) > MAX_DIGITS:
            raise build_error(text)
        yield found[0]
        at = found.end()


def to_postfix(tokens: Sequence[str]) -> list[str]:
    """Convert tokens into postfix notation (shunting yard). Raises ValueError."""
    output: list[str] = []
    operators: list[str] = []
    is_value_expected = True
    for token in tokens:
        begins_value = token[0].isdigit() or token[0] in ".(s"
        if begins_value and not is_value_expected:
            push_operator("*", output, operators)  # 2(3+4)
        if begins_value:
            is_value_expected = token in {"(", "sqrt"}
            (operators if is_value_expected else output).append(token)
        elif token == ")":
            close_parenthesis(output, operators)
        elif token == "%":
            output.append(token)
        elif is_value_expected:
            push_sign(token, operators)
        else:
            push_operator(token, output, operators)
            is_value_expected = True
    if is_value_expected or "(" in operators:
        raise ValueError("it breaks off")
    return [*output, *reversed(operators)]


def push_sign(token: str, operators: list[str]) -> None:
    """Push the sign of a number. Raises ValueError for another operator."""
    if token == "-":
        operators.append("neg")
    elif token != "+":
        raise ValueError("an operator without a number")


def push_operator(token: str, output: list[str], operators: list[str]) -> None:
    """Push a binary operator; those that bind as strongly go out first."""
    while operators and operators[-1] != "(":
        top, rank = PRECEDENCE[operators[-1]], PRECEDENCE[token]
        if top < rank or (top == rank and token in RIGHT):
            break
        output.append(operators.pop())
    operators.append(token)


def close_parenthesis(output: list[str], operators: list[str]) -> None:
    """Put out the operators back to the parenthesis that opened. Raises IndexError without one."""
    while operators[-1] != "(":
        output.append(operators.pop())
    operators.pop()


def evaluate(postfix: Sequence[str]) -> Decimal:
    """Evaluate postfix notation. Raises ArithmeticError, IndexError, ValueError."""
    context, stack = build_context(), list[Value]()
    for token in postfix:
        if token == "%":
            stack.append(Value(context.divide(stack.pop().number, Decimal(100)), is_percent=True))
        elif token in UNARY:
            number = stack.pop().number
            result = context.sqrt(number) if token == "sqrt" else context.minus(number)
            stack.append(Value(result))
        elif token in PRECEDENCE:
            right, left = stack.pop(), stack.pop()
            stack.append(Value(apply_operator(token, left.number, right, context)))
        else:
            stack.append(Value(context.create_decimal(token)))
    (only,) = stack
    return only.number


def apply_operator(token: str, left: Decimal, right: Value, context: Context) -> Decimal:
    """Apply a binary operator. Raises ArithmeticError, ValueError for what would be too large."""
    number = right.number
    if token in "+-" and right.is_percent:
        number = context.multiply(left, number)  # 340 + 17%
    if token == "+":
        return context.add(left, number)
    if token == "-":
        return context.subtract(left, number)
    if token == "*":
        return context.multiply(left, number)
    if token == "/":
        return context.divide(left, number)
    is_too_large = abs(left.adjusted() + 1) * abs(number) > MAX_MAGNITUDE
    if abs(number) > MAX_EXPONENT or is_too_large:
        raise ValueError("too large")
    return context.power(left, number)
