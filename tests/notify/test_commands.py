"""`sluice notify add` and the other commands on destinations."""

import base64
import os
import re
import shutil
import stat

import pytest
from harness.cli import Sluice

URL = "https://hooks.example.com/in/secret-path"


def add(site, name, *options, url=URL):
    return site.sluice.json("notify", "add", name, "--account", "acme", "--url", url, *options)


def one(answer):
    return answer[0] if isinstance(answer, list) else answer


def test_an_added_destination_is_listed_without_its_path_and_its_secret_is_shown_once(site):
    secret = one(add(site, "erp", "--types", "payout.paid,order.attributed"))["secret"]
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", secret)
    (row,) = site.sluice.json("notify", "list")
    assert (row["id"], row["account_id"], row["host"], row["state"], row["lag"]) == ("erp", "acme", "hooks.example.com", "active", 0)
    shown = site.show("erp")
    assert shown["url"] == URL and shown["types"] == ["payout.paid", "order.attributed"]
    assert secret not in str(shown) and "secret-path" not in site.sluice("notify", "list")
    assert site.sluice.json("notify", "list", "--account", "other") == []


def test_without_destinations_the_list_is_empty(site):
    assert site.sluice.json("notify", "list") == []
    assert "sluice notify add" in site.sluice.refuses("notify", "show", "erp")


@pytest.mark.parametrize("url, why", [
    ("http://hooks.example.com/", "must begin with https://; --allow-private CIDR admits http within it"),
    ("https://127.1/", "has an address that is refused (loopback)"),
    ("https://10.0.0.5/", "has an address that is refused (private)"),
    ("https://[::ffff:10.0.0.1]/", "has an address that is refused (IPv4-mapped)"),
    ("https://[64:ff9b::a00:1]/", "has an address that is refused (NAT64)"),
    ("https://0x7f000001/", "has an address that is refused (loopback)"),
    ("https://user:pass@hooks.example.com/", "must not have a user name or password; see --header-from"),
    ("ftp://hooks.example.com/", "must begin with https://"),
    ("https:///etc", "is not valid"),
    ("https://hooks.example.com/#x", "must not have a fragment (#)"),
    ("https://h\u00f6ks.example.com/", "printable ASCII"),
])
def test_a_destination_that_is_refused_says_which_address_and_why(site, url, why):
    error = site.sluice.refuses("notify", "add", "erp", "--account", "acme", "--url", url)
    assert why in error
    assert site.sluice.json("notify", "list") == []


def test_a_block_admits_private_addresses_and_http_within_it(site):
    add(site, "inner", "--allow-private", "10.1.0.0/16", url="http://10.1.2.3/hook")
    assert "in no --allow-private block" in site.sluice.refuses(
        "notify", "add", "out", "--account", "acme", "--url", "http://93.184.216.34/", "--allow-private", "10.1.0.0/16")
    assert "(private)" in site.sluice.refuses(
        "notify", "add", "out", "--account", "acme", "--url", "https://10.2.0.1/", "--allow-private", "10.1.0.0/16")


@pytest.mark.parametrize("options, code, why", [
    (("--types", "order.lost"), 2, "commission.changed"),
    (("--types", ""), 2, "commission.changed"),
    (("--from", "yesterday"), 1, "is not start, now or a cursor"),
    (("--allow-private", "0.0.0.0/0"), 2, "the block is too large"),
    (("--allow-private", "10.0.0.5/8"), 2, "bits beyond its prefix"),
])
def test_options_that_are_wrong_are_refused(site, options, code, why):
    error = site.sluice.refuses("notify", "add", "erp", "--account", "acme", "--url", URL, *options, code=code)
    assert why in error
    assert site.sluice.json("notify", "list") == []


@pytest.mark.parametrize("line, why", [
    ("no colon", "one line"), ("Host: other", "is set by sluice itself"), ("Webhook-Id: 1", "is set by sluice itself"),
    ("X-Key: a\nX-Other: b", "printable ASCII"), ("X Key: a", "one line"),
])
def test_a_header_that_would_change_the_request_is_refused(site, line, why):
    file = site.folder / "header"
    file.write_text(line)
    file.chmod(0o600)
    assert why in site.sluice.refuses("notify", "add", "erp", "--account", "acme", "--url", URL, "--header-from", file)


def test_unknown_accounts_and_destinations_are_named(site):
    assert "nobody" in site.sluice.refuses("notify", "add", "erp", "--account", "nobody", "--url", URL)
    add(site, "erp")
    assert "choose another id" in site.sluice.refuses("notify", "add", "erp", "--account", "acme", "--url", URL)
    for verb in ("show", "pause", "resume", "remove", "rotate", "log", "test"):
        assert 'there is no destination "other"' in site.sluice.refuses("notify", verb, "other")


def test_pause_and_resume_change_the_state_once(site):
    add(site, "erp")
    assert site.sluice("notify", "pause", "erp") == "paused destination erp\n"
    assert site.show("erp")["state"] == "paused"
    assert "paused already" in site.sluice.refuses("notify", "pause", "erp")
    site.sluice("notify", "resume", "erp")
    assert site.show("erp")["state"] == "active"
    assert "neither paused nor disabled" in site.sluice.refuses("notify", "resume", "erp")


def test_a_refused_change_of_a_destination_is_in_no_log(site):
    add(site, "erp")
    site.sluice("notify", "pause", "erp")
    for verb in ("pause", "resume", "remove", "rotate"):
        site.sluice.refuses("notify", verb, "typo")
    site.sluice.refuses("notify", "pause", "erp")  # it is paused already
    changes = site.sluice("report", "changes")
    assert changes.count("notify pause erp") == 1 and "typo" not in changes


def test_a_removed_destination_is_gone_and_its_id_is_free(site):
    add(site, "erp")
    site.sluice("notify", "remove", "erp")
    assert site.sluice.json("notify", "list") == []
    add(site, "erp")


def test_from_start_counts_the_changes_that_wait_and_from_now_none(site):
    site.credit("1.00", "2.00")
    add(site, "all", "--from", "start")
    add(site, "new")
    assert site.show("all")["lag"] >= 2
    assert site.show("new")["lag"] == 0
    site.credit("3.00")  # no process runs that would note it
    assert site.show("new")["lag"] == 1
    assert {row["id"]: row["lag"] for row in site.sluice.json("notify", "list")}["new"] == 1
    site.sluice("notify", "resume", "new", "--from", "now")
    assert site.show("new")["lag"] == 1  # the process that sends moves the cursor
    add(site, "last")
    add(site, "same", "--from", site.show("last")["cursor"])
    assert site.show("same")["lag"] == 0


def test_a_cursor_of_another_account_is_refused(site):
    site.sluice.account("beta")
    add(site, "erp")
    cursor = site.show("erp")["cursor"]
    assert "a cursor of this account" in site.sluice.refuses(
        "notify", "add", "b", "--account", "beta", "--url", URL, "--from", cursor)


def test_a_cursor_needs_no_token(site):
    other = Sluice(site.folder / "other")
    other("init")
    other.account("acme")
    other.json("notify", "add", "erp", "--account", "acme", "--url", URL)
    own = one(other.json("notify", "show", "erp"))["cursor"]
    other.json("notify", "add", "c", "--account", "acme", "--url", URL, "--from", own)
    assert "is not start, now or a cursor" in other.refuses(
        "notify", "add", "b", "--account", "acme", "--url", URL, "--from", own[:-1])


def test_rotation_shows_another_secret_and_when_the_old_one_ends(site):
    first = one(add(site, "erp"))["secret"]
    assert site.show("erp")["old_secret_until"] is None
    second = one(site.sluice.json("notify", "rotate", "erp"))["secret"]
    assert first != second and second.startswith("whsec_")
    assert site.show("erp")["old_secret_until"] is not None


def test_files_belong_to_the_owner_alone_and_hold_no_secret(site):
    secret = one(add(site, "erp"))["secret"]
    store = site.sluice.store
    assert stat.S_IMODE(os.stat(store / "notify.key").st_mode) == 0o400
    assert stat.S_IMODE(os.stat(store / "notify").st_mode) == 0o700
    raw = base64.b64decode(secret.removeprefix("whsec_"))
    assert len(raw) == 32 and raw not in (store / "notify" / "data.mdb").read_bytes()


def test_a_folder_of_another_store_is_refused(site):
    add(site, "erp")
    other = Sluice(site.folder / "other")
    other("init")
    for name in ("notify", "notify.key"):
        source = site.sluice.store / name
        (shutil.copytree if source.is_dir() else shutil.copy2)(source, other.store / name)
    if os.geteuid() == 0:
        owner = os.stat(other.store / "format")
        for path in (other.store / "notify", *(other.store / "notify").iterdir(), other.store / "notify.key"):
            os.chown(path, owner.st_uid, owner.st_gid)
    assert "belongs to another store" in other.refuses("notify", "list")
    other("account", "create", "acme")
    for name in ("notify", "notify.key"):  # "move it away and add the destinations again"
        (other.store / name).rename(other.store.with_name(f"old {name}"))
    other("notify", "add", "erp", "--account", "acme", "--url", "https://hooks.example.com/")
    assert [row["id"] for row in other.json("notify", "list")] == ["erp"]


def test_a_damaged_row_is_named(site):
    add(site, "erp")
    file = site.sluice.store / "notify" / "data.mdb"
    data = file.read_bytes()
    file.write_bytes(data.replace(b"hooks.example.com", b"evil0.example.com"))
    said = site.sluice.refuses("notify", "list")
    assert "is damaged (destination)" in said and "move the folder away and add the destinations again" in said
    (site.sluice.store / "notify").rename(site.folder / "kept")
    add(site, "erp")
    assert [row["id"] for row in site.sluice.json("notify", "list")] == ["erp"]
