"""The page that shows what the post office accepted, and the same as JSON."""

import base64
import hashlib
import json
from html import escape
from pathlib import Path
from string import Template
from typing import Any

Row = dict[str, Any]

SHOWN = 200
PAGE = Template(Path(__file__).with_name("mailbox.html").read_text(encoding="utf-8"))
SCRIPT = PAGE.template.split("<script>")[1].split("</script>")[0]
# Our own script is let in by its digest. The bodies of emails inherit this policy in their frames, and the sandbox
# keeps scripts out of those a second time.
POLICY = "; ".join(
    [
        "default-src 'none'",
        "style-src 'unsafe-inline'",
        "img-src data: https:",
        "connect-src 'self'",
        f"script-src 'sha256-{base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()}'",
        "base-uri 'none'",
        "form-action 'none'",
    ]
)
FRAME = '<iframe sandbox="allow-popups allow-popups-to-escape-sandbox" title="{title}" srcdoc="{document}"></iframe>'
# Links in an email open beside the mailbox, not inside the little frame.
OPEN_LINKS_OUTSIDE = '<base target="_blank">'


def mailbox_json(rows: list[Row]) -> dict[str, Any]:
    """The ledger's rows, newest first."""
    return {"data": rows[::-1]}


def mailbox_html(rows: list[Row]) -> str:
    """The whole page; it fetches itself again every two seconds and adds what is new."""
    newest = rows[: -SHOWN - 1 : -1]
    return PAGE.substitute(
        policy=escape(POLICY),
        count=_count(len(rows)),
        empty="hidden" if rows else "",
        messages="\n".join(_message(row, is_open=row is newest[0]) for row in newest),
        more="" if len(newest) == len(rows) else f"Only the newest {SHOWN} are shown. The JSON has them all.",
    )


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
        return text
    frame = FRAME.format(title=escape(f"Email: {row['subject'] or ''}"), document=escape(OPEN_LINKS_OUTSIDE + row["html"]))
    return frame + (f'<details class="part"><summary>Plain text</summary>{text}</details>' if text else "")


def _facts(row: Row) -> str:
    envelope = {"From": row.get("from"), "To": ", ".join(row["to"]), "Provider": row["provider"]}
    envelope |= {"Message id": row["message_id"], "Configuration set": row.get("configuration_set")}
    lists = [_list("", envelope), _list("Headers", row["headers"]), _list("Tags", row["tags"])]
    return f'<details class="part"><summary>Details</summary>{"".join(lists)}</details>'


def _list(title: str, values: dict[str, Any]) -> str:
    items = "".join(
        f"<dt>{escape(name)}</dt><dd>{escape(value if isinstance(value, str) else json.dumps(value))}</dd>"
        for name, value in values.items()
        if value
    )
    heading = f"<h3>{escape(title)}</h3>" if title else ""
    return f"{heading}<dl>{items}</dl>" if items else ""
