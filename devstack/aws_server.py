"""AWS on a loopback port: moto in a process of its own, with queues and keys that survive it."""

import argparse
import logging
from pathlib import Path

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server

from devstack.durable_keys import Seed
from devstack.durable_queues import QueueFile


def main() -> None:
    parser = argparse.ArgumentParser(prog="devstack.aws_server", description="AWS on a loopback port.")
    parser.add_argument("--folder", type=Path, required=True, help="where queues and keys are kept")
    parser.add_argument("--port", type=int, default=0, help="0, the default, takes a free one")
    options = parser.parse_args()
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    options.folder.mkdir(parents=True, exist_ok=True)
    QueueFile(options.folder / "queues.sqlite3").install()
    Seed(options.folder / "seed").install()
    app = DomainDispatcherApplication(create_backend_app)
    server = make_server("127.0.0.1", options.port, app, threaded=True, request_handler=MotoRequestHandler)
    # The first line is the address, for whoever started this and let it choose the port.
    print(f"http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
