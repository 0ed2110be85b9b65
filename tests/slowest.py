"""At the end of a run: the tests that took longest, each with all that it waited for."""

from collections import defaultdict

import pytest

MOST = 15
SECONDS = 2.0


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    whole: dict[str, float] = defaultdict(float)
    parts: dict[str, list[str]] = defaultdict(list)
    for report in (each for reports in terminalreporter.stats.values() for each in reports):
        if isinstance(report, pytest.TestReport):
            whole[report.nodeid] += report.duration
            if report.when != "call" and report.duration >= SECONDS / 2:
                parts[report.nodeid].append(f"{report.when} {report.duration:.1f}")
    slow = sorted((name for name, seconds in whole.items() if seconds >= SECONDS), key=whole.__getitem__, reverse=True)
    if not slow:
        return
    share = sum(whole[name] for name in slow) / sum(whole.values())
    shown = f"{len(slow)}" if len(slow) <= MOST else f"{MOST} of {len(slow)}"
    terminalreporter.section(f"tests slower than {SECONDS:.0f} s: {shown}, with {share:.0%} of all time")
    for name in slow[:MOST]:
        terminalreporter.line(f"{whole[name]:6.1f} s  {name}{' (' + ', '.join(parts[name]) + ')' if parts[name] else ''}")
