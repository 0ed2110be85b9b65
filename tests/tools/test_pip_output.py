"""pip's lines become a few words for whoever waits."""

from pathlib import Path

from tools.pip_output import PipOutput


def read(output: PipOutput, *lines: str) -> list[str]:
    """What is shown after each line that brings something new."""
    return [output.status.strip() for line in lines if output.read(f"{line}\n")]


def test_a_package_is_shown_with_its_size_when_its_download_begins() -> None:
    shown = read(
        PipOutput(2),
        "Collecting aws-lambda-powertools==3.37.0 (from -r requirements/run.txt (line 4))",
        "  Downloading aws_lambda_powertools-3.37.0-py3-none-any.whl.metadata (11 kB)",
        "  Downloading aws_lambda_powertools-3.37.0-py3-none-any.whl (999 kB)",
        "Collecting botocore==1.43.127 (from -r requirements/run.txt (line 13))",
        "  Using cached botocore-1.43.127-py3-none-any.whl (16.3 MB)",
    )

    assert shown == ["1 of 2  aws-lambda-powertools 3.37.0  1.0 MB", "2 of 2  botocore 1.43.127  16.3 MB"]


def test_a_package_from_a_folder_is_shown_too(tmp_path: Path) -> None:
    wheel = tmp_path / "zipp-4.1.2-py3-none-any.whl"
    wheel.write_bytes(bytes(10_000))

    assert read(PipOutput(1), f"Processing {wheel} (from -r requirements/run.txt (line 1))") == ["1 of 1  zipp 4.1.2  10 kB"]


def test_unpacking_is_known_as_it_begins() -> None:
    output = PipOutput(2)

    shown = read(output, "Installing collected packages: a, b")

    assert (shown, output.is_unpacking) == (["unpacking 2 packages"], True)


def test_an_index_that_does_not_answer_is_said() -> None:
    line = "WARNING: Retrying (Retry(total=4, connect=None)) after connection broken by 'NewConnectionError': /simple/zipp/"

    assert read(PipOutput(1), line) == ["the package index does not answer; trying again"]


def test_what_explains_a_failure_is_kept_and_chatter_is_not() -> None:
    output = PipOutput(1)

    read(
        output,
        "Looking in links: wheels",
        "Collecting zipp==4.1.2",
        "WARNING: Location 'wheels' is ignored: it is neither a file nor a directory.",
        "ERROR: No matching distribution found for zipp==4.1.2",
    )

    assert output.rest == ["ERROR: No matching distribution found for zipp==4.1.2"]
