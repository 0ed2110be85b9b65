"""A count for CloudWatch as a line of the log (EMF), for metrics that one line tells by several sets of dimensions."""

import json
import time

from tocsin.foundation.settings import settings


def count(metric: str, dimensions: list[list[str]], **values: str) -> None:
    """One more of `metric`, under each set of dimensions. Without a namespace nothing is counted."""
    namespace = settings().powertools_metrics_namespace
    if namespace is None:
        return
    described = {"Namespace": namespace, "Dimensions": dimensions, "Metrics": [{"Name": metric, "Unit": "Count"}]}
    said = {"_aws": {"Timestamp": time.time_ns() // 1_000_000, "CloudWatchMetrics": [described]}, **values, metric: 1}
    print(json.dumps(said, separators=(",", ":")))
