"""Each rule of the house catches what it is there for: a net that never caught anything proves nothing."""

import ast

import pytest

from tests.unit import rules
from tests.unit.rules import Rule
from tests.unit.source import LAYER, Module

STORE, HOUSE, DOOR = f"{LAYER}/store/things.py", f"{LAYER}/delivery/things.py", "functions/things/app.py"
FLOW = f"{LAYER}/store/flow/things.py"
ROOM = HOUSE
ENDPOINT = f"{LAYER}/api/things.py"

BREACHES: list[tuple[Rule, str, str]] = [
    (rules.sql_outside_the_store, HOUSE, 'conn.execute("SELECT id FROM users")'),
    (rules.sql_outside_the_store, DOOR, 'QUERY = """\n  UPDATE users SET email = NULL\n"""'),
    (rules.sql_outside_the_store, HOUSE, 'q = "DELETE FROM users"'),
    (rules.sql_outside_the_store, HOUSE, 'conn.execute("BEGIN")'),
    (rules.sql_outside_the_store, HOUSE, 'q = f"INSERT INTO {table} DEFAULT VALUES"'),
    (rules.sql_outside_the_store, f"{LAYER}/foundation/database.py", 'conn.execute("SELECT 2")'),
    (rules.sql_that_is_built, STORE, 'conn.execute(f"SELECT {column} FROM users")'),
    (rules.sql_that_is_built, STORE, 'conn.execute("SELECT %s FROM users" % column)'),
    (rules.sql_that_is_built, STORE, 'conn.execute("SELECT " + column)'),
    (rules.sql_that_is_built, STORE, 'conn.execute("SELECT {}".format(column))'),
    (rules.sql_that_is_built, STORE, "conn.cursor().execute(query)"),
    (rules.sql_that_is_built, f"{LAYER}/upkeep/migrate.py", 'conn.execute(f"ALTER ROLE {role}")'),
    (rules.clocks_in_sql, STORE, 'conn.execute("SELECT now()")'),
    (rules.clocks_in_sql, STORE, 'conn.execute("SELECT NOW ()")'),
    (rules.clocks_in_sql, STORE, 'conn.execute("SELECT CURRENT_TIMESTAMP")'),
    (rules.clocks_in_sql, STORE, 'conn.execute("SELECT clock_timestamp()")'),
    (rules.tables_of_others, STORE, 'conn.execute("INSERT INTO strangers (id) VALUES (1)")'),
    (rules.tables_of_others, STORE, 'conn.execute("WITH gone AS (DELETE FROM strangers RETURNING id) SELECT id FROM gone")'),
    (rules.tables_of_others, STORE, 'conn.execute("UPDATE strangers SET id = 1")'),
    (rules.transactions_in_the_store, STORE, "conn.commit()"),
    (rules.transactions_in_the_store, STORE, "with conn.transaction():\n    pass"),
    (rules.transactions_in_the_store, STORE, "with conn.pipeline():\n    pass"),
    (rules.transactions_in_the_store, STORE, "with tenant_transaction(conn, tenant_id):\n    pass"),
    (rules.secrets_compared_in_haste, HOUSE, "key.key_hash == key_hash"),
    (rules.secrets_compared_in_haste, HOUSE, "digest(a) != b"),
    (rules.secrets_compared_in_haste, HOUSE, "hmac.new(k, m).digest() == given"),
    (rules.secrets_compared_in_haste, DOOR, 'secret["password"] == given'),
    (rules.other_ways_to_the_network, HOUSE, "import requests"),
    (rules.other_ways_to_the_network, HOUSE, "from urllib.request import urlopen"),
    (rules.other_ways_to_the_network, HOUSE, "def f():\n    import http.client"),
    (rules.other_ways_to_the_network, DOOR, "import urllib.request"),
    (rules.other_ways_to_the_network, DOOR, "from urllib import request"),
    (rules.other_ways_to_the_network, HOUSE, "from urllib3 import PoolManager"),
    (rules.other_ways_to_the_network, HOUSE, "import httpx"),
    (rules.other_ways_to_the_network, HOUSE, "from aiohttp import ClientSession"),
    (rules.other_ways_to_the_network, HOUSE, "from socket import create_connection"),
    (rules.other_ways_to_the_network, HOUSE, "from http import client"),
    (rules.other_ways_to_the_network, HOUSE, "import asyncio"),
    (rules.other_ways_to_the_network, HOUSE, "def f():\n    from botocore.httpsession import URLLib3Session"),
    (rules.other_ways_to_the_network, f"{LAYER}/channels/http_client.py", "import http.client"),
    (rules.other_ways_to_the_network, f"{LAYER}/foundation/http_client.py", "import urllib.request"),
    (rules.other_ways_to_the_network, f"{LAYER}/foundation/name_resolution.py", "import http.client"),
    (rules.other_ways_to_the_network, f"{LAYER}/foundation/bounded_stream.py", "import http.client"),
    (rules.strangers_in_a_door, DOOR, "import pydantic"),
    (rules.strangers_in_a_door, DOOR, "import psycopg"),
    (rules.strangers_in_a_door, DOOR, "from boto3 import client"),
    (rules.sdk_at_import, HOUSE, "import boto3"),
    (rules.sdk_at_import, HOUSE, "if True:\n    from botocore.config import Config"),
    (rules.sdk_at_import, HOUSE, "class A:\n    import boto3"),
    (rules.modules_without_a_sentence, HOUSE, "x = 1"),
    (rules.modules_without_a_sentence, HOUSE, '"""no sentence"""'),
    (rules.names_that_say_nothing, f"{LAYER}/utils.py", ""),
    (rules.names_that_say_nothing, f"{LAYER}/helpers/text.py", ""),
    (rules.names_that_say_nothing, "functions/common/app.py", ""),
    (rules.directions, STORE, "from tocsin.delivery.dampener import HOUR"),
    (rules.directions, STORE, "from tocsin.http.problems import Problem"),
    (rules.directions, f"{LAYER}/foundation/things.py", "from tocsin.store import outbox"),
    (rules.directions, ROOM, "from tocsin.http.door import Call"),
    (rules.directions, ROOM, "def f():\n    from tocsin.api import inbox"),
    (rules.directions, f"{LAYER}/http/things.py", "from tocsin.intake.intents import Intent"),
    (rules.ways_out_of_others, f"{LAYER}/intake/things.py", "from tocsin.channels.ses import SesEmail"),
    (rules.ways_out_of_others, f"{LAYER}/api/things.py", "from tocsin.channels import ways"),
    (rules.rooms_that_import_by_themselves, f"{LAYER}/delivery/__init__.py", "from tocsin.delivery.gate import decide"),
    (rules.endpoints_that_write, ENDPOINT, "from tocsin.store import users\nusers.upsert(conn)"),
    (rules.endpoints_that_write, ENDPOINT, "from tocsin.store import users as people\nwork = people.upsert"),
    (rules.endpoints_that_write, ENDPOINT, "from tocsin.store.watches import delete"),
    (rules.endpoints_that_write, ENDPOINT, "import tocsin.store.users\ntocsin.store.users.upsert(conn)"),
    (rules.endpoints_that_write, ENDPOINT, "def f():\n    from tocsin.store import devices\n    devices.delete(conn)"),
    (
        rules.endpoints_that_write,
        f"{LAYER}/http/things.py",
        "from tocsin.store import api_keys\napi_keys.find_by_hash(conn, b'')",
    ),
    (rules.endpoints_that_write, ENDPOINT, "from tocsin.access import audit\naudit.record(conn)"),
    (rules.endpoints_that_write, ENDPOINT, "from tocsin.access.audit import record"),
    (rules.environment_read_elsewhere, DOOR, 'import os\nos.environ["STAGE"]'),
    (rules.environment_read_elsewhere, HOUSE, 'from os import getenv\ngetenv("STAGE")'),
]

FINE: list[tuple[Rule, str, str]] = [
    (rules.sql_outside_the_store, STORE, 'conn.execute("SELECT 1")'),
    (rules.sql_outside_the_store, HOUSE, '"""SELECT is only mentioned here."""'),
    (rules.sql_outside_the_store, HOUSE, 'Endpoint("DELETE /v1/users/{id}", "manage", f, "Select a user, or update one")'),
    (rules.sql_that_is_built, STORE, 'conn.execute("SELECT %(id)s", {"id": 1})'),
    (rules.clocks_in_sql, STORE, 'conn.execute("SELECT tocsin_now()")'),
    (rules.clocks_in_sql, HOUSE, 'x = "now()"'),
    (rules.tables_of_others, STORE, 'conn.execute("SELECT id FROM strangers FOR UPDATE SKIP LOCKED")'),
    (rules.tables_of_others, FLOW, 'conn.execute("UPDATE strangers SET id = 1")'),
    (rules.transactions_in_the_store, HOUSE, "with conn.pipeline():\n    pass"),
    (rules.secrets_compared_in_haste, HOUSE, "hmac.compare_digest(key.key_hash, key_hash)"),
    (rules.secrets_compared_in_haste, HOUSE, "asked.fingerprint == first.fingerprint"),
    (rules.other_ways_to_the_network, HOUSE, "from urllib.parse import quote"),
    (rules.other_ways_to_the_network, HOUSE, "from tocsin.foundation import http_client"),
    (rules.other_ways_to_the_network, f"{LAYER}/foundation/http_client.py", "import http.client\nimport socket"),
    (rules.strangers_in_a_door, DOOR, "import json\nfrom aws_lambda_powertools import Logger\nfrom tocsin.foundation import aws"),
    (rules.sdk_at_import, HOUSE, "def client():\n    import boto3"),
    (rules.modules_without_a_sentence, HOUSE, '"""A sentence."""'),
    (rules.names_that_say_nothing, f"{LAYER}/api/about.py", ""),
    (
        rules.directions,
        ROOM,
        "from tocsin.store import outbox\nfrom tocsin.foundation.ids import uuid7\nfrom tocsin.people import addresses",
    ),
    (rules.directions, f"{LAYER}/api/things.py", "from tocsin.http.door import Call\nfrom tocsin.intake import cancel"),
    (rules.directions, DOOR, "from tocsin.api import inbox\nfrom tocsin.outbox.dispatch import dispatch"),
    (rules.ways_out_of_others, ROOM, "from tocsin.channels.ways import Way"),
    (rules.rooms_that_import_by_themselves, f"{LAYER}/delivery/gate.py", "import json"),
    (
        rules.endpoints_that_write,
        ENDPOINT,
        "from tocsin.store import users\nfrom tocsin.store.users import User\nusers.find(conn)",
    ),
    (rules.endpoints_that_write, ENDPOINT, "from tocsin.store import provider_configs\nprovider_configs.find(conn)"),
    (rules.endpoints_that_write, ENDPOINT, "from tocsin.access.audit import Actor"),
    (rules.environment_read_elsewhere, f"{LAYER}/foundation/settings.py", 'import os\nos.environ["STAGE"]'),
    (rules.endpoints_that_write, ROOM, "from tocsin.store import users\nusers.upsert(conn)"),
]


@pytest.mark.parametrize(("rule", "path", "source"), BREACHES)
def test_a_breach_is_caught(rule: Rule, path: str, source: str) -> None:
    assert rule(Module(path, ast.parse(source)))


@pytest.mark.parametrize(("rule", "path", "source"), FINE)
def test_what_is_fine_is_left_alone(rule: Rule, path: str, source: str) -> None:
    assert rule(Module(path, ast.parse(source))) == []


def test_every_rule_has_caught_something() -> None:
    assert {rule.__name__ for rule, _, _ in BREACHES} == {rule.__name__ for rule in rules.RULES}
