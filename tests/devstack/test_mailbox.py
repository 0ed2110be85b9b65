"""The mailbox shows everything that was accepted, newest first, and lets nothing in a message act on the page."""

from html.parser import HTMLParser
from typing import Any

from devstack.mailbox import SHOWN, letter_page, mailbox_html, mailbox_json

HOSTILE = """"><script>alert(1)</script><img src=x onerror='alert(2)'>$count{{}}"""


def row(number: int, **changes: Any) -> dict[str, Any]:
    email = {
        "id": number,
        "channel": "email",
        "provider": "ses",
        "from": "tocsin@example.com",
        "to": ["ada@example.com"],
        "subject": f"Subject {number}",
        "text": "text",
        "html": "<p>html</p>",
        "headers": {"List-Unsubscribe": "<https://example.com/u>"},
        "tags": {"tocsin_attempt": "a-1"},
        "configuration_set": "tocsin",
        "message_id": f"id-{number}",
        "accepted_at": "2026-11-16T02:00:00.000Z",
        "attachments": [],
    }
    return email | changes


class Elements(HTMLParser):
    """Every element of a page, by name, as a browser would find them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def named(self, name: str) -> list[dict[str, str | None]]:
        return [attributes for tag, attributes in self.found if tag == name]


def names(page: str) -> list[str]:
    return [tag for tag, _ in Elements(page).found]


def messages(page: str) -> list[dict[str, str | None]]:
    return [details for details in Elements(page).named("details") if details.get("class") == "message"]


def test_the_json_is_newest_first() -> None:
    found = mailbox_json([row(1), row(2)])

    assert [message["message_id"] for message in found["data"]] == ["id-2", "id-1"]


def test_the_page_is_newest_first_and_the_newest_is_open() -> None:
    shown = messages(mailbox_html([row(1), row(2), row(3)]))

    assert [message["id"] for message in shown] == ["id-3", "id-2", "id-1"]
    assert ["open" in message for message in shown] == [True, False, False]


def test_a_page_keeps_its_doctype_first_and_a_name_that_travelled_encoded_can_be_read() -> None:
    page = '<!doctype html><html lang="en"><head><title>T</title></head></html>'
    message = row(1, html=page, **{"from": "=?utf-8?b?TcO8bGxlcg==?= <tocsin@example.com>"})

    letter = letter_page([message], "id-1")

    assert letter is not None
    assert letter.body.decode() == page.replace("<head>", '<head><base target="_blank">')
    assert "Müller &lt;tocsin@example.com&gt;" in mailbox_html([message])


def test_an_html_body_is_a_document_of_its_own_without_scripts_and_without_our_origin() -> None:
    message = row(1, html=HOSTILE, message_id='a b&c/"d')
    [frame] = Elements(mailbox_html([message])).named("iframe")

    letter = letter_page([row(2), message], 'a b&c/"d')

    assert frame["src"] == "/_local/mailbox/letter?id=a%20b%26c%2F%22d"
    assert frame["sandbox"] == "allow-popups allow-popups-to-escape-sandbox"
    assert letter is not None
    assert letter.body.decode() == f'<base target="_blank">{HOSTILE}'
    policy = dict(letter.headers)["content-security-policy"]
    assert policy.startswith("sandbox allow-popups allow-popups-to-escape-sandbox; default-src 'none';")
    assert "script-src" not in policy


def test_what_is_no_email_has_no_such_document() -> None:
    assert letter_page([row(1, channel="sms", html=None)], "id-1") is None
    assert letter_page([], "id-1") is None


def test_no_value_of_a_message_becomes_an_element_of_the_page() -> None:
    everything = {
        "to": [HOSTILE],
        "from": HOSTILE,
        "subject": HOSTILE,
        "text": HOSTILE,
        "html": HOSTILE,
        "headers": {HOSTILE: HOSTILE},
        "tags": {HOSTILE: HOSTILE},
        "message_id": HOSTILE,
        "configuration_set": HOSTILE,
    }
    hostile = [row(number, channel=channel, **everything) for number, channel in enumerate(("email", "sms", "push"))]
    harmless = [row(number, channel=channel) for number, channel in enumerate(("email", "sms", "push"))]

    assert names(mailbox_html(hostile)) == names(mailbox_html(harmless))


def test_a_text_message_and_a_push_show_their_words() -> None:
    sms = row(1, channel="sms", subject=None, html=None, text="Your code is 1234")
    push = row(2, channel="push", subject="Shipped", html=None, text="It is on its way")

    page = mailbox_html([sms, push])

    assert page.count("Your code is 1234") == 2  # as headline and as body
    assert "<strong>Shipped</strong><p>It is on its way</p>" in page


def test_the_page_asks_nothing_of_other_hosts() -> None:
    page = Elements(mailbox_html([row(1)]))

    assert not [one for name in ("link", "img", "script", "style") for one in page.named(name)]
    assert [frame["src"] for frame in page.named("iframe")] == ["/_local/mailbox/letter?id=id-1"]


def test_a_mailbox_of_some_recipients_says_so() -> None:
    page = mailbox_html([], ["<ada>"])

    assert "Only to &lt;ada&gt;." in page
    assert "hidden" in Elements(page).named("section")[0]


def test_an_empty_mailbox_says_what_to_do_and_a_full_one_does_not() -> None:
    [empty] = Elements(mailbox_html([])).named("section")
    [full] = Elements(mailbox_html([row(1)])).named("section")

    assert "hidden" not in empty
    assert "hidden" in full
    assert '-H "Authorization: Bearer $TOCSIN_KEY"' in mailbox_html([])


def test_a_very_full_mailbox_shows_the_newest_and_says_so() -> None:
    page = mailbox_html([row(number) for number in range(SHOWN + 5)])

    assert len(messages(page)) == SHOWN
    assert messages(page)[0]["id"] == f"id-{SHOWN + 4}"
    assert f"Only the newest {SHOWN} are shown" in page
    assert f"{SHOWN + 5} messages" in page


def test_above_an_email_stand_who_it_is_for_who_got_a_copy_where_answers_go_and_its_files() -> None:
    files = [{"name": "r-7.pdf", "content_type": "application/pdf", "size": 20_400}]
    headers = {"Cc": "books@example.com", "Reply-To": "billing@example.com"}

    page = mailbox_html([row(1, to=["ada@example.com", "books@example.com"], headers=headers, attachments=files)])

    head = page[page.index('<div class="envelope">') : page.index("<iframe")]
    assert "<dt>To</dt><dd>ada@example.com</dd><dt>Cc</dt><dd>books@example.com</dd>" in head
    assert "<dt>Reply-To</dt><dd>billing@example.com</dd><dt>Files</dt><dd>r-7.pdf (20 kB, application/pdf)</dd>" in head
