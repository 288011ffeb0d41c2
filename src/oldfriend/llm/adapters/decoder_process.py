"""Decoder process: decodes one recording to samples within limits on time and memory.

Started by `whisper` with `python -m`. A recording may be crafted to attack its decoder;
here that ends this process and nothing else.
"""

import io
import json
import sys
from importlib import import_module
from typing import Final

from oldfriend.sandbox.child_process import (
    OUT_OF_MEMORY,
    SandboxLimits,
    apply_limits,
    disable_telemetry,
)

SAMPLE_RATE: Final = 16_000
"""Samples per second, each a 4-byte float, as Whisper expects them."""
MAX_RECORDING_S: Final = 2 * 60 * 60
"""Duration limit; two hours are 460 MB of samples."""
PROCESS_LIMITS: Final = SandboxLimits(memory_bytes=3 << 30, cpu_s=120)
"""An hour of speech takes about ten seconds."""


def main() -> int:
    """Decode standard input to standard output: a JSON line with the outcome, then samples."""
    audio = io.BytesIO(sys.stdin.buffer.read())
    disable_telemetry()
    # The import starts threads, so it comes before the limits apply.
    decode = import_module("faster_whisper").decode_audio
    apply_limits(PROCESS_LIMITS)
    try:
        samples = decode(audio, sampling_rate=SAMPLE_RATE)
    except MemoryError:
        return OUT_OF_MEMORY
    except (ValueError, OSError, EOFError, RuntimeError, LookupError) as error:  # by the library
        return write_report({"error": str(error)})
    if len(samples) > MAX_RECORDING_S * SAMPLE_RATE:
        return write_report({"error": f"it is longer than {MAX_RECORDING_S // 3600} hours"})
    write_report({"samples": len(samples)})
    sys.stdout.buffer.write(samples.astype("<f4").tobytes())
    sys.stdout.buffer.flush()
    return 0


def write_report(report: dict[str, str | int]) -> int:
    """Write the report line; return exit code 0."""
    sys.stdout.buffer.write(json.dumps(report).encode() + b"\n")
    sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
