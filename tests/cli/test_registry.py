"""account, shop, token, key: what an administrator sets up."""
import concurrent.futures
import csv
import hashlib
import hmac
import io
import re

import pytest
from program import sluice

SECRET = "0123456789abcdef-given"


@pytest.fixture
def acme(store):
    assert sluice("account", "create", "acme", store=store).status == 0
    assert sluice("shop", "create", "shop-1", "--account", "acme", store=store).status == 0
    return store


def listing(store, *line):
    run = sluice(*line, "--format", "json", store=store)
    assert run.status == 0, run.err
    return run.json()


def test_accounts_keep_their_settings(store):
    assert sluice("account", "create", "a", "--rate-limit", "5/1", store=store).status == 0
    assert sluice("account", "create", "b", store=store).status == 0
    rows = listing(store, "account", "list")
    assert [(r["account_id"], r["rate_limit"], r["suspended"]) for r in rows] == [("a", "5/1", False), ("b", None, False)]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3})?Z", r["created_at"]) for r in rows)
    assert sluice("account", "set", "a", "--rate-limit", "default", store=store).status == 0
    assert sluice("account", "set", "b", "--rate-limit", "7/60", store=store).status == 0
    assert [r["rate_limit"] for r in listing(store, "account", "list")] == [None, "7/60"]


@pytest.mark.parametrize("what", ["account", "shop"])
def test_suspend_and_resume(acme, what):
    name = {"account": "acme", "shop": "shop-1"}[what]
    assert sluice(what, "suspend", name, store=acme).status == 0
    assert listing(acme, what, "list")[0]["suspended"] is True
    assert sluice(what, "resume", name, store=acme).status == 0
    assert listing(acme, what, "list")[0]["suspended"] is False


def test_shops_of_one_account(acme):
    assert sluice("account", "create", "beta", store=acme).status == 0
    assert sluice("shop", "create", "shop-2", "--account", "beta", store=acme).status == 0
    assert [r["shop_id"] for r in listing(acme, "shop", "list")] == ["shop-1", "shop-2"]
    assert [r["shop_id"] for r in listing(acme, "shop", "list", "--account", "beta")] == ["shop-2"]


def test_every_format_says_the_same(acme):
    rows = listing(acme, "shop", "list")
    as_csv = list(csv.DictReader(io.StringIO(sluice("shop", "list", "--format", "csv", store=acme).out)))
    assert [row["shop_id"] for row in as_csv] == ["shop-1"]
    assert list(as_csv[0]) == list(rows[0])
    table = sluice("shop", "list", store=acme).out.splitlines()
    assert table[0].split() == list(rows[0])
    assert table[1].split()[0] == "shop-1"


def test_a_token_is_shown_once(acme):
    created = sluice("token", "create", "--account", "acme", "--scope", "write_orders,read_orders", "--format", "json",
                     store=acme)
    assert created.status == 0
    token = created.json()
    assert set(token) == {"token_id", "secret"} and len(token["secret"]) >= 32
    (row,) = listing(acme, "token", "list")
    assert row["token_id"] == token["token_id"]
    assert row["scopes"] == ["write_orders", "read_orders"]
    assert (row["expires_at"], row["revoked_at"]) == (None, None)
    for form in ("table", "json", "csv"):
        assert token["secret"] not in sluice("token", "list", "--format", form, store=acme).out
    assert sluice("token", "revoke", token["token_id"], store=acme).status == 0
    assert listing(acme, "token", "list")[0]["revoked_at"] is not None


def test_a_secret_may_be_given(acme, tmp_path):
    line = ["token", "create", "--account", "acme", "--scope", "write_orders", "--format", "json"]
    run = sluice(*line, "--secret-from", "-", stdin=SECRET + "\n", store=acme)
    assert set(run.json()) == {"token_id"} and SECRET not in run.err
    signature = hmac.new(SECRET.encode(), b"{}", hashlib.sha256).hexdigest()
    assert sluice("verify", "--shop", "shop-1", f"--signature={signature}", stdin="{}", store=acme).status == 0
    path = tmp_path / "secret"
    path.write_text("another-secret-0123456789\n")
    path.chmod(0o600)
    run = sluice(*line[:-2], "--secret-from", path, store=acme)  # as a table
    assert run.status == 0 and "another-secret" not in run.out + run.err and "only this once" not in run.err
    path.write_text("a-third-secret-0123456789\n")
    path.chmod(0o644)
    run = sluice(*line, "--secret-from", path, store=acme)
    assert run.status == 0 and "chmod 600" in run.err and "a-third-secret" not in run.err
    run = sluice(*line, "--secret-from", "-", stdin="too short", store=acme)
    assert run.status == 1 and "too short" not in run.err


def test_a_secret_goes_into_a_new_file(acme, tmp_path):
    """For scripts and shared screens: the secret is in the file and nowhere else."""
    line = ["token", "create", "--account", "acme", "--scope", "write_orders", "--format", "json"]
    path = tmp_path / "acme.secret"
    run = sluice(*line, "--secret-file", path, store=acme)
    assert run.status == 0, run.err
    assert run.json() == {"token_id": listing(acme, "token", "list")[0]["token_id"], "secret_file": str(path)}
    secret = path.read_text()
    assert len(secret.strip()) >= 32 and secret.strip() not in run.out + run.err
    assert path.stat().st_mode & 0o777 == 0o600

    body = tmp_path / "body"
    body.write_text("{}")
    signature = sluice("sign", body, "--token-file", path).out.strip()
    assert sluice("verify", body, "--signature", signature, "--shop", "shop-1", store=acme).status == 0


@pytest.mark.parametrize("name", ["acme.secret", "no-such-folder/acme.secret"])
def test_a_secret_file_that_cannot_be_made_makes_no_token(acme, tmp_path, name):
    (tmp_path / "acme.secret").write_text("keep me")
    run = sluice("token", "create", "--account", "acme", "--scope", "write_orders", "--secret-file", tmp_path / name,
                 store=acme)
    assert run.status == 1 and str(tmp_path / name) in run.err
    assert listing(acme, "token", "list") == []
    assert (tmp_path / "acme.secret").read_text() == "keep me"


def test_a_token_that_cannot_be_made_leaves_no_secret_file(acme, tmp_path):
    path = tmp_path / "acme.secret"
    run = sluice("token", "create", "--account", "nope", "--scope", "write_orders", "--secret-file", path, store=acme)
    assert run.status == 1 and not path.exists()


def test_expiry_as_time_or_span(acme):
    for when, expected in [("2031-01-31T00:00:00+01:00", "2031-01-30T23:00:00Z"), ("90d", None)]:
        run = sluice("token", "create", "--account", "acme", "--scope", "write_orders", "--expires", when, store=acme)
        assert run.status == 0
        last = [r["expires_at"] for r in listing(acme, "token", "list") if r["expires_at"]]
        assert expected is None or expected in last


def test_at_most_eight_active_tokens_share_a_scope(acme):
    line = ["token", "create", "--account", "acme", "--scope", "write_orders"]
    assert [sluice(*line, store=acme).status for _ in range(9)] == [0] * 8 + [1]
    assert sluice("token", "create", "--account", "acme", "--scope", "write_products", store=acme).status == 0


def test_rotating_the_key_keeps_the_secrets(acme, tmp_path):
    sluice("token", "create", "--account", "acme", "--scope", "write_orders", "--secret-from", "-", stdin=SECRET,
           store=acme)
    body = tmp_path / "body"
    body.write_text('{"a":1}')
    secret = tmp_path / "secret"
    secret.write_text(SECRET)
    secret.chmod(0o600)
    signature = sluice("sign", body, "--token-file", secret).out.strip()
    before = (acme / "master.key").read_bytes()
    assert sluice("key", "rotate", store=acme).status == 0
    assert (acme / "master.key").read_bytes() != before
    run = sluice("verify", body, "--signature", signature, "--shop", "shop-1", store=acme)
    assert (run.status, run.out) == (0, "the signature matches\n")


def test_tokens_are_made_while_the_key_is_rotated(acme, tmp_path):
    """Between the file and the registry the key was replaced, and the command spoke of a restored store."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        made = pool.submit(lambda: [sluice("token", "create", "--account", "acme", "--scope", "read_orders", store=acme)
                                    for _ in range(8)])
        exported = pool.submit(lambda: [sluice("registry", "export", tmp_path / str(number), store=acme)
                                        for number in range(40)])
        while not (made.done() and exported.done()):
            assert sluice("key", "rotate", store=acme).status == 0
    assert [run.err for run in made.result() + exported.result() if run.status != 0] == []


@pytest.mark.parametrize(
    "line, status, expected",
    [
        (["account", "create", "acme"], 1, "acme"),
        (["account", "set", "nope", "--rate-limit", "1/1"], 1, "nope"),
        (["account", "suspend", "nope"], 1, "nope"),
        (["shop", "create", "s", "--account", "nope"], 1, "nope"),
        (["shop", "create", "shop-1", "--account", "acme"], 1, "shop-1"),
        (["shop", "suspend", "nope"], 1, "nope"),
        (["token", "create", "--account", "nope", "--scope", "write_orders"], 1, "nope"),
        (["token", "revoke", "nope"], 1, "nope"),
        (["account", "create", "bad id"], 2, "expected 1 to 128 of"),
        (["account", "create", "x" * 129], 2, "expected 1 to 128 of"),
        (["account", "create"], 2, "ID is required"),
        (["account", "create", "a", "--rate-limit", "5"], 2, "expected REQUESTS/SECONDS"),
        (["account", "set", "acme"], 2, "--rate-limit is required"),
        (["account", "bogus"], 2, "expected one of: create, set, list, suspend, resume"),
        (["account"], 2, "a command is missing"),
        (["account", "list", "--format", "xml"], 2, "expected table, json or csv"),
        (["shop", "create", "s"], 2, "--account is required"),
        (["token", "create", "--account", "acme", "--scope", "all"], 2, "write_orders, write_products, read_orders"),
        (["token", "create", "--account", "acme", "--scope", "write_orders", "--expires", "soon"], 2, "90d"),
        (["token", "revoke"], 2, "TOKEN_ID is required"),
    ],
)
def test_failures_are_one_line_with_the_expected_value(acme, line, status, expected):
    run = sluice(*line, store=acme)
    assert run.status == status
    assert expected in run.err
    assert run.out == ""
    assert len(run.err.splitlines()) == (1 if status == 1 else 2)


def test_no_secret_is_in_the_process_arguments(acme, tmp_path):
    """There is no option that takes a secret itself."""
    for line in (["token", "create", "--help"], ["send", "events", "--help"], ["sign", "--help"]):
        text = sluice(*line).out
        assert not re.search(r"--(secret|token|key)\s", text)
