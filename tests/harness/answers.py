"""The form of answers, to the byte where the contract defines it."""

import json

RATE_HEADERS = ("X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset")


def has_rate_headers(answer):
    for name in RATE_HEADERS:
        value = answer.header(name)
        assert value is not None and value.isdigit(), f"{name}: {value!r} in {answer}"


def has_no_rate_headers(answer):
    for name in (*RATE_HEADERS, "Retry-After"):
        assert not answer.has(name), f"{name} in {answer}"


def is_success(answer):
    assert answer.status == 200, answer
    assert answer.body == b"success", answer
    assert answer.header("Content-Type").split(";")[0].strip() == "text/plain", answer
    has_rate_headers(answer)
    assert not answer.has("Retry-After")


def is_unauthorized(answer):
    """Checks a 401 that does not reveal its reason."""
    assert answer.status == 401, answer
    assert answer.body == b"", answer
    assert answer.header("Content-Length") == "0", answer
    has_no_rate_headers(answer)


def event_errors(answer):
    """The (field, code) pairs of a 400 of the events endpoint; field None for the body."""
    assert answer.status == 400, answer
    assert answer.header("Content-Type").split(";")[0].strip() == "application/json", answer
    has_rate_headers(answer)
    document = json.loads(answer.body)
    assert list(document) == ["error", "details"], document
    assert document["error"] == "Invalid request data"
    assert document["details"], document
    found = []
    for detail in document["details"]:
        assert set(detail) in ({"code", "message"}, {"field", "code", "message"}), detail
        assert detail["code"] in ("REQUIRED", "INVALID_FORMAT"), detail
        assert isinstance(detail["message"], str) and detail["message"].strip(), detail
        found.append((detail.get("field"), detail["code"]))
    return found


def catalog_error(answer, status):
    """The message of an error of the catalog endpoint without record errors."""
    assert answer.status == status, answer
    assert answer.header("Content-Type").split(";")[0].strip() == "application/json", answer
    document = json.loads(answer.body)
    assert set(document) == {"code", "message"}, document
    assert document["code"] == status
    assert isinstance(document["message"], str) and document["message"].strip()
    return document["message"]


def record_errors(answer):
    """The (index, field, code) triples of a 422."""
    assert answer.status == 422, answer
    assert answer.header("Content-Type").split(";")[0].strip() == "application/json", answer
    has_rate_headers(answer)
    document = json.loads(answer.body)
    assert set(document) == {"code", "message", "recordErrors"}, document
    assert document["code"] == 422 and document["message"].strip()
    found = []
    for error in document["recordErrors"]:
        assert {"index", "code", "message"} <= set(error) <= {"index", "field", "code", "message"}
        assert type(error["index"]) is int and error["message"].strip(), error
        assert error["code"] in ("REQUIRED", "INVALID_FORMAT"), error
        if "field" in error:
            assert error["field"].startswith(f"products[{error['index']}]"), error
        found.append((error["index"], error.get("field"), error["code"]))
    return found


def catalog_success(answer, count):
    assert answer.status == 200, answer
    assert answer.header("Content-Type").split(";")[0].strip() == "application/json", answer
    has_rate_headers(answer)
    document = json.loads(answer.body)
    assert set(document) == {"success", "message", "processedCount"}, document
    assert document["success"] is True and document["processedCount"] == count, document
    assert isinstance(document["message"], str) and document["message"].strip()
    return answer.body
