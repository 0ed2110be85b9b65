"""AWS on a local port, in a process of its own: queues of ours, the rest is moto; queues and keys survive it."""

import argparse
import logging
from pathlib import Path

from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from werkzeug.serving import make_server

from devstack.carriers import Carriers
from devstack.durable_keys import Seed
from devstack.iam.callers import Callers
from devstack.iam.guard import Guard, Judge
from devstack.iam.queue_access import QueueAccess
from devstack.resource_policies import ResourcePolicies
from devstack.sqs.deliveries import receive_from_moto
from devstack.sqs.queue_file import QueueFile
from devstack.sqs.queues import Queues
from devstack.sqs.wire import SqsWire


def main() -> None:
    parser = argparse.ArgumentParser(prog="devstack.aws_server", description="AWS on a local port.")
    parser.add_argument("--folder", type=Path, required=True, help="where queues and keys are kept")
    parser.add_argument("--host", default="127.0.0.1", help="the address of this machine to listen at")
    parser.add_argument("--port", type=int, default=0, help="0, the default, takes a free one")
    options = parser.parse_args()
    logging.getLogger("werkzeug").setLevel(logging.WARNING)
    options.folder.mkdir(parents=True, exist_ok=True)
    queues = Queues(QueueFile(options.folder / "sqs.sqlite3"))
    judge = Judge(Callers(options.folder / "rights.json"), ResourcePolicies(queues).find)
    carriers = Carriers(judge)
    carriers.install()
    receive_from_moto(queues, carriers.admitted)
    Seed(options.folder / "seed").install()
    app = SqsWire(queues, Guard(judge, DomainDispatcherApplication(create_backend_app)), QueueAccess(judge).check)
    server = make_server(options.host, options.port, app, threaded=True, request_handler=MotoRequestHandler)
    # The first line is the address, for whoever started this and let it choose the port.
    print(f"http://{options.host}:{server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
