"""Trouble that AWS does not count as an error is counted by us, once for the installation and by what it is about."""

import json
from typing import Any

import pytest
from botocore.exceptions import ClientError
from botocore.stub import Stubber

from tocsin.foundation import aws, settings, trouble


@pytest.fixture(autouse=True)
def deployed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("POWERTOOLS_METRICS_NAMESPACE", "Tocsin/dev")
    settings.settings.cache_clear()
    aws.client.cache_clear()


def _counted(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines() if '"_aws"' in line]


def test_it_is_told_once_for_the_installation_and_once_by_what_it_is_about(capsys: pytest.CaptureFixture[str]) -> None:
    trouble.tell("DatabaseUnavailable", reason="refused")

    (line,) = _counted(capsys)
    assert (line["scope"], line["reason"], line["DatabaseUnavailable"]) == ("installation", "refused", 1)
    (described,) = line["_aws"]["CloudWatchMetrics"]
    assert described["Dimensions"] == [["scope"], ["reason"]]
    assert described["Namespace"] == "Tocsin/dev"


@pytest.mark.parametrize(
    "code", ["AccessDenied", "AccessDeniedException", "AuthorizationErrorException", "KMSAccessDeniedException"]
)
def test_a_call_that_is_refused_for_lack_of_rights_is_counted_with_its_name(
    code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _refuse(code)

    (line,) = _counted(capsys)
    assert (line["AccessDenied"], line["scope"], line["call"]) == (1, "installation", "kms:Decrypt")


@pytest.mark.parametrize("code", ["ThrottlingException", "NotFoundException", "ExpiredToken", ""])
def test_other_errors_are_somebody_else_s_to_count(code: str, capsys: pytest.CaptureFixture[str]) -> None:
    _refuse(code)

    assert _counted(capsys) == []


def _refuse(code: str) -> None:
    client = aws.client("kms")
    with Stubber(client) as stub:
        stub.add_client_error("decrypt", service_error_code=code)
        with pytest.raises(ClientError):
            client.decrypt(CiphertextBlob=b"sealed")
