"""Trouble that somebody must hear of and no metric of AWS shows: counted once for the installation, and by what it is about."""

from tocsin.foundation import embedded

SCOPE = "installation"  # of all functions together: one metric, which one alarm watches


def tell(metric: str, /, **about: str) -> None:
    """Count one more, under `scope` alone, for the alarm, and under what it is about, for whoever looks for the cause."""
    embedded.count(metric, [["scope"], list(about)], scope=SCOPE, **about)
