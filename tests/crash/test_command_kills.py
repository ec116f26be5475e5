"""Commands that change several files which belong together, killed at every call that changes one.

After each kill the store works as before or as after: the token of its shop verifies (a reader like nginx's), the
commands of the operator work, a backup can be restored and works, and the same command, repeated, ends what was begun.
"""

import hashlib
import hmac
import shutil
import signal
import threading

import pytest

from faults.shim import KILL, SLUICE, Shim
from harness import paths
from harness.cli import Sluice

pytestmark = pytest.mark.crash
CHANGING = ["WRITE", "META", "SYNC", "RENAME", "UNLINK", "TRUNCATE", "ATTRIBUTE"]
BODY = '{"platform_order_id":"o1"}'
SECRET = "a secret of sixteen bytes or more"


class Scene:
    """A store with a token, a fleet's registry that it may import, and keys that it may be given."""

    def __init__(self, folder):
        self.folder = folder
        self.store = self.make("store", SECRET)
        self.token_of_store = self.token
        self.other = self.make("other", SECRET + "!", account="elsewhere")
        self.registry_file = folder / "registry.ndjson"

    def make(self, name, secret, account="acme"):
        sluice = Sluice(self.folder / name)
        sluice("init")
        sluice.account(account)
        sluice.shop(f"{account}-shop", account)
        self.token = sluice.token(account, "write_orders", secret=secret)[0]
        return sluice.store

    def copy(self):
        store = self.folder / "copy"
        shutil.rmtree(store, ignore_errors=True)
        shutil.copytree(self.store, store)
        return Sluice(store)


def works(sluice, secret=SECRET, shop="acme-shop"):
    """nginx's reader of the registry finds the shop and decrypts its token's secret."""
    signature = hmac.new(secret.encode(), BODY.encode(), hashlib.sha256).hexdigest()
    said = sluice.run("verify", "--shop", shop, f"--signature={signature}", stdin=BODY)
    assert said.returncode == 0, said.stdout + said.stderr


def key_lines(sluice):
    return (sluice.store / "master.key").read_text().splitlines()


def unfinished(sluice):
    return [file.name for file in sluice.store.iterdir() if ".new" in file.name]


def check_backup(sluice, folder):
    for name in ("backup", "restored"):
        shutil.rmtree(folder / name, ignore_errors=True)
    sluice("backup", folder / "backup")
    restored = Sluice(folder / "restored")
    restored("restore", folder / "backup")
    works(restored)


def each_kill(scene, tmp_path, library, arguments):
    """Yields the store after each kill of the command, on a fresh copy each time; at the end the one where the command
    was left alone."""
    shim = Shim(library, tmp_path)
    for nth in range(1, 1000):
        sluice = scene.copy()
        shim.arm(CHANGING, KILL, nth=nth, roles=SLUICE)
        killed = Sluice(sluice.store, shim.environment(sluice.store)).run(*arguments)
        shim.disarm()
        if shim.injected == 0:
            assert killed.returncode == 0, killed.stderr
            assert nth > 5, "a command that was not killed proves nothing"
            yield sluice
            return
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        yield sluice


@pytest.fixture(name="scene")
def scene_fixture(tmp_path):
    return Scene(tmp_path)


@pytest.mark.parametrize("given", [False, True], ids=["to a random key", "to a given key"])
def test_key_rotate(scene, tmp_path, fault_shim, given):
    """The registry, master.key and command.key."""
    arguments = ["key", "rotate", *(["--to", scene.other / "master.key"] if given else [])]
    before = key_lines(Sluice(scene.store))
    states = set()
    for sluice in each_kill(scene, tmp_path, fault_shim, arguments):
        keys = key_lines(sluice)
        state = (len(keys), keys[0] == before[0])
        works(sluice)
        sluice.token("acme", "read_orders")
        said = sluice.run("doctor").stdout
        assert not [name for name in unfinished(sluice) if name.startswith("command.key")], "it holds keys"
        assert ("rotation of the master key was interrupted" in said) == (len(keys) == 2), said
        if state not in states:
            check_backup(sluice, tmp_path)
        states.add(state)
        sluice(*arguments)
        works(sluice)
        assert len(key_lines(sluice)) == 1 and key_lines(sluice) != before
        assert not given or key_lines(sluice) == key_lines(Sluice(scene.other))
        assert not unfinished(sluice)
    assert states == {(1, True), (2, True), (1, False)} or states == {(1, True), (2, True), (2, False), (1, False)}


@pytest.mark.parametrize("arguments", [
    ("account", "create", "beta"),
    ("token", "create", "--account", "acme", "--scope", "read_orders"),
], ids=lambda arguments: " ".join(arguments[:2]))
def test_registry_and_its_published_copy(scene, tmp_path, fault_shim, arguments):
    """nginx reads the copy; a command that changes the registry is complete, or the next command publishes it."""
    for sluice in each_kill(scene, tmp_path, fault_shim, arguments):
        works(sluice)
        sluice.token("acme", "read_orders")  # publishes
        said = sluice.run("doctor").stdout
        assert "registry publish" not in said, said
        assert not unfinished(sluice)
    check_backup(sluice, tmp_path)


def test_token_revoke(scene, tmp_path, fault_shim):
    """A revoked token is revoked in the copy that nginx reads as soon as any command has opened the registry."""
    for sluice in each_kill(scene, tmp_path, fault_shim, ["token", "revoke", scene.token_of_store]):
        sluice("token", "list")
        revoked = [row["revoked_at"] is not None for row in sluice.json("token", "list")]
        signature = hmac.new(SECRET.encode(), BODY.encode(), hashlib.sha256).hexdigest()
        verified = sluice.run("verify", "--shop", "acme-shop", f"--signature={signature}", stdin=BODY).returncode == 0
        assert revoked == [not verified]
        sluice.run("token", "revoke", scene.token_of_store)
        assert [row["revoked_at"] is not None for row in sluice.json("token", "list")] == [True]


def test_backup_beside_key_rotations(scene, tmp_path):
    """Whichever rotation comes between the copies of registry and key, the copied key opens the copied registry."""
    sluice = scene.copy()
    stop = threading.Event()

    def rotate():
        while not stop.is_set():
            sluice("key", "rotate")

    rotating = threading.Thread(target=rotate)
    rotating.start()
    try:
        for _ in range(4):
            check_backup(sluice, tmp_path)
    finally:
        stop.set()
        rotating.join()


def test_backup_of_a_store_with_a_foreign_key_says_so(scene, tmp_path):
    sluice = scene.copy()
    (sluice.store / "master.key").chmod(0o600)
    shutil.copy(scene.other / "master.key", sluice.store / "master.key")
    said = sluice.refuses("backup", tmp_path / "b")
    assert "the master key is not the one of" in said and "the backup is complete" in said, said
