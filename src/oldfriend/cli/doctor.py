"""oldfriend doctor: is everything sound?"""

import argparse

from oldfriend.app.doctor import examine
from oldfriend.cli.opening import opened


async def run(options: argparse.Namespace) -> int:
    """Print what was found; 1 when something is not well."""
    async with opened(options, create=False) as house:
        findings = await examine(house)
    for finding in findings:
        print(f"{'well' if finding.is_well else 'NOT WELL':>8}  {finding.text}")
    return 0 if all(finding.is_well for finding in findings) else 1
