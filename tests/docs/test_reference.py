"""Code and pages list the same directives, variables, metrics, reasons and alerts."""

import json
import re

import pytest

from docs import facts

DIRECTIVES = "docs/directives.md"


def section(page, title):
    """The text below a heading, up to the next one of its level or above."""
    text = facts.read(page)
    level = re.search(rf"^(#+) {re.escape(title)}$", text, re.M).group(1)
    body = text.split(f"\n{level} {title}\n", 1)[1]
    return re.split(rf"^#{{1,{len(level)}}} ", body, maxsplit=1, flags=re.M)[0]


def test_directives():
    documented = {}
    for name in re.findall(r"^### (sluice_\w+)$", facts.read(DIRECTIVES), re.M):
        row = re.search(r"\| Context \| (.*?) \|", section(DIRECTIVES, name)).group(1)
        documented[name] = set(row.split(", "))
    assert documented == facts.directives()


@pytest.mark.parametrize("name", sorted(facts.directives()))
def test_each_directive_has_syntax_default_and_words(name):
    text = section(DIRECTIVES, name)
    assert f"| Syntax | **{name}**" in text
    assert "| Default |" in text
    assert len(text.split("|")[-1].strip()) > 40


def keys_of_the_program_file():
    """(table, key) for each key that the reader knows."""
    source = facts.read("tool/setup/program_file.cpp")
    tables = re.findall(r'"(policy|program|program\.rule)",\s*\{("[^}]+")\}', source)
    return [(table, key) for table, keys in tables for key in re.findall(r'"(\w+)"', keys)]


@pytest.mark.parametrize("table, key", keys_of_the_program_file())
def test_each_key_of_the_program_file_has_a_row_and_is_in_the_sample(table, key):
    if (table, key) in [("program", "policy"), ("program", "program")]:
        return  # the file itself
    title = {"policy": "Policy", "program": "Program", "program.rule": "Rule"}[table]
    assert re.search(rf"^\| .*`{key}`.* \|", section("docs/program-file.md", title), re.M)
    shown = re.escape("[[program.rule]]") if key == "rule" else rf"{key} ="
    assert re.search(rf"^(# )?{shown}", facts.read("conf/samples/program.toml"), re.M)


def test_the_program_file_has_keys():
    tables = [table for table, _ in keys_of_the_program_file()]
    assert min(tables.count(table) for table in ("policy", "program", "program.rule")) > 9


def test_variables():
    documented = set(re.findall(r"^`\$(sluice_\w+)`$", facts.read(DIRECTIVES), re.M))
    assert documented == facts.variables()


def test_the_log_format_uses_variables_that_exist():
    used = set(re.findall(r"\$(sluice_\w+)", facts.read("conf/nginx/sluice-log.conf")))
    assert used <= facts.variables()


def test_metrics():
    rows = re.findall(r"^\| `(sluice_\w+)` \| (\w+) \|", section(DIRECTIVES, "Metrics"), re.M)
    assert dict(rows) == facts.metrics()


def test_reasons_and_results():
    documented = set(re.findall(r"`(\w+)`", section(DIRECTIVES, "Reasons")))
    wanted = facts.reasons() | facts.diagnoses()
    assert wanted <= documented, wanted - documented
    others = {"sluice_large_memory", "sluice_reason",
              "auth_basic", "client_max_body_size", "deny", "limit_conn", "limit_req"}  # directives
    assert documented - wanted <= others, documented - wanted
    for outcome in facts.outcomes():
        assert f"`{outcome}`" in section(DIRECTIVES, "Embedded variables"), outcome


def test_status_json():
    source = facts.read("core/status/json.cpp")
    body = section(DIRECTIVES, "status.json")
    for member in set(re.findall(r'(?:field|key|optional_time|optional_number|write_named)\((?:json, )?"(\w+)"', source)):
        assert f"`{member}`" in body, member


def test_anomaly_kinds_are_explained():
    kinds = facts.anomaly_kinds()
    assert len(kinds) >= 7
    for kind in kinds:
        assert kind in facts.read("docs/commissions.md"), kind


def test_every_alert_has_a_section_in_operations():
    alerts = facts.alerts()
    for alert in alerts:
        assert len(section("docs/operations.md", alert).strip()) > 60, alert
    documented = re.findall(r"^### (Sluice\w+)$", facts.read("docs/operations.md"), re.M)
    assert sorted(documented) == sorted(alerts)


def test_links_lead_somewhere():
    def anchors(text):
        for title in re.findall(r"^#+ (.*)$", text, re.M):
            plain = re.sub(r"[`*]", "", title).lower()
            yield re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")

    wrong = []
    for path in facts.pages():
        page = path.relative_to(facts.paths.ROOT)
        for target in re.findall(r"\]\(([^)\s]+)\)", path.read_text()):
            if "://" in target:
                continue
            name, _, anchor = target.partition("#")
            file = (path.parent / name) if name else path
            if not file.exists():
                wrong.append(f"{page}: {target}")
            elif anchor and file.suffix == ".md" and anchor not in set(anchors(file.read_text())):
                wrong.append(f"{page}: {target}")
    assert not wrong, "\n".join(wrong)


def test_the_dashboard_is_json():
    assert json.loads(facts.read("conf/grafana/sluice.json"))["panels"]
