"""Child processes: started with nothing of this process but its module path."""

import os
import subprocess
import sys


def start_child(module: str) -> "subprocess.Popen[bytes]":
    """Start a module as a process with pipes for input, output and errors. Raises OSError.

    It writes to stderr only why it could not start: see ``resource_limits.apply_limits``.
    """
    return subprocess.Popen(
        [sys.executable, "-P", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=build_environment(),
        start_new_session=True,  # Ctrl-C is for the parent alone
    )


def build_environment() -> dict[str, str]:
    """Return the complete environment of a child: no keys, no passwords."""
    return {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONUTF8": "1",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
