"""The whole local cloud: brought up in order, watched over, and taken down without leaving anything behind."""

import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from devstack import database, template
from devstack.access_keys import AccessKeys
from devstack.api_access import ApiAccess
from devstack.aws import LocalAws
from devstack.console_access import ConsoleAccess
from devstack.declared import Declared, Function, QueueSource
from devstack.environment import Outcome
from devstack.gateway import INTEGRATION_SECONDS, Gateway
from devstack.iam.callers import key_id
from devstack.iam.polling import check_that_pollers_may_receive
from devstack.local_pages import LocalPages
from devstack.local_parameters import local_parameters
from devstack.overview import Overview
from devstack.people import People
from devstack.pollers import Poller
from devstack.post_office.ledger import Ledger
from devstack.postgres import Postgres
from devstack.providers import Providers
from devstack.reach import Reach
from devstack.runtime import CROWDS, Pool
from devstack.scheduler import Scheduler
from devstack.state import RefusalError, State
from devstack.watch import Watched

DRAIN_SECONDS = 5.0
ENDPOINTS = ("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_SESV2", "AWS_ENDPOINT_URL_SNS")  # what the SDK in functions reads
MOST_CONNECTIONS = 100 + sum(CROWDS.values())


class StopRequested(Exception):
    """Somebody asked the stack to stop while it was starting; whoever started it stops it."""


class Stack:
    """`start` brings everything up; `stop` takes down whatever is up, however far `start` got."""

    def __init__(
        self,
        root: Path,
        state: State,
        *,
        parameters: Mapping[str, str],
        say: Callable[[str], None],
        template_path: Path | None = None,
        make_pool: Callable[[Function, Mapping[str, str], Path], Pool] = Pool,
        reach_database: Callable[[Postgres], tuple[str, int]] | None = None,
        reach: Reach | None = None,
    ) -> None:
        """`make_pool` says how functions run, `reach` where they find our servers, `reach_database` at which host and port
        they find Postgres if not there."""
        self._root = root
        self._path = template_path or root / "template.yaml"
        self._state = state
        self._parameters = parameters
        self._say = say
        self._stop_requested = threading.Event()
        self._cleanup = ExitStack()
        self._reach = reach = reach or Reach()
        settings = {"max_connections": str(MOST_CONNECTIONS), "listen_addresses": reach.addresses}
        self._postgres = Postgres(state.postgres, settings=settings, guests=reach.guests)
        self._aws = LocalAws(state, host=reach.listen)
        self._providers = Providers(state, host=reach.listen)
        self._make_pool = make_pool
        self._reach_database = reach_database
        self._database_address = ("", 0)
        self._pools: dict[str, Pool] = {}

    def start(self, gateway: Gateway) -> dict[str, str]:
        """Bring everything up behind a gateway that holds the port; returns what dev.json says."""
        self._start_servers()
        declared = self._create_resources(self._api_url(gateway))
        check_that_pollers_may_receive(declared)
        self._make_pools(declared)
        self._run_custom_resources(declared)
        access = self._make_access(declared, gateway)
        self._open(declared, gateway, access)
        self._state.announce(access)
        return access

    def watch(self) -> None:
        """Keep everything running until somebody asks for the end."""
        servers = self._watched()
        while not self._stop_requested.wait(1.0):
            for pool in self._pools.values():
                pool.reap()
            for server in servers:
                server.revive(self._say)

    def _watched(self) -> tuple[Watched, ...]:
        return (
            Watched("Postgres", lambda: self._postgres.pid is not None, self._postgres.start),
            Watched("AWS", lambda: self._aws.is_alive, self._aws.restart),
            Watched("The post office", lambda: self._providers.is_alive, self._providers.start),
        )

    @property
    def is_asked_to_stop(self) -> bool:
        return self._stop_requested.is_set()

    def request_stop(self) -> None:
        self._stop_requested.set()

    def force_stop(self) -> None:
        """End Postgres at once; everything else dies with this process."""
        self._postgres.kill()

    def stop(self) -> None:
        self._cleanup.close()

    def _start_servers(self) -> None:
        self._say("Postgres and AWS")
        self._cleanup.callback(self._postgres.stop)
        self._cleanup.callback(self._aws.stop)
        with ThreadPoolExecutor(max_workers=2) as both:
            starting = both.submit(database.start, self._postgres, self._state), both.submit(self._aws.start)
        for each in starting:
            each.result()
        if self._reach_database:
            self._database_address = self._reach_database(self._postgres)
        else:
            self._database_address = (self._reach.seen_as, self._postgres.port)
        self._give_up_if_asked()

    def _create_resources(self, public_url: str) -> Declared:
        self._say("Queues, topics, keys and secrets of the template")
        declared = self._read({}, public_url)
        known = self._aws.create(declared)
        for each in declared.databases:
            known[each.name, "Endpoint.Address"] = self._database_address[0]
            known[each.name, "Endpoint.Port"] = str(self._database_address[1])
        self._cleanup.callback(self._providers.stop)
        self._providers.open(self._aws, declared)
        self._give_up_if_asked()
        final = self._read(known, public_url)
        self._aws.grant(final)
        return final

    def _read(self, known: Mapping[tuple[str, str], str], public_url: str) -> Declared:
        post_office = self._reach.seen(self._providers.url)
        port = self._database_address[1]
        local = local_parameters(database_port=port, public_url=public_url, post_office_url=post_office)
        asked = template.parameters_of(self._path)
        parameters = {name: value for name, value in local.items() if name in asked} | dict(self._parameters)
        return template.read(self._path, parameters, known, endpoint=self._reach.seen(self._aws.url))

    def _make_pools(self, declared: Declared) -> None:
        urls = (self._aws.url, self._providers.url, self._providers.url)
        variables = dict(zip(ENDPOINTS, map(self._reach.seen, urls), strict=True))
        for name, function in declared.functions.items():
            self._pools[name] = self._make_pool(function, variables, self._log_of(name))
        self._cleanup.callback(self._close_pools)

    def _log_of(self, function: str) -> Path:
        return self._state.logs / f"{function}.log"

    def _close_pools(self) -> None:
        for pool in self._pools.values():
            pool.close()

    def _run_custom_resources(self, declared: Declared) -> None:
        for each in declared.databases:
            password = self._aws.database_password(each)
            database.create(self._postgres, _migration(declared).variables["DATABASE_NAME"], each.owner, password)
        for resource in declared.custom_resources:
            self._say(f"{resource.name} ({resource.function})")
            event = {"RequestType": "Create", "ResponseURL": None, "ResourceProperties": resource.properties}
            outcome = self._patiently_invoke(resource.function, event)
            if outcome.error:
                raise RefusalError(
                    f"{resource.name} failed: {outcome.error['errorType']}: {outcome.error['errorMessage']}\n"
                    f"Its log: {self._log_of(resource.function)}"
                )

    def _patiently_invoke(self, function: str, event: Any) -> Outcome:
        """Invoke what may take long, without being deaf to a request to stop meanwhile."""
        with ThreadPoolExecutor(max_workers=1) as one:
            pending = one.submit(self._invoke, function, event)
            while not pending.done():
                if self._stop_requested.wait(0.02):
                    self._close_pools()
        self._give_up_if_asked()
        return pending.result()

    def _make_access(self, declared: Declared, gateway: Gateway) -> dict[str, str]:
        self._say("API keys")
        self._aws.remember_secrets(declared)
        migration = _migration(declared)
        dsn = self._postgres.dsn(migration.variables["DATABASE_NAME"])
        keys = AccessKeys(self._root / "layers" / "shared", dsn, migration.variables["DEFAULT_TENANT_ID"], self._state)
        return {
            "base_url": self._api_url(gateway),
            "api_key": keys.developer(),
            "admin_key": keys.administrator(self._aws.secret_value(migration.variables["ADMIN_KEY_SECRET_ARN"])),
            "console_key": keys.console(),
            "database_url": dsn,
            "aws_endpoint_url": self._aws.url,
            "post_office_url": self._providers.url,
        }

    def _open(self, declared: Declared, gateway: Gateway, access: dict[str, str]) -> None:
        self._give_up_if_asked()
        self._route(declared, gateway)
        url = self._api_url(gateway)
        gateway.local_pages = LocalPages(
            Overview(url, declared, lambda: self._aws.depths(declared)),
            letters=Ledger(self._state.ledger).rows,
            people=People(url, access["admin_key"]),
            console=ConsoleAccess(access["console_key"], self._providers.url),
            api=ApiAccess(url, access["api_key"]),
            url=url,
            elsewhere="" if url == gateway.url else url,
            dev_json=self._shown_path(self._state.dev_json),
        )
        pollers = [self._poller(source) for source in declared.queue_sources]
        scheduler = Scheduler(declared.schedules, self._invoke)
        self._cleanup.callback(_quiesce, gateway, pollers, scheduler)
        gateway.start()
        for poller in pollers:
            poller.start()
        scheduler.start()

    def _shown_path(self, path: Path) -> str:
        """As somebody in the repository's folder types it."""
        return str(path.relative_to(self._root) if path.is_relative_to(self._root) else path)

    def _api_url(self, gateway: Gateway) -> str:
        """Where the API answers."""
        return gateway.url

    def _route(self, declared: Declared, gateway: Gateway) -> None:
        gateway.routes, gateway.cors = declared.routes, declared.cors
        gateway.invoke = self._answer

    def _poller(self, source: QueueSource) -> Poller:
        pool = self._pools[source.function]
        sqs = self._aws.client("sqs", key_id(source.function))  # Lambda polls with the function's own role
        url = self._aws.client("sqs").get_queue_url(QueueName=source.queue.rpartition(":")[2])["QueueUrl"]
        concurrency = max(1, min(pool.limit, source.max_concurrency or pool.limit))
        return Poller(source, sqs=sqs, queue_url=url, invoke=pool.invoke, concurrency=concurrency)

    def _invoke(self, function: str, event: Any) -> Outcome:
        return self._pools[function].invoke(event)

    def _answer(self, function: str, event: Any) -> Outcome:
        """Invoke for somebody who waits: what is sure to answer too late is not begun."""
        pool = self._pools[function]
        return pool.invoke(event, patience=max(0.0, INTEGRATION_SECONDS - pool.function.timeout))

    def _give_up_if_asked(self) -> None:
        if self._stop_requested.is_set():
            raise StopRequested


def _migration(declared: Declared) -> Function:
    """The function that knows the database by name, and where the first keys go."""
    if not declared.custom_resources:
        raise RefusalError("template.yaml declares no custom resource that migrates the database")
    return declared.functions[declared.custom_resources[0].function]


def _quiesce(gateway: Gateway, pollers: list[Poller], scheduler: Scheduler) -> None:
    """Take nothing new, and let what is under way finish if it is quick."""
    deadline = time.monotonic() + DRAIN_SECONDS
    scheduler.stop()
    for poller in pollers:
        poller.stop()
    gateway.stop(DRAIN_SECONDS)
    for poller in pollers:
        poller.drain(max(0.0, deadline - time.monotonic()))
