"""oldfriend doctor: health checks."""

import argparse

from oldfriend.cli.open_context import open_from_options
from oldfriend.runtime.health_checks import run_checks


async def run(options: argparse.Namespace) -> int:
    """Print the findings; 1 if something is wrong."""
    async with open_from_options(options, create=False) as app:
        findings = await run_checks(app)
    for finding in findings:
        print(f"{'ok' if finding.is_ok else 'PROBLEM':>8}  {finding.text}")
    return 0 if all(finding.is_ok for finding in findings) else 1
