"""Run every comparison on one server, print the table, keep it in results.json: `python -m bench [--only intake drain]`."""

import argparse
import time
from collections.abc import Callable

from bench import counts, drain, growth, imports, intake, layer, wal
from bench.ground import ROOT, Ground, prepared
from bench.report import Result, table, write

SECTIONS: dict[str, Callable[[Ground], list[Result]]] = {
    "counts": counts.measure,
    "intake": intake.measure,
    "drain": drain.measure,
    "wal": wal.measure,
    "growth": growth.measure,
    "imports": imports.measure,
    "layer": layer.measure,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, metavar="SECTION", help=f"some of: {', '.join(SECTIONS)}")
    chosen = parser.parse_args().only or list(SECTIONS)
    results: list[Result] = []
    started = time.monotonic()
    with prepared() as ground:
        for name in chosen:
            print(f"[{time.monotonic() - started:5.0f} s] measuring {name} ...", flush=True)
            results += SECTIONS[name](ground)
    print(f"[{time.monotonic() - started:5.0f} s] done\n")
    print(table(results))
    if len(chosen) == len(SECTIONS):
        path = ROOT / "bench" / "results.json"
        write(results, path)
        print(f"\nwritten to {path.relative_to(ROOT)}")


main()
