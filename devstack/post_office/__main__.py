"""Run the post office alone: `python -m devstack.post_office --ledger FILE --port N`."""

import argparse
import signal
import threading
from pathlib import Path

from devstack.post_office.office import PostOffice


def main() -> None:
    parser = argparse.ArgumentParser(prog="devstack.post_office", description="The providers on a loopback port.")
    parser.add_argument("--ledger", type=Path, required=True, help="the SQLite file that keeps what was accepted")
    parser.add_argument("--port", type=int, default=0, help="0, the default, takes a free one")
    options = parser.parse_args()
    told_to_end = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: told_to_end.set())
    with PostOffice(options.ledger, port=options.port) as office:
        # The first line is the address, for whoever started this and let it choose the port.
        print(office.url, flush=True)
        told_to_end.wait()


if __name__ == "__main__":
    main()
