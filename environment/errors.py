"""Errors of the set-up: the thing that failed, the cause, the remedy."""

from __future__ import annotations

import re
from pathlib import Path

TAIL_LINES = 12

# What pip prints when it cannot reach an index at all, as opposed to not finding a version there.
_NETWORK_MARKS = (
    "NewConnectionError",
    "Name or service not known",
    "Temporary failure in name resolution",
    "Network is unreachable",
    "ProxyError",
    "ReadTimeoutError",
    "ConnectTimeoutError",
)


class SetupError(Exception):
    """A set-up problem that the user can fix; `remedy` says how, `log` has the details if any."""

    def __init__(self, cause: str, remedy: str, log: Path | None = None) -> None:
        super().__init__(cause)
        self.cause = cause
        self.remedy = remedy
        self.log = log


class CommandError(Exception):
    """A child process ended with a non-zero status; its output is in `log`."""

    def __init__(self, program: str, status: int, log: Path) -> None:
        super().__init__(f"{program} ended with status {status}")
        self.log = log


def report(headline: str, failure: SetupError) -> str:
    """The lines shown to the user, with the tail of the log when there is one."""
    lines = [headline, f"  cause:  {failure.cause}", f"  remedy: {failure.remedy}"]
    if failure.log is not None and failure.log.exists():
        lines.append(f"  log:    {failure.log}, which ends with:")
        lines += [f"  | {line}" for line in read_log(failure.log)[-TAIL_LINES:]]
    return "\n".join(lines)


def explain_pip(error: CommandError) -> SetupError:
    """Explain a failed pip command by pip's own last error line."""
    output = read_log(error.log)
    cause = last_error(output) or str(error)
    if any(mark in line for line in output for mark in _NETWORK_MARKS):
        cause = f"pip cannot reach its package index: {cause}"
        remedy = "check the network connection (and proxy settings), then run the same command again"
    elif any("No space left on device" in line for line in output):
        remedy = "free some disk space (about 1 GB is needed), then run the same command again"
    else:
        remedy = "fix the cause and run the same command again; it resumes at this step"
    return SetupError(cause, remedy, error.log)


def last_error(output: list[str]) -> str | None:
    """The last line marked as an error, else the last line, else None."""
    errors = [line for line in output if re.search(r"\berror:", line, re.IGNORECASE)]
    candidates = errors or output
    return candidates[-1].strip() if candidates else None


def read_log(log: Path) -> list[str]:
    """The non-blank lines that the last command wrote to log."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
    starts = [number for number, line in enumerate(lines) if line.startswith("$ ")]
    return lines[starts[-1] + 1 :] if starts else lines
