"""The OpenAPI document: it is current, every answer is as it says, and requests made from it meet no surprise."""

import json
import urllib.parse

import hypothesis
import jsonschema
import pytest
import yaml
from harness import paths
from harness.serve import ask
from hypothesis import strategies as st
from serve.live import required_values

DOCUMENT = yaml.safe_load((paths.ROOT / "conf" / "openapi-read.yaml").read_text())
# Links need a token of their own: test_creator_link.py.
PATHS = sorted(DOCUMENT["paths"].keys() - {"/v1/creator-link"})


def test_the_shipped_document_is_the_served_one(served):
    assert json.loads(ask(served.serve.read, "/v1/openapi.json").body) == DOCUMENT


def schema(path, status, kind):
    answer = DOCUMENT["paths"][path]["get"]["responses"][str(status)]
    found = answer["content"][kind]["schema"]
    return {**found, "components": DOCUMENT["components"]}


def check(path, answer):
    """The answer's status, type and body are documented."""
    documented = DOCUMENT["paths"][path]["get"]["responses"]
    assert str(answer.status) in documented, (path, answer)
    assert answer.status < 500, (path, answer)
    kind = (answer.header("Content-Type") or "").partition(";")[0]
    if answer.status == 304:
        return
    assert kind in documented[str(answer.status)]["content"], (path, kind)
    if kind not in ("text/csv", "text/html"):
        jsonschema.validate(answer.json(), schema(path, answer.status, kind))


KNOWN = {
    "shop": ["shop-1", "shop-1-late", "shop-2"], "program": ["spring", "autumn"], "creator": ["ann", "bob", "robert"],
    "link": ["spring-mug", "autumn-mug"], "order": ["a/b", "o1", "line\nfeed"], "q": ["SAVE", "o", "ann"], "account": ["acme", "beta"],
}


def value(parameter):
    """A value that the document allows, one of the scene's, or any text."""
    allowed = parameter["schema"]
    choices = [st.text(max_size=20), st.sampled_from(["", "0", "-1", "true", "2026-13", "\x00", "%", "\ud7ff"])]
    if parameter["name"] in KNOWN:
        choices.append(st.sampled_from(KNOWN[parameter["name"]]))
    if "enum" in allowed:
        choices.append(st.sampled_from(allowed["enum"]))
    elif allowed["type"] == "integer":
        choices.append(st.integers(-2, allowed["maximum"] + 2).map(str))
    elif allowed["type"] == "boolean":
        choices.append(st.sampled_from(["true", "false"]))
    elif "pattern" in allowed:
        choices.append(st.from_regex(allowed["pattern"], fullmatch=True))
    elif allowed.get("format") == "date-time":
        choices.append(st.datetimes().map(lambda at: at.strftime("%Y-%m-%dT%H:%M:%SZ")))
    return st.one_of(choices)


@st.composite
def queries(draw, path):
    """Some of the path's parameters, each once or twice, and now and then an unknown one."""
    given_ = []
    for parameter in DOCUMENT["paths"][path]["get"]["parameters"]:
        if parameter["required"] and draw(st.integers(0, 9)) or draw(st.booleans()):
            given_.append((parameter["name"], draw(value(parameter))))
            if not draw(st.integers(0, 20)):
                given_.append((parameter["name"], draw(value(parameter))))
    if not draw(st.integers(0, 20)):
        given_.append((draw(st.text(max_size=5)), "x"))
    return given_


@pytest.mark.parametrize("path", PATHS)
def test_random_requests_get_documented_answers_and_no_5xx(served, path):
    @hypothesis.settings(max_examples=60, deadline=None, derandomize=True,
                         suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(query=queries(path), role=st.sampled_from(["viewer", "manager", "sender"]))
    def ask_it(query, role):
        target = path + "?" + urllib.parse.urlencode(query, encoding="utf-8", errors="surrogatepass")
        check(path, ask(served.serve.read, target, served.as_("acme", role).headers))

    ask_it()


def undocumented(path, body):
    """Members of an answer, or of its items, that the document does not name. A product's are those that the shop sent."""
    found = schema(path, 200, "application/json")
    missing = set(body) - set(found["properties"])
    if "next" in found["properties"] and "items" in found["properties"] and path != "/v1/products":
        named = set(found["properties"]["items"]["items"]["properties"])
        missing |= {name for row in body["items"] for name in row} - named
    return missing


@pytest.mark.parametrize("path", PATHS)
def test_every_row_of_the_scene_fits_the_document(served, path):
    """With every parameter that is required, and both formats."""
    values = required_values(served.as_("acme"))
    names = {parameter["name"]: parameter["required"] for parameter in DOCUMENT["paths"][path]["get"]["parameters"]}
    asked = {name: values[name] for name, required in names.items() if required or (name, path) == ("run", "/v1/run")}
    formats = DOCUMENT["paths"][path]["get"]["parameters"]
    formats = [word for one in formats if one["name"] == "format" for word in one["schema"]["enum"]]
    for extra in ({}, {"limit": "1"}, *({"format": word} for word in formats)):
        if set(extra) <= set(names):
            answer = served.as_("acme").get(path.removeprefix("/v1/"), **{**asked, **extra})
            assert answer.status == 200, (path, answer)
            check(path, answer)
            if answer.header("Content-Type") == "application/json":
                assert not undocumented(path, answer.json()), path
