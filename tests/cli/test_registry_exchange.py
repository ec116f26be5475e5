"""registry export, import, detach: one registry for every node of a fleet."""
import json
import shutil

import pytest
from program import sluice


def run(*line, store, status=0, stdin=None):
    done = sluice(*line, store=store, stdin=stdin)
    assert done.status == status, done
    return done


def listing(store, *line):
    return run(*line, "--format", "json", store=store).json()


@pytest.fixture
def source(store):
    run("account", "create", "acme", "--rate-limit", "5/60", store=store)
    run("account", "create", "beta", store=store)
    run("shop", "create", "shop-1", "--account", "beta", store=store)
    run("token", "create", "--account", "acme", "--scope", "write_orders", store=store)
    return store


@pytest.fixture
def edge(tmp_path, source):
    """A new store with the fleet's key."""
    path = tmp_path / "edge"
    run("init", store=path)
    (path / "master.key").chmod(0o600)
    shutil.copy(source / "master.key", path / "master.key")
    (path / "master.key").chmod(0o400)
    return path


def exported(store, tmp_path, name="fleet.registry"):
    run("registry", "export", tmp_path / name, store=store)
    return tmp_path / name


def everything(store):
    return [listing(store, what, "list") for what in ("account", "shop", "token")]


def test_an_import_equals_the_source_and_lists_the_changes(source, edge, tmp_path):
    file = exported(source, tmp_path)
    assert file.stat().st_mode & 0o777 == 0o600
    changes = listing(edge, "registry", "import", file)
    token = listing(source, "token", "list")[0]["token_id"]
    assert changes == [
        {"kind": "account", "id": "acme", "change": "added"},
        {"kind": "account", "id": "beta", "change": "added"},
        {"kind": "shop", "id": "shop-1", "change": "added"},
        {"kind": "token", "id": token, "change": "added"},
    ]
    assert everything(edge) == everything(source)
    again = run("registry", "import", file, store=edge)
    assert again.out.startswith("nothing changed (revision ")
    assert listing(edge, "registry", "import", file) == []


def test_export_and_import_through_a_pipe(source, edge):
    text = run("registry", "export", "-", store=source).out
    assert json.loads(text.splitlines()[0])["format"] == "sluice-registry"
    table = run("registry", "import", "-", store=edge, stdin=text).out.splitlines()
    assert table[0].split() == ["kind", "id", "change"] and len(table) == 5


def test_the_file_has_no_secret_and_no_digest_of_one(store, tmp_path):
    run("account", "create", "acme", store=store)
    secret = "sixteen-bytes-at-least"
    run("token", "create", "--account", "acme", "--scope", "write_orders", "--secret-from", "-",
        store=store, stdin=secret)
    text = exported(store, tmp_path).read_text()
    import hashlib

    assert secret not in text and hashlib.sha256(secret.encode()).hexdigest() not in text


def test_a_file_of_another_key_is_refused_in_clear_words(source, tmp_path):
    other = tmp_path / "other"
    run("init", store=other)
    refused = run("registry", "import", exported(source, tmp_path), store=other, status=1)
    assert "another master key" in refused.err and refused.err.count("\n") == 1
    assert everything(other) == [[], [], []]


def test_a_file_that_was_changed_or_cut_is_refused(source, edge, tmp_path):
    file = exported(source, tmp_path)
    text = file.read_text()
    for changed in (text.replace('"suspended":false', '"suspended":true ', 1), text[:-20],
                    text.replace('"5/60"', '"6/60"')):
        file.write_text(changed)
        assert "damaged" in run("registry", "import", file, store=edge, status=1).err
    file.write_text("something else")
    assert 'it is not a registry that "sluice registry export" made' in run("registry", "import", file, store=edge, status=1).err
    assert "No such file" in run("registry", "import", tmp_path / "none", store=edge, status=1).err
    assert everything(edge) == [[], [], []]
    run("registry", "import", exported(source, tmp_path, "made"), store=edge)
    assert everything(edge) == everything(source)


def test_revocation_arrives_and_stays(source, edge, tmp_path):
    before = exported(source, tmp_path, "before")
    run("registry", "import", before, store=edge)
    token = listing(source, "token", "list")[0]["token_id"]
    run("token", "revoke", token, store=source)
    after = exported(source, tmp_path, "after")
    assert listing(edge, "registry", "import", after) == [
        {"kind": "token", "id": token, "change": "revoked"}
    ]
    assert "older" in run("registry", "import", before, store=edge, status=1).err
    run("registry", "import", before, "--force", store=edge)
    assert listing(edge, "token", "list")[0]["revoked_at"] is not None


def test_a_follower_changes_nothing_but_revokes(source, edge, tmp_path):
    run("registry", "import", exported(source, tmp_path), store=edge)
    for line in (
        ("account", "create", "x"), ("account", "suspend", "acme"),
        ("account", "set", "acme", "--rate-limit", "default"),
        ("shop", "create", "x", "--account", "acme"), ("shop", "suspend", "shop-1"),
        ("token", "create", "--account", "acme", "--scope", "write_orders"),
        ("registry", "export", "-"),
    ):
        refused = run(*line, store=edge, status=1)
        assert "sluice registry detach" in refused.err, line
    token = listing(edge, "token", "list")[0]["token_id"]
    run("token", "revoke", token, store=edge)
    run("registry", "detach", store=edge)
    run("account", "create", "x", store=edge)
    assert "follows no other" in run("registry", "detach", store=edge, status=1).err


def test_stores_with_accounts_of_their_own_do_not_mix(source, edge, tmp_path):
    run("account", "create", "beta", store=edge)
    refused = run("registry", "import", exported(source, tmp_path), store=edge, status=1)
    assert "account" in refused.err and "sluice init" in refused.err
    assert [row["account_id"] for row in listing(edge, "account", "list")] == ["beta"]
    new = tmp_path / "new"
    run("init", store=new)
    shutil.copy2(source / "master.key", new / "master.key")
    run("registry", "import", exported(source, tmp_path), store=new)


def test_a_fleet_rotates_to_one_key(source, edge, tmp_path):
    run("registry", "import", exported(source, tmp_path), store=edge)
    run("key", "rotate", store=source)
    file = exported(source, tmp_path)
    assert "another master key" in run("registry", "import", file, store=edge, status=1).err
    run("key", "rotate", "--to", source / "master.key", store=edge)
    run("registry", "import", file, store=edge)
    assert (edge / "master.key").read_text() == (source / "master.key").read_text()


@pytest.mark.parametrize("line", [("export",), ("import",), ("import", "a", "b"), ("export", "--from", "x")])
def test_usage(store, line):
    run("registry", *line, store=store, status=2)
