"""Is the audit log what was written? `python -m tools.audit_verify` walks it and names the first row that is not.

By HTTP, the log of the tenant whose admin key stands in TOCSIN_API_KEY:

    python -m tools.audit_verify --url https://… [--known 17:9f86…]

Or where the database can be reached, every tenant's, also when the service is down or not to be trusted:

    python -m tools.audit_verify --database postgresql://… [--tenant 0198…]

`--known` is a head that was printed before and kept elsewhere. Exit codes: 0 it holds, 1 it is broken, 2 it was not answered."""

import argparse
import json
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import psycopg

LAYER = Path(__file__).resolve().parent.parent / "layers" / "shared"
HOLDS, BROKEN, UNANSWERED = 0, 1, 2

Page = dict[str, Any]
Ask = Callable[[str | None], Page]  # with the cursor of the page before


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.audit_verify", description="Is the audit log what was written?")
    way = parser.add_mutually_exclusive_group(required=True)
    way.add_argument("--url", help="the service; an admin key stands in TOCSIN_API_KEY")
    way.add_argument("--database", help="the database itself: a postgresql:// URL, of a role that sees every tenant")
    parser.add_argument("--tenant", help="only this tenant (with --database)")
    parser.add_argument("--known", help="seq:hash, a head that you kept")
    asked = parser.parse_args(arguments)
    try:
        logs = _by_http(asked.url, asked.known) if asked.url else _by_database(asked.database, asked.tenant, asked.known)
        ends = [_walk(name, ask) for name, ask in logs]
    except (OSError, psycopg.Error, ValueError) as error:
        print(f"The audit log could not be asked: {error}", file=sys.stderr)
        return UNANSWERED
    return HOLDS if all(ends) else BROKEN


def _walk(name: str, ask: Ask) -> bool:
    rows, cursor = 0, None
    while True:
        page = ask(cursor)
        rows, cursor, broken, head = rows + page["checked"], page["next_cursor"], page["broken"], page["head"]
        if broken:
            row = f" ({broken['id']})" if broken["id"] else ""
            print(f"{name}: broken at row {broken['seq']}{row}: {broken['problem']}. {broken['detail']}")
            return False
        if cursor is None:
            print(f"{name}: {rows} rows hold. Head: {head['seq']}:{head['hash']}")
            return True


def _by_http(url: str, known: str | None) -> Iterator[tuple[str, Ask]]:
    if not url.startswith(("https://", "http://")):
        raise ValueError("--url must begin with https://")
    key = os.environ.get("TOCSIN_API_KEY", "")

    def ask(cursor: str | None) -> Page:
        query = ({"cursor": cursor} if cursor else {}) | ({"known": known} if known else {})
        request = urllib.request.Request(f"{url.rstrip('/')}/v1/audit-log/verify?{urlencode(query)}")  # noqa: S310 - checked above
        request.add_header("Authorization", f"Bearer {key}")
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310 - the same
                page: Page = json.load(answer)
        except urllib.error.HTTPError as error:
            raise ValueError(f"{error.code} {json.load(error).get('detail', '')}") from None
        return page

    yield "audit log", ask


def _by_database(url: str, tenant: str | None, known: str | None) -> Iterator[tuple[str, Ask]]:
    sys.path.insert(0, str(LAYER))
    from tocsin.access import verify_audit  # noqa: PLC0415 - the layer is no part of this environment
    from tocsin.access.verify_audit import BEGINNING, ChainPlace  # noqa: PLC0415
    from tocsin.foundation.database import worker_transaction  # noqa: PLC0415
    from tocsin.store import tenants  # noqa: PLC0415

    def place(text: str | None) -> ChainPlace | None:
        seq, _, row_hash = (text or "").partition(":")
        return ChainPlace(int(seq), bytes.fromhex(row_hash)) if text else None

    with psycopg.connect(url, autocommit=True) as conn:
        for tenant_id in tenants.every_id(conn):
            if tenant not in (None, str(tenant_id)):
                continue

            def ask(cursor: str | None, tenant_id: Any = tenant_id) -> Page:
                with worker_transaction(conn):
                    verdict = verify_audit.verify_within(conn, tenant_id, after=place(cursor) or BEGINNING, known=place(known))
                return verify_audit.shown(verdict)

            yield f"tenant {tenant_id}", ask


if __name__ == "__main__":
    sys.exit(main())
