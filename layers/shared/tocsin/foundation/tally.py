"""Metrics with dimensions: collected while an invocation works, and written as one line for each set of dimensions (EMF).

CloudWatch makes metrics of the lines, and whatever reads the log has them as structured events. Dimensions are few and coarse:
each combination is a metric that is paid for. Never a tenant, a person or an address."""

from collections import defaultdict

MOST_VALUES = 99  # of one metric in a line: with one more the library would write by itself


class Tally:
    def __init__(self) -> None:
        self._values: dict[tuple[tuple[str, str], ...], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))

    def add(self, name: str, value: float, **dimensions: str) -> None:
        values = self._values[tuple(sorted(dimensions.items()))][name]
        if name.endswith("Seconds"):
            values.append(value)
        else:
            values[:] = [sum(values) + value]

    def write(self) -> None:
        """One line for each set of dimensions, and more only where there are more measurements than fit."""
        for dimensions, metrics in self._values.items():
            while any(metrics.values()):
                _write(dimensions, {name: values[:MOST_VALUES] for name, values in metrics.items()})
                for values in metrics.values():
                    del values[:MOST_VALUES]
        self._values.clear()


def write(name: str, value: float, **dimensions: str) -> None:
    """A single one, at once."""
    _write(tuple(dimensions.items()), {name: [value]})


def _write(dimensions: tuple[tuple[str, str], ...], metrics: dict[str, list[float]]) -> None:
    from aws_lambda_powertools.metrics import EphemeralMetrics, MetricUnit  # noqa: PLC0415 - a reader's first look need not wait for it

    line = EphemeralMetrics()
    for dimension, kind in dimensions:
        line.add_dimension(name=dimension, value=kind)
    for name, values in metrics.items():
        for value in values:
            line.add_metric(name=name, unit=MetricUnit.Seconds if name.endswith("Seconds") else MetricUnit.Count, value=value)
    line.flush_metrics()
