"""docs/retention.md has every rule as the code has it; run as a module (PYTHONPATH=layers/shared), this mends the page."""

import re

from tests.unit.source import ROOT
from tocsin.foundation.settings import Settings
from tocsin.upkeep.retention_rules import Rule, rules_of

PAGE = ROOT / "docs" / "retention.md"
HEAD = "| rule | what is forgotten | days | setting | a tenant's own |\n| --- | --- | --- | --- | --- |\n"
TABLE = re.compile(re.escape(HEAD) + r"(?:\|.*\n)+")


def _row(rule: Rule) -> str:
    days = str(rule.days) if rule.days is not None else "for ever" if rule.own else "its own"
    setting = f"`{''.join(word.capitalize() for word in rule.setting.lower().split('_'))}`" if rule.setting else ""
    own = f"`{rule.own}_days`, {rule.least} or more" if rule.own else ""
    return f"| `{rule.name}` | {rule.says} | {days} | {setting} | {own} |\n"


def _table() -> str:
    return HEAD + "".join(_row(rule) for rule in rules_of(Settings()))


def test_the_page_has_every_rule_as_it_is() -> None:
    assert TABLE.findall(PAGE.read_text()) == [_table()]


if __name__ == "__main__":
    PAGE.write_text(TABLE.sub(lambda _: _table(), PAGE.read_text()))
