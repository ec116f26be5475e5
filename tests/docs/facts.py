"""Facts from the source: directives, variables, metrics, members of status.json, commands."""

import functools
import re
import sys

from harness import paths

sys.path.insert(0, str(paths.ROOT / "scripts"))
from cli_help import walk  # noqa: E402

CONTEXTS = {
    "NGX_HTTP_MAIN_CONF": {"http"},
    "NGX_HTTP_SRV_CONF": {"server"},
    "NGX_HTTP_LOC_CONF": {"location"},
    "kEverywhere": {"http", "server", "location"},
}


def read(name):
    return (paths.ROOT / name).read_text()


def pages():
    """Every page for readers."""
    return [*sorted(paths.ROOT.glob("README.md")), *sorted((paths.ROOT / "docs").glob("*.md"))]


def directives():
    """{name: contexts}, from nginx's command table."""
    table = read("ngx_module/conf/directives.cpp")
    found = {}
    for name, flags in re.findall(r'\{ngx_string\("(sluice_\w+)"\),\s*([\w|\s]+?),', table):
        words = re.findall(r"\w+", flags)
        found[name] = set().union(*(CONTEXTS.get(word, set()) for word in words))
    return found


def variables():
    text = read("ngx_module/request/variables.cpp") + read("ngx_module/links/link_handler.cpp")
    return set(re.findall(r'\{"(sluice_\w+)",', text))


def metrics():
    """{name: type}, from the calls that write them."""
    source = read("core/status/prometheus.cpp")
    found = dict(re.findall(r'"(sluice_[a-z_]+)",\s*"(counter|gauge|histogram)"', source))
    for kind, name in re.findall(r'\.(counter|gauge)\(\s*"(sluice_[a-z_]+)"', source):
        found[name] = kind
    return found


def names_in_table(source, array):
    body = re.search(rf"{array}\{{(.*?)\}};", read(source), re.S).group(1)
    return [name for name in re.findall(r'"(\w*)"', body) if name]


def reasons():
    return set(names_in_table("core/intake/answer.cpp", "kReasonNames"))


def outcomes():
    return names_in_table("core/intake/answer.cpp", "kOutcomeNames")


def diagnoses():
    """Names that core/intake/diagnosis can give, from its header."""
    text = read("core/intake/diagnosis.hpp")
    block = text[text.index("@return"):text.index("diagnose_signature(")]
    return set(re.findall(r"///   (\w+)(?:, (\w+))? ", block)) and {
        name for pair in re.findall(r"///   (\w+)(?:, (\w+))? ", block) for name in pair if name
    }


def anomaly_kinds():
    return set(re.findall(r'\{AnomalyKind::k\w+, "([A-Z_]+)"\}', read("core/ledger/rows.hpp")))


def alerts():
    return re.findall(r"alert: (\w+)", read("conf/prometheus/sluice.rules.yml"))


@functools.cache
def commands():
    return list(walk(paths.SLUICE))
