"""What goes wrong in the middle: pages left too early, answers that fail or come late, dialogs by keyboard, a key that ends."""

import json

from tests.browser.page import Page
from tests.console.console import Console
from tests.e2e.client import Client

OWN = "import(new URL('{}', tocsinFiles.root))"
# `asked` is every address that was asked for. Addresses with this part: `answer(part, status)` has them fail, `hold(part)` wait.
WATCH = """
window.asked = []; const reach = fetch, failing = {}, held = {};
window.answer = (part, status) => (failing[part] = status);
window.hold = (part) => (held[part] = new Promise((go) => (window.go = () => (delete held[part], go()))));
window.fetch = async (url, ...more) => {
  asked.push(String(url));
  for (const part in held) if (String(url).includes(part)) await held[part];
  for (const part in failing) if (String(url).includes(part)) {
    if (!failing[part]) throw new TypeError("Failed to fetch");
    return new Response(JSON.stringify({ title: "Trouble", detail: "That is trouble." }), { status: failing[part] });
  }
  return reach(url, ...more);
};
"""


def watched(console: Console, place: str) -> Page:
    console.page.before_scripts(WATCH)
    console.open(place)
    return console.page


def test_a_page_that_is_left_while_it_asks_asks_no_more(console: Console) -> None:
    console.page.before_scripts("const later = setTimeout; window.setTimeout = (run, ms) => later(run, ms >= 5000 ? 100 : ms);")
    page = watched(console, "#/jobs")

    page.run("hold('/v1/jobs'); asked.length = 0")
    page.see("asked.some((one) => one.includes('/v1/jobs'))")
    page.run("location.hash = '#/retention'")
    page.see("words($('h1')) === 'Retention'")
    page.run("go(); asked.length = 0")
    page.run("new Promise((go) => later(go, 400))")

    assert not page.run("asked.some((one) => one.includes('/v1/jobs'))")


def test_escape_closes_a_dialog_and_the_focus_is_where_it_was(console: Console) -> None:
    console.open("#/keys")

    console.page.run("button('Make a key').focus()")
    console.page.press("Enter")
    console.page.see("$('dialog[open]')")
    console.page.press("Escape")

    console.page.see("!$('dialog') && words(document.activeElement) === 'Make a key'")


def test_what_was_typed_into_a_dialog_is_not_thrown_away_by_one_escape(console: Console) -> None:
    console.open("#/suppressions")

    console.press("Suppress an address")
    console.fill_in("Only this type", "typed.type")
    console.page.press("Escape")
    console.reads("What you typed is not saved")
    assert console.page.run("field('Only this type').value") == "typed.type"
    console.page.press("Escape")

    console.page.see("!$('dialog')")


def test_a_dialog_goes_with_its_page(console: Console) -> None:
    console.open("#/users")
    console.page.run("location.hash = '#/audit'")
    console.page.see("button('Change')")

    console.press("Change")
    console.page.see("$('dialog[open]')")
    console.page.run("history.back()")

    console.page.see("!$('dialog') && words($('h1')) === 'Users'")


def test_a_second_question_takes_the_place_of_the_first_with_its_own_words(console: Console) -> None:
    console.open("#/")
    console.page.run(
        f"{OWN.format('ui.js')}.then(({{ask}}) => {{ window.ask = ask; window.ended = [];"
        " ask({title: 'One', says: 'about one', run: () => 1}).then((it) => ended.push(String(it))) })"
    )
    console.reads("about one")

    console.page.run("void ask({title: 'Two', says: 'about two', run: () => 2}).then((it) => ended.push(it))")

    console.page.see("words($('dialog')).includes('about two') && ended[0] === 'undefined'")
    console.press("Do it")
    console.page.see("!$('dialog') && ended[1] === 2")


def test_what_is_being_done_cannot_be_left_behind_by_escape(console: Console, client: Client) -> None:
    client.call("PUT", "/v1/kv/rough/escape", {"a": 1})
    page = watched(console, "#/values/rough/escape")

    console.press("Delete it")
    page.see("$('dialog[open]')")
    page.run("void hold('/v1/kv/rough/escape')")
    console.press("Delete the value")
    page.see("$('dialog [aria-busy=true]')")
    page.press("Escape", "Escape")
    page.see("$('dialog').open && $('dialog [aria-busy=true]')")
    page.run("go()")

    page.see("!$('dialog') && words($('.toasts')).includes('The value is deleted')")


def test_more_that_cannot_be_loaded_says_so(console: Console, client: Client) -> None:
    client.call("POST", "/v1/users/batch", {"users": [{"id": f"more-{number:02}"} for number in range(60)]})
    page = watched(console, "#/users?query=more-")

    page.run("answer('cursor=', 500)")
    console.press("Show more")
    console.reads("That is trouble.")
    page.run("answer('cursor=', undefined); delete failing['cursor=']")
    console.press("Show more")

    page.see("$$('tbody tr').length === 60 && !words($('main')).includes('That is trouble.')")


def test_rows_that_newer_ones_push_out_of_the_first_page_stay(console: Console) -> None:
    console.open("#/")

    pairs = [("edcba", "gfedc"), ("edcba", "edba"), ("edcba", "lkjih")]
    of_each = ".then(({pushedOut}) => %s.map(([was, is]) => pushedOut([...was], [...is], (row) => row).join('')))"

    assert console.page.run(OWN.format("rows.js") + of_each % json.dumps(pairs)) == ["ba", "", "edcba"]


def test_a_filter_keeps_the_space_between_two_words(console: Console) -> None:
    console.open("#/users")

    console.fill_in("Search", "ada ")
    console.page.see("location.hash.endsWith('query=ada')")
    console.page.type("l")

    console.page.see("location.hash.endsWith('query=ada+l')")


def test_undoing_a_new_type_leaves_its_page(console: Console, client: Client) -> None:
    console.open("#/types?new=1")

    console.fill_in("Name", "rough.type")
    console.press("Save")
    console.page.see("location.hash === '#/types/rough.type' && button('Undo')")
    console.press("Undo")

    console.page.see("location.hash === '#/types'")
    assert client.call("GET", "/v1/notification-types/rough.type").status == 404


def test_what_went_wrong_stays_until_somebody_has_read_it(console: Console) -> None:
    console.page.before_scripts("const later = setTimeout; window.setTimeout = (run, ms) => later(run, ms === 6000 ? 50 : ms);")
    page = watched(console, "#/triggers")
    page.run(f"{OWN.format('ui.js')}.then(({{toast}}) => {{ toast('Well done.'); toast('Gone wrong.', {{tone: 'bad'}}) }})")

    page.see("words($('.toasts')) === 'Gone wrong.'")
    page.click("$('.toasts button')")

    page.see("words($('.toasts')) === ''")


def test_a_key_that_ends_in_the_middle_closes_what_is_open_and_says_why(console: Console) -> None:
    page = watched(console, "#/audit")
    console.press("Change")
    page.see("$('dialog[open]')")

    page.run("answer('/v1/', 401)")
    page.run(f"{OWN.format('api.js')}.then((api) => api.get(['me'])).catch(() => 0)")

    page.see("!$('dialog') && words($('.sign-in')).includes('The key is not accepted any more')")


def test_a_page_whose_files_do_not_load_can_be_tried_again_without_signing_in_anew(console: Console) -> None:
    page = watched(console, "#/")
    page.run("window.isSame = true; answer('page-keys.js', 404); location.hash = '#/keys'")
    console.reads("page-keys.js cannot be loaded just now")

    page.run("delete failing['page-keys.js']")
    console.press("Try again")

    page.see("words($('h1')) === 'API keys' && button('Make a key') && isSame")


def test_a_service_that_was_away_is_seen_again_by_itself(console: Console) -> None:
    console.page.before_scripts("const later = setTimeout; window.setTimeout = (run, ms) => later(run, ms >= 5000 ? 150 : ms);")
    page = watched(console, "#/jobs")

    page.run("answer('/v1/jobs', 0)")
    console.reads("The service cannot be reached just now")
    page.run("delete failing['/v1/jobs']")

    page.see("!words($('main')).includes('cannot be reached')")
