"""The SDK's own list of errors against ours: an error that AWS adds must be given a class before we can upgrade."""

from typing import Any

import botocore.session
import pytest

from tocsin.channels.aws_errors import SES, SNS

OPERATIONS = [("sesv2", "SendEmail", SES), ("sns", "Publish", SNS), ("sns", "CreatePlatformEndpoint", SNS)]


def errors_of(service: str, operation: str) -> list[tuple[str, str]]:
    """The name and the code on the wire of every error that the model lists for an operation."""
    shapes: list[Any] = list(botocore.session.get_session().get_service_model(service).operation_model(operation).error_shapes)
    return [(shape.name, shape.error_code) for shape in shapes]


@pytest.mark.parametrize(("service", "operation", "table"), OPERATIONS)
def test_every_error_in_the_model_has_a_class_by_code_and_by_name(service: str, operation: str, table: dict[str, Any]) -> None:
    errors = errors_of(service, operation)

    assert len(errors) >= 4
    assert {word for error in errors for word in error} - table.keys() == set()


@pytest.mark.parametrize(("service", "operation", "table"), OPERATIONS)
def test_the_code_and_the_name_of_one_error_have_one_class(service: str, operation: str, table: dict[str, Any]) -> None:
    differing = [name for name, code in errors_of(service, operation) if table[name] != table[code]]

    assert differing == []
