"""uv's lines become a few words for whoever waits."""

from tools.uv_output import UvOutput


def test_large_packages_are_named_as_they_begin_and_unpacking_is_said() -> None:
    output = UvOutput()
    lines = [
        "Using Python 3.13.0 environment at: .venv",
        "Resolved 49 packages in 528ms",
        "Downloading botocore (15.5MiB)",
        " Downloaded botocore",
        "Prepared 49 packages in 4.17s",
        "Installed 49 packages in 425ms",
        " + blinker==1.9.0",
    ]

    shown = [output.status for line in lines if output.read(f"{line}\n")]

    assert shown == ["fetching botocore  16.3 MB", "unpacking 49 packages"]
    assert (output.done, output.rest) == (49, [])


def test_what_explains_a_failure_is_kept() -> None:
    output = UvOutput()

    output.read("Using Python 3.13.0 environment at: .venv\n")
    output.read("error: Hash mismatch for `alpha==1.0`\n")

    assert output.rest == ["error: Hash mismatch for `alpha==1.0`"]
