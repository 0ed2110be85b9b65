"""Prepare: pass the gate, choose the way out, make the words. What goes no further is settled without a send."""

import math
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NamedTuple
from uuid import UUID

from psycopg import Connection

from tocsin.channels.outcomes import Failure
from tocsin.channels.ways import Channel, Way, Ways
from tocsin.content import plain, render, render_share
from tocsin.content.attachments import AttachedFile
from tocsin.content.part_sources import PartSources
from tocsin.content.render import Letterhead
from tocsin.delivery import dampener, failover, gate, settlement
from tocsin.delivery.dampener import Limits
from tocsin.delivery.failover import Traffic
from tocsin.delivery.parts import parts_of
from tocsin.feedback import sandbox, unsubscribe
from tocsin.foundation.secrets import SecretUnavailable
from tocsin.store import lanes
from tocsin.store.rows import Delivery, Lane, Settlement


@dataclass(frozen=True, slots=True)
class Policy:
    evidence_window: timedelta
    send_concurrency: int
    sandbox_domain: str = "sandbox.tocsin.example"
    limits: Limits = dampener.USUAL
    allow_private: bool = False  # whether files may come from one's own network


@dataclass(frozen=True, slots=True)
class Ready:
    """A delivery with its words and its way out."""

    delivery: Delivery
    way: Way
    content: plain.Content
    letterhead: Letterhead
    headers: dict[str, str]
    supersedes: int | None
    send_before: float = math.inf  # on this process's monotonic clock: then the recipient's quiet hours begin
    cc: tuple[str, ...] = ()  # who else gets the email
    copies_left_out: int = 0  # because they must not be written to
    attachments: tuple[AttachedFile, ...] = ()
    failure: Failure | None = None  # why it fails before the provider is asked

    @property
    def note(self) -> str:
        """What the timeline tells of its copies."""
        if not self.copies_left_out:
            return ""
        asked, were = len(self.cc) + self.copies_left_out, "was" if self.copies_left_out == 1 else "were"
        return f"{self.copies_left_out} of {asked} copies {were} left out: suppressed"

    @property
    def channel(self) -> Channel:
        return self.way.channel


class Prepared(NamedTuple):
    """What can be sent, what is settled without a send, and the lanes in trouble as they are now."""

    ready: list[Ready]
    settled: list[Settlement]
    lanes: dict[str, Lane]


class Passed(NamedTuple):
    """A delivery that passed the gate, and the ways it can take."""

    delivery: Delivery
    decision: gate.Send
    ways: list[Way]


def prepare(
    conn: Connection[Any],
    deliveries: list[Delivery],
    *,
    ways: Ways,
    troubled: dict[str, Lane],
    lease: timedelta,
    claimed_since: float,
    policy: Policy,
) -> Prepared:
    """`claimed_since` is when the claim began, on this process's monotonic clock."""
    ways.prepare(conn, {one.work.tenant_id for one in deliveries})
    passed, ended = _pass_gate(deliveries, ways, policy)
    lanes_seen = _try_lanes(conn, passed, troubled, lease)
    traffic = Traffic(lanes_seen, share=failover.share_of(policy.send_concurrency))
    sources = parts_of(conn, [one.delivery for one in passed])
    ready, waiting = _word(passed, ways, traffic, claimed_since, sources)
    return Prepared(ready, [*ended, *waiting], lanes_seen)


def _pass_gate(deliveries: list[Delivery], ways: Ways, policy: Policy) -> tuple[list[Passed], list[Settlement]]:
    passed: list[Passed] = []
    settlements: list[Settlement] = []
    for one in deliveries:
        decision = gate.decide(one, evidence_window=policy.evidence_window)
        if not isinstance(decision, gate.Send):
            settlements.append(settlement.of_decision(one, decision))
        elif one.record.mode == "test" and sandbox.ending_of(one.route.email, policy.sandbox_domain) == "suppressed":
            settlements.append(settlement.of_decision(one, gate.End("skipped", "suppressed: sandbox")))
        else:
            passed.append(Passed(one, decision, ways.serving(one)))
    return passed, settlements


def _try_lanes(conn: Connection[Any], passed: list[Passed], troubled: dict[str, Lane], lease: timedelta) -> dict[str, Lane]:
    """The lanes in trouble as they are now; those that recover and that nobody else is trying are ours to try."""
    wanted = failover.lanes_to_try((one.ways for one in passed), troubled) if troubled else []
    if not wanted:
        return troubled
    now = {lane.lane: lane for lane in lanes.take_probes(conn, wanted, lease=lease)}
    return {name: lane for name, lane in troubled.items() if name not in wanted} | now


def _word(
    passed: list[Passed], all_ways: Ways, traffic: Traffic, claimed_since: float, sources: dict[UUID, PartSources]
) -> tuple[list[Ready], list[Settlement]]:
    """Choose the way of each and make its words."""
    ready: list[Ready] = []
    settlements: list[Settlement] = []
    share = render_share.Share()
    for one, decision, ways in passed:
        tenant_id = one.work.tenant_id
        way = traffic.choose(one, ways)
        if not isinstance(way, Way):
            settlements.append(settlement.of_decision(one, way))
            continue
        if reason := share.reason_to_wait(tenant_id):
            settlements.append(settlement.defer(one, reason, render_share.WAIT))
            continue
        try:
            with share.of(tenant_id):
                links = unsubscribe.links_for(one)
                brand = all_ways.brand_of(tenant_id)
                letterhead = Letterhead(brand, links.unsubscribe_url, links.preferences_url, sources.get(one.work.id))
                content, headers = share.hold(render.of_delivery(one, letterhead)), unsubscribe.headers_of(links)
        except plain.Unrenderable as error:
            settlements.append(settlement.bury(one, "unrenderable", str(error)))
        except SecretUnavailable:
            settlements.append(settlement.defer(one, "unsubscribe_secret_unavailable", timedelta(minutes=1)))
        else:
            quiet_in = (decision.before - one.work.claimed_at).total_seconds() if decision.before else math.inf
            ready.append(Ready(one, way, content, letterhead, headers, decision.supersedes, claimed_since + quiet_in))
    return ready, settlements
