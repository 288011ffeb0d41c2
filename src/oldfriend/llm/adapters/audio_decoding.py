"""Audio decoding: turns recordings into samples in a child process, which may safely crash."""

import json
import signal
import subprocess
from contextlib import suppress
from threading import Timer
from typing import Final

import numpy as np
from numpy.typing import NDArray

from oldfriend.domain.errors import RequestRejected
from oldfriend.domain.i18n_messages import localizable
from oldfriend.domain.json import JsonValue
from oldfriend.llm.adapters.decoder_process import MAX_RECORDING_S, SAMPLE_RATE
from oldfriend.sandbox.child_process import start_child
from oldfriend.sandbox.resource_limits import OUT_OF_MEMORY

DECODER_MODULE: Final = "oldfriend.llm.adapters.decoder_process"
SAMPLE_BYTES: Final = 4
DECODE_TIMEOUT_S: Final = 300.0
EXIT_TIMEOUT_S: Final = 2.0
MAX_REPORT_BYTES: Final = 1 << 12

Samples = NDArray[np.float32]


def decode(audio: bytes) -> Samples:
    """Decode a recording to samples; slow, for a thread. Raises RequestRejected."""
    try:
        process = start_child(DECODER_MODULE)
    except OSError as error:
        raise build_unreadable_error(f"no process could be started for it: {error}") from error
    timer = Timer(DECODE_TIMEOUT_S, process.kill)
    timer.daemon = True
    timer.start()
    try:
        return read_samples(process, audio)
    finally:
        timer.cancel()
        process.kill()
        process.wait()
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            stream.close()


def read_samples(process: "subprocess.Popen[bytes]", audio: bytes) -> Samples:
    """Read a decoder's samples, never more than the limit. Raises RequestRejected."""
    assert process.stdin is not None
    assert process.stdout is not None
    with suppress(BrokenPipeError), process.stdin as stream:
        stream.write(audio)
    report = parse_report(process.stdout.readline(MAX_REPORT_BYTES))
    match report:
        case {"error": str(error)}:
            raise build_unreadable_error(error)
        case {"samples": int(count)} if 0 <= count <= MAX_RECORDING_S * SAMPLE_RATE:
            content = process.stdout.read(count * SAMPLE_BYTES)
            if len(content) == count * SAMPLE_BYTES:
                return np.frombuffer(content, dtype="<f4")
    raise build_unreadable_error(describe_exit(process))


def parse_report(line: bytes) -> JsonValue:
    """Parse the decoder's report line; None if it is not JSON."""
    try:
        report: JsonValue = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return report


def describe_exit(process: "subprocess.Popen[bytes]") -> str:
    """Describe why a decoder process gave no valid samples."""
    try:
        code = process.wait(EXIT_TIMEOUT_S)
    except subprocess.TimeoutExpired:
        return "its decoder answered with nonsense"
    if code in {OUT_OF_MEMORY, -signal.SIGKILL}:
        return "decoding it took too much memory or time"
    if code == -signal.SIGXCPU:
        return "decoding it took too much time"
    return f"its decoder failed ({code})"


def build_unreadable_error(error: str) -> RequestRejected:
    """Build the error for a recording that cannot be decoded."""
    return RequestRejected(
        localizable("recording_unreadable", f"The recording cannot be read: {error}", error=error)
    )
