"""Check results: what one check of ``oldfriend doctor`` has found."""

from dataclasses import dataclass
from typing import Final

from oldfriend.domain.i18n_messages import MessageCode, MessageValue, localizable

READ_ONLY_STORE: Final = localizable(
    "store_read_only",
    "This memory can only be read: the file, its folder or its disk cannot be written. Nothing "
    "is kept.",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckResult:
    """The result of one check."""

    is_ok: bool
    text: str


def report_ok(code: MessageCode, text: str, /, **values: MessageValue) -> CheckResult:
    """Build the result of a check that passed."""
    return CheckResult(is_ok=True, text=localizable(code, text, **values))


def report_problem(code: MessageCode, text: str, /, **values: MessageValue) -> CheckResult:
    """Build the result of a check that somebody should look at."""
    return CheckResult(is_ok=False, text=localizable(code, text, **values))
