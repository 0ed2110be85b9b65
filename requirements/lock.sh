#!/usr/bin/env bash
# Locks every group in one resolution, so that a package has the same version wherever it is installed. Needs `uv`.
set -euo pipefail
cd "$(dirname "$0")/.."
compile() { uv pip compile -q --universal --python-version 3.11 --no-header --no-annotate --generate-hashes "$@"; }
all=$(mktemp)
uv pip compile -q --universal --python-version 3.11 --no-header --no-annotate --all-extras pyproject.toml -o "$all"
compile pyproject.toml -c "$all" --extra run -o requirements/run.txt
compile pyproject.toml -c "$all" --extra run --extra test -o requirements/test.txt
compile pyproject.toml -c "$all" --extra run --extra test --extra bench -o requirements/bench.txt
printf 'aws-sam-cli\n' | compile - -c "$all" -o requirements/build.txt
printf '%s\n' awslambdaric boto3 | compile - -c "$all" -o requirements/lambda.txt
printf '%s\n' aws-lambda-powertools markupsafe 'psycopg[binary]' pydantic python-liquid tzdata | compile - -c "$all" -o layers/shared/requirements.txt
printf 'cryptography\n' | compile - -c "$all" -o functions/dispatch/requirements.txt
printf 'yoyo-migrations\n' | compile - -c "$all" -o functions/migrate/requirements.txt
# What installs the rest: uv, and pip where Python came without it.
printf 'uv\n' | compile - -o requirements/installers/uv.txt
printf 'pip\n' | compile - -o requirements/installers/pip.txt
# On its own: checkov wants other versions than ours, and never meets them.
printf 'checkov\n' | compile - -o requirements/scan/checkov.txt
rm -f "$all"
