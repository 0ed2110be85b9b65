"""Run every comparison on one server, print the table, keep it in results.json: `python -m bench [--only intake drain]`."""

import argparse
import time
from collections.abc import Callable
from pathlib import Path

from bench import (
    counts,
    crowd,
    drain,
    growth,
    imports,
    inbox,
    intake,
    layer,
    local_queue,
    neighbours,
    people,
    retention,
    telling,
    timers,
    wal,
)
from bench.ground import INBOX_ROWS, ROOT, Ground, prepared
from bench.report import Result, table, write

SECTIONS: dict[str, Callable[[Ground], list[Result]]] = {
    "counts": counts.measure,
    "intake": intake.measure,
    "people": people.measure,
    "drain": drain.measure,
    "timers": timers.measure,
    "wal": wal.measure,
    "telling": telling.measure,
    "growth": growth.measure,
    "crowd": crowd.measure,
    "inbox": inbox.measure,
    "neighbours": neighbours.measure,
    "retention": retention.measure,
    "imports": imports.measure,
    "layer": layer.measure,
    "local-queue": local_queue.measure,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, metavar="SECTION", help=f"some of: {', '.join(SECTIONS)}")
    parser.add_argument("--rows", type=int, default=INBOX_ROWS, help="how many rows the inbox has (%(default)s)")
    parser.add_argument("--into", type=Path, metavar="FILE", help="write the results there instead")
    options = parser.parse_args()
    chosen = options.only or list(SECTIONS)
    results: list[Result] = []
    started = time.monotonic()
    with prepared(inbox_rows=options.rows) as ground:
        for name in chosen:
            print(f"[{time.monotonic() - started:5.0f} s] measuring {name} ...", flush=True)
            results += SECTIONS[name](ground)
    print(f"[{time.monotonic() - started:5.0f} s] done\n")
    print(table(results))
    path = options.into or (ROOT / "bench" / "results.json" if len(chosen) == len(SECTIONS) else None)
    if path:
        write(results, path)
        print(f"\nwritten to {path}")


main()
