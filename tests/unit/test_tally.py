"""Metrics with dimensions, as CloudWatch reads them from the log."""

import json
from typing import Any

import pytest

from tocsin.foundation import tally
from tocsin.foundation.tally import Tally


@pytest.fixture(autouse=True)
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Tocsin/dev")
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "dispatch")


def _lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_counts_of_the_same_dimensions_are_one_line_with_their_sum(capsys: pytest.CaptureFixture[str]) -> None:
    counts = Tally()
    counts.add("Routes", 2, channel="email", outcome="published")
    counts.add("Routes", 3, channel="email", outcome="published")
    counts.add("Routes", 1, channel="sms", outcome="published")

    counts.write()

    lines = _lines(capsys)
    assert [(line["channel"], line["Routes"]) for line in lines] == [("email", [5.0]), ("sms", [1.0])]
    assert lines[0]["_aws"]["CloudWatchMetrics"] == [
        {
            "Namespace": "Tocsin/dev",
            "Dimensions": [["channel", "outcome", "service"]],
            "Metrics": [{"Name": "Routes", "Unit": "Count"}],
        }
    ]


def test_every_measurement_is_kept_however_many_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    counts = Tally()
    for n in range(250):
        counts.add("DeliverySeconds", n, channel="email")

    counts.write()

    lines = _lines(capsys)
    assert [one for line in lines for one in line["DeliverySeconds"]] == [float(n) for n in range(250)]
    assert all(len(line["DeliverySeconds"]) < 100 for line in lines)
    assert lines[0]["_aws"]["CloudWatchMetrics"][0]["Metrics"] == [{"Name": "DeliverySeconds", "Unit": "Seconds"}]


def test_what_was_written_is_not_written_again(capsys: pytest.CaptureFixture[str]) -> None:
    counts = Tally()
    counts.add("Routes", 2, channel="email")
    counts.write()
    counts.write()
    tally.write("InboxActions", 1, action="read")

    assert [line.get("Routes") or line["InboxActions"] for line in _lines(capsys)] == [[2.0], [1.0]]
