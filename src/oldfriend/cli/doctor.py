"""oldfriend doctor: health checks."""

import argparse

from oldfriend.app.doctor_checks import CheckResult
from oldfriend.cli.open_context import load_settings_from_options, open_from_options
from oldfriend.domain.errors import StoreNotFound
from oldfriend.runtime.health_checks import check_installation, run_checks
from oldfriend.runtime.wiring import open_app


async def run(options: argparse.Namespace) -> int:
    """Print the findings; 1 if something is wrong."""
    try:
        async with open_from_options(options, create=False) as app:
            findings = await run_checks(app)
    except StoreNotFound as missing:  # before the first talk
        findings = await check_without_store(options, missing)
    for finding in findings:
        print(f"{'ok' if finding.is_ok else 'PROBLEM':>8}  {finding.text}")
    return 0 if all(finding.is_ok for finding in findings) else 1


async def check_without_store(
    options: argparse.Namespace, missing: StoreNotFound
) -> list[CheckResult]:
    """Check what can be checked where nothing is stored yet; nothing is written."""
    async with open_app(load_settings_from_options(options), in_memory=True) as app:
        return [CheckResult(is_ok=True, text=str(missing)), *await check_installation(app)]
