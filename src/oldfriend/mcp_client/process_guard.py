"""Process guard: runs a tool server in its own process group, and ends it when its owner is gone.

A program of its own, without any of ours: ``python -I process_guard.py COMMAND ARGUMENT …``. The
server has our pipes; when the process that started us dies, however it dies, the group is killed.
"""

import os
import signal
import subprocess
import sys
import threading

CHECK_S = 2.0
GRACE_S = 2.0
NOT_STARTED = 127


def main(command: "list[str]") -> int:
    """Run a command until it or whoever started this process ends; return its exit code."""
    parent = os.getppid()
    if os.getpgrp() != os.getpid():
        os.setsid()
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 2)  # what the server logs is no business of whoever sees our log
    try:
        child = subprocess.Popen(command)
    except OSError:
        return NOT_STARTED
    # The server has the pipes; without these, the end of either is seen by the other.
    for each in (0, 1):
        os.dup2(nowhere, each)
    waiting = threading.Thread(target=child.wait, daemon=True)
    waiting.start()
    while os.getppid() == parent:
        waiting.join(CHECK_S)
        if not waiting.is_alive():
            return child.returncode
    end_group(waiting)
    return 0


def end_group(waiting: threading.Thread) -> None:
    """Ask the group to end, then kill it, this process included."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    os.killpg(0, signal.SIGTERM)
    waiting.join(GRACE_S)
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
