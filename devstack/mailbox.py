"""The page that shows what the post office accepted, and the same as JSON."""

import json
from email.header import decode_header, make_header
from html import escape
from typing import Any
from urllib.parse import quote

from devstack.http_event import Answer
from devstack.page_files import part

Row = dict[str, Any]

SHOWN = 200
# An email is a document of its own: it has no script, no origin and nothing of the page around it, but its own styles and images.
SANDBOX = "allow-popups allow-popups-to-escape-sandbox"
LETTER_POLICY = (
    f"sandbox {SANDBOX}; default-src 'none'; style-src 'unsafe-inline'; img-src data: https:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
FRAME = '<iframe sandbox="{sandbox}" title="{title}" src="/_local/mailbox/letter?id={id}" loading="lazy"></iframe>'
# Links in an email open beside the mailbox, not inside the little frame.
OPEN_LINKS_OUTSIDE = '<base target="_blank">'


def mailbox_json(rows: list[Row]) -> dict[str, Any]:
    """The ledger's rows, newest first."""
    return {"data": rows[::-1]}


def mailbox_html(rows: list[Row], recipients: list[str] | None = None) -> str:
    """What stands on the page; it fetches itself again every two seconds and adds what is new."""
    newest = rows[: -SHOWN - 1 : -1]
    return part("mailbox.html").substitute(
        count=_count(len(rows)),
        only=_only(recipients or []),
        empty="hidden" if rows or recipients else "",
        messages="\n".join(_message(row, is_open=row is newest[0]) for row in newest),
        more="" if len(newest) == len(rows) else f"Only the newest {SHOWN} are shown. The JSON has them all.",
    )


def letter_page(rows: list[Row], message_id: str) -> Answer | None:
    """The HTML of one email, for its frame."""
    found = next((row["html"] for row in rows if row["message_id"] == message_id and row["html"]), None)
    if found is None:
        return None
    headers = {"content-type": "text/html; charset=utf-8", "cache-control": "no-store", "referrer-policy": "no-referrer"}
    headers |= {"content-security-policy": LETTER_POLICY, "x-content-type-options": "nosniff"}
    place = found.find("<head>") + len("<head>") if "<head>" in found[:200] else 0  # before a doctype, it would not count as one
    return Answer(200, list(headers.items()), (found[:place] + OPEN_LINKS_OUTSIDE + found[place:]).encode())


def _only(recipients: list[str]) -> str:
    names = escape(", ".join(recipients))
    return f'<p class="only">Only to {names}. <a href="/_local/mailbox">Show all</a></p>' if recipients else ""


def _count(number: int) -> str:
    return "1 message" if number == 1 else f"{number} messages"


def _message(row: Row, *, is_open: bool) -> str:
    headline = row["subject"] or row["text"] or "(no subject)"
    return (
        f'<details class="message" id="{escape(row["message_id"])}"{" open" if is_open else ""}><summary>'
        f'<span class="channel {escape(row["channel"])}">{escape(row["channel"])}</span>'
        f'<span class="headline">{escape(headline)}</span>'
        f'<span class="to">{escape(", ".join(row["to"]))}</span>'
        f'<time datetime="{escape(row["accepted_at"])}">{escape(row["accepted_at"])}</time>'
        f"</summary>{_body(row)}{_facts(row)}</details>"
    )


def _body(row: Row) -> str:
    if row["channel"] != "email":
        title = f"<strong>{escape(row['subject'])}</strong>" if row["subject"] else ""
        return f'<div class="bubble">{title}<p>{escape(row["text"] or "")}</p></div>'
    text = f"<pre>{escape(row['text'])}</pre>" if row["text"] else ""
    if not row["html"]:
        return _envelope(row) + text
    title = escape(f"Email: {row['subject'] or ''}")
    frame = FRAME.format(sandbox=SANDBOX, title=title, id=escape(quote(row["message_id"], safe="")))
    return _envelope(row) + frame + (f'<details class="part"><summary>Plain text</summary>{text}</details>' if text else "")


def _envelope(row: Row) -> str:
    """Who it is from and for, and its files, as a mail program has them above an email."""
    headers = {name.lower(): value for name, value in (row.get("headers") or {}).items()}
    copies = [one.strip() for one in headers.get("cc", "").split(",") if one.strip()]
    lines = {"From": _decoded(row.get("from") or ""), "To": ", ".join(one for one in row["to"] if one not in copies)}
    lines |= {"Cc": ", ".join(copies), "Reply-To": headers.get("reply-to", "")}
    lines |= {"Files": ", ".join(map(_file, row.get("attachments") or []))}
    return f'<div class="envelope">{_list("", lines)}</div>'


def _file(one: dict[str, Any]) -> str:
    size = f"{one['size'] / 1000:.0f} kB" if one["size"] >= 1000 else f"{one['size']} bytes"
    return f"{one['name']} ({size}, {one['content_type']})"


def _facts(row: Row) -> str:
    kept = {"From": _decoded(row.get("from") or ""), "To": ", ".join(row["to"])} if row["channel"] != "email" else {}
    kept |= {"Provider": row["provider"], "Message id": row["message_id"], "Configuration set": row.get("configuration_set")}
    lists = [_list("", kept), _list("Headers", row["headers"]), _list("Tags", row["tags"])]
    return f'<details class="part"><summary>Details</summary>{"".join(lists)}</details>'


def _decoded(words: str) -> str:
    """A name that is not ASCII travels encoded (RFC 2047)."""
    return str(make_header(decode_header(words)))


def _list(title: str, values: dict[str, Any]) -> str:
    items = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value if isinstance(value, str) else json.dumps(value))}</dd>"
        for name, value in values.items()
        if value
    )
    heading = f'<p class="part-title">{escape(title)}</p>' if title else ""
    return f"{heading}<dl>{items}</dl>" if items else ""
