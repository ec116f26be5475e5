"""Commands that change several files which belong together, each killed at calls that change one.

After each kill the next command works, or refuses and names what to do, which then works: the token of the shop
verifies (a reader like nginx's), a backup can be restored, no temporary file of the killed command is left, and no key
lies outside the files of keys. test_command_kills.py kills at many calls, test_some_kills.py at a few of each command.

SLUICE_FAULT_STRIDE: at every how many calls (make torture: 1, all of them).
"""

import grp
import hashlib
import hmac
import json
import os
import random
import re
import shutil
import signal
import stat

from crash.site import SEED
from faults.shim import KILL, SLUICE, Shim
from harness import queue_edit
from harness.cli import Sluice, now

CHANGING = ["WRITE", "META", "SYNC", "RENAME", "UNLINK", "TRUNCATE", "ATTRIBUTE", "MAKE", "MODE"]
STRIDE = int(os.environ.get("SLUICE_FAULT_STRIDE", "5"))
BODY = '{"platform_order_id":"o1"}'
SECRET = "a secret of sixteen bytes or more"
PROGRAM = "[[program]]\nid = 'spring'\naccount = 'acme'\ndefault_rate = '10%'\n"
CREATORS = "creator_id,program_id,payee\nann,spring,ref-ann\n"
PAYEES = "payee,name,iban,bic\nref-ann,Ann & Co,DE89370400440532013000,\n"
KEY_FILES = {"master.key", "command.key", "notify.key"}
KEY_LINE = re.compile(rb"^[0-9a-f]{64}( \d+)?$", re.M)


class Kills:
    """Runs a command, and kills it at every STRIDE-th call that changes a file, or at `few`. The last calls, which
    complete the command, are always among them."""

    def __init__(self, library, folder, few=None):
        self.shim, self.few = Shim(library, folder), few

    def calls(self, total):
        if self.few is None:
            first = random.Random(SEED).randrange(STRIDE) + 1
            return sorted({*range(first, total + 1, STRIDE), *range(max(1, total - 7), total + 1)})
        last = (self.few + 1) // 2
        spread = self.few - last
        return sorted({*(total * (at + 1) // (spread + 1) for at in range(spread)), *range(total + 1 - last, total + 1)})

    def run(self, begin, arguments, folder, nth):
        sluice = begin()
        self.shim.arm(CHANGING, KILL, nth=nth, roles=SLUICE)
        done = Sluice(sluice.store, self.shim.environment(folder or sluice.store)).run(*arguments)
        self.shim.disarm()
        assert done.returncode == (-signal.SIGKILL if self.shim.injected else 0), done.stderr
        return sluice

    def each(self, begin, arguments, folder=None):
        """Yields the store that `begin` made after each kill of the command, and first the one where it was left alone.
        `folder` is where calls count, if it is not the store."""
        yield self.run(begin, arguments, folder, 0)
        total = self.shim.seen
        assert total > 3, "a command that was not killed proves nothing"
        for nth in self.calls(total):
            yield self.run(begin, arguments, folder, nth)

    def ends(self, sluice, scene, states=frozenset(), expected=frozenset()):
        """A backup of the last store is whole, and the kills met no other states; all of them meet all states."""
        assert states <= expected, states
        if self.few is None:
            assert STRIDE > 1 or states == expected, states
            check_backup(sluice, scene.folder)


class Scene:
    """A store with money, a second one with another key, and fresh copies of the first."""

    def __init__(self, folder):
        self.folder, self.store = folder, folder / "store"
        self.token = self.make("store", SECRET)
        self.make("other", SECRET + "!", account="elsewhere")
        self.other_key = folder / "other" / "master.key"
        (folder / "program.toml").write_text(PROGRAM)
        (folder / "creators.csv").write_text(CREATORS)
        (folder / "payees.csv").write_text(PAYEES)
        sluice = Sluice(self.store)
        sluice("program", "apply", folder / "program.toml")
        sluice("creator", "import", folder / "creators.csv")
        credit(sluice, "first")

    def make(self, name, secret, account="acme"):
        sluice = Sluice(self.folder / name)
        sluice("init")
        sluice.account(account)
        sluice.shop(f"{account}-shop", account)
        return sluice.token(account, "write_orders", secret=secret)[0]

    def copy(self, store=None, name="copy"):
        shutil.rmtree(self.folder / name, ignore_errors=True)
        shutil.copytree(store or self.store, self.folder / name)
        return Sluice(self.folder / name)

    def new(self):
        shutil.rmtree(self.folder / "new", ignore_errors=True)
        return Sluice(self.folder / "new")


def credit_arguments(key):
    return ["credit", "--account", "acme", "--creator", "ann", "--program", "spring", "--amount", "12.00 USD",
            "--reason", "as agreed", "--key", key]


def credit(sluice, key):
    sluice(*credit_arguments(key))


def credits(sluice):
    return len([row for row in sluice.postings() if row["amount"] == "12.00"])


def verifies(sluice):
    """nginx's reader of the registry finds the shop and decrypts its token's secret."""
    signature = hmac.new(SECRET.encode(), BODY.encode(), hashlib.sha256).hexdigest()
    return sluice.run("verify", "--shop", "acme-shop", f"--signature={signature}", stdin=BODY).returncode == 0


def leftovers(folder):
    return [str(path) for path in folder.rglob("*") if ".new" in path.name or path.name == "unfinished"]


def stray_keys(folder):
    return [str(path) for path in folder.rglob("*") if path.is_file() and path.name not in KEY_FILES
            and KEY_LINE.search(path.read_bytes())]


def works(sluice):
    """The next command that writes."""
    sluice.token("acme", "read_orders")
    assert verifies(sluice)
    assert not leftovers(sluice.store), leftovers(sluice.store)
    assert not stray_keys(sluice.store)


def check_backup(sluice, folder):
    for name in ("backup", "restored"):
        shutil.rmtree(folder / name, ignore_errors=True)
    sluice("backup", folder / "backup")
    restored = Sluice(folder / "restored")
    restored("restore", folder / "backup")
    works(restored)


def key_lines(sluice):
    return (sluice.store / "master.key").read_text().splitlines()


def is_store(sluice):
    return (sluice.store / "format").exists()


def is_begun(sluice):
    return sluice.store.exists() and any(sluice.store.iterdir())


# The commands. Each function kills one of them, as often as `kills` does.


def key_rotate(kills, scene, given=False):
    """The registry, master.key and command.key."""
    arguments = ["key", "rotate", *(["--to", scene.other_key] if given else [])]
    before = key_lines(Sluice(scene.store))
    states = set()
    for sluice in kills.each(scene.copy, arguments):
        keys = key_lines(sluice)
        state = (len(keys), keys[0] == before[0])
        said = sluice.run("doctor").stdout
        assert ("rotation of the master key was interrupted" in said) == (len(keys) == 2), said
        works(sluice)
        if state not in states and kills.few is None:
            check_backup(sluice, scene.folder)
        states.add(state)
        sluice(*arguments)
        works(sluice)
        assert len(key_lines(sluice)) == 1 and key_lines(sluice) != before
        assert not given or key_lines(sluice) == scene.other_key.read_text().splitlines()
    kills.ends(sluice, scene, states - {(2, False)}, {(1, True), (2, True), (1, False)})


def key_rotate_to_a_given_key(kills, scene):
    key_rotate(kills, scene, given=True)


def registry_change(kills, scene, arguments):
    """nginx reads the copy; a command that changes the registry is complete, or the next command publishes it."""
    for sluice in kills.each(scene.copy, arguments):
        works(sluice)
        said = sluice.run("doctor").stdout
        assert "registry publish" not in said, said
    kills.ends(sluice, scene)


def account_create(kills, scene):
    registry_change(kills, scene, ["account", "create", "beta"])


def token_create(kills, scene):
    registry_change(kills, scene, ["token", "create", "--account", "acme", "--scope", "read_orders"])


def token_create_into_a_file(kills, scene):
    """The registry, and a file: no token is valid whose secret is in no file."""
    file = scene.folder / "out" / "secret"
    arguments = ["token", "create", "--account", "acme", "--scope", "write_orders", "--secret-file", file]
    before = len(Sluice(scene.store).json("token", "list"))

    def begin():
        shutil.rmtree(file.parent, ignore_errors=True)
        file.parent.mkdir()
        return scene.copy()

    states = set()
    for sluice in kills.each(begin, arguments, folder=scene.folder):
        made = len(sluice.json("token", "list")) - before
        assert not made or len(file.read_text().strip()) >= 32
        if file.exists():
            said = sluice.refuses(*arguments)
            assert str(file) in said and len(sluice.json("token", "list")) == before + made, said
            if not made:
                file.unlink()
        if not made:
            sluice(*arguments)
        signature = hmac.new(file.read_text().strip().encode(), BODY.encode(), hashlib.sha256).hexdigest()
        assert sluice.run("verify", "--shop", "acme-shop", f"--signature={signature}", stdin=BODY).returncode == 0
        states.add(made)
        works(sluice)
    kills.ends(sluice, scene, states, {0, 1})


def token_revoke(kills, scene):
    """A revoked token is revoked in the copy that nginx reads as soon as any command has opened the registry."""
    for sluice in kills.each(scene.copy, ["token", "revoke", scene.token]):
        sluice("token", "list")
        (revoked,) = [row["revoked_at"] is not None for row in sluice.json("token", "list")]
        assert revoked is not verifies(sluice)
        sluice.run("token", "revoke", scene.token)
        assert [row["revoked_at"] is not None for row in sluice.json("token", "list")] == [True]
        assert not leftovers(sluice.store), leftovers(sluice.store)


def registry_import(kills, scene):
    """A new node of a fleet: the registry, and the copy that nginx reads."""
    exported = scene.folder / "registry.ndjson"
    exported.write_text(Sluice(scene.store)("registry", "export", "-"))
    shutil.rmtree(scene.folder / "node", ignore_errors=True)
    node = Sluice(scene.folder / "node")
    node("init")
    (node.store / "master.key").unlink()
    shutil.copy(scene.store / "master.key", node.store / "master.key")
    states = set()
    for sluice in kills.each(lambda: scene.copy(node.store), ["registry", "import", exported]):
        accounts = [row["account_id"] for row in sluice.json("account", "list")]
        states.add(tuple(accounts))
        sluice("registry", "import", exported)
        assert [row["account_id"] for row in sluice.json("account", "list")] == ["acme"]
        assert verifies(sluice) and not leftovers(sluice.store) and not stray_keys(sluice.store)
    sluice("registry", "detach")
    kills.ends(sluice, scene, states, {(), ("acme",)})


def registry_export(kills, scene):
    """A file that a person named is whole or absent; a temporary file next to it is kept."""
    folder = scene.folder / "out"
    whole = Sluice(scene.store)("registry", "export", "-").splitlines()

    def begin():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return scene.copy()

    for sluice in kills.each(begin, ["registry", "export", folder / "r"], folder=scene.folder):
        file = folder / "r"
        assert not file.exists() or len(file.read_text().splitlines()) == len(whole)
        kept = {path.name for path in folder.iterdir()}
        sluice("registry", "export", folder / "r")
        assert len(file.read_text().splitlines()) == len(whole)
        assert {path.name for path in folder.iterdir()} == kept | {"r"}, "nothing of a person is removed"
        works(sluice)


def notify_add(kills, scene):
    """The folder of the destinations, its key, and its row."""
    arguments = ["notify", "add", "erp", "--account", "acme", "--url", "https://hooks.example.com/", "--from", "start"]
    states = set()
    for sluice in kills.each(scene.copy, arguments):
        before = [row["id"] for row in sluice.json("notify", "list")]
        states.add(len(before))
        again = sluice.run(*arguments)
        assert again.returncode == (1 if before else 0), again.stderr
        assert [row["id"] for row in sluice.json("notify", "list")] == ["erp"]
        works(sluice)
    kills.ends(sluice, scene, states, {0, 1})


def payout_export(kills, scene):
    """The payout, its message in the store, and the file for the bank: never a file for a payout that is not sent."""
    begun = scene.copy(name="closed")
    closed = begun.json("payout", "close", "--account", "acme", "--until", now())["payouts"]
    out = scene.folder / "out" / "may.csv"
    arguments = ["payout", "export", closed[0]["payout_run"], "--account", "acme", "--form", "csv",
                 "--payees", scene.folder / "payees.csv", "--out", out]

    def begin():
        shutil.rmtree(out.parent, ignore_errors=True)
        out.parent.mkdir()
        return scene.copy(begun.store)

    def state(sluice):
        return [row["state"] for row in sluice.json("payout", "list", "--account", "acme")]

    states, texts = set(), set()
    for sluice in kills.each(begin, arguments, folder=scene.folder):
        sluice.drain()
        (before,) = state(sluice)
        states.add(before)
        assert before == "SENT" or not out.exists()
        if out.exists():
            texts.add(re.sub(r"M\d{12}-\w+", "M", out.read_text()))
        if before == "SENT":
            (sent,) = sluice.json("payout", "list", "--account", "acme")
            sluice(*arguments[:2], *arguments[3:], "--again", sent["message"])
        else:
            sluice(*arguments)
        texts.add(re.sub(r"M\d{12}-\w+", "M", out.read_text()))
        assert state(sluice) == ["SENT"]
        works(sluice)
    assert len(texts) == 1 and "12.00" in texts.pop()
    kills.ends(sluice, scene, states, {"APPROVED", "SENT"})


def credit_without_a_worker(kills, scene):
    """The queue, the ledger, the archive with its order of batches, and the trim of the queue."""
    states = set()
    for sluice in kills.each(scene.copy, credit_arguments("second")):
        sluice.drain()
        states.add(credits(sluice))
        credit(sluice, "second")
        assert credits(sluice) == 2, "once, by its key"
        sluice("doctor", "--replay")
        works(sluice)
    kills.ends(sluice, scene, states, {1, 2})


def link_create(kills, scene):
    """The ledger, the archive, and the file from which nginx redirects."""
    arguments = ["link", "create", "ann-1", "--account", "acme", "--program", "spring", "--creator", "ann",
                 "--to", "https://shop.example.com/a-page", "--key", "l"]
    states = set()
    for sluice in kills.each(scene.copy, arguments):
        sluice.drain()
        published = sluice.store / "links" / "published"
        links = [row["link_id"] for row in sluice.json("link", "list", "--account", "acme")]
        assert (published.exists() and b"a-page" in published.read_bytes()) == bool(links)
        states.add(len(links))
        sluice(*arguments)
        assert b"a-page" in published.read_bytes()
        assert [row["link_id"] for row in sluice.json("link", "list", "--account", "acme")] == ["ann-1"]
        sluice("doctor", "--replay")
        works(sluice)
    kills.ends(sluice, scene, states, {0, 1})


def export(kills, scene):
    """Tables, and the manifest that makes them an export."""
    folder = scene.folder / "out"

    def begin():
        shutil.rmtree(folder, ignore_errors=True)
        return scene.copy()

    states, whole = set(), set()
    for sluice in kills.each(begin, ["export", folder], folder=scene.folder):
        complete = (folder / "manifest.json").exists()
        states.add(complete)
        if not complete:
            if folder.exists() and any(folder.iterdir()):
                assert str(folder) in sluice.refuses("export", folder)
                shutil.rmtree(folder)
            sluice("export", folder)
        named = {file["name"] for file in json.loads((folder / "manifest.json").read_text())["files"]}
        whole.add(frozenset(named))
        assert {path.name for path in folder.iterdir()} == named | {"manifest.json"}
        works(sluice)
    assert len(whole) == 1
    kills.ends(sluice, scene, states, {False, True})


def ledger_rebuild(kills, scene):
    """A ledger in a new folder. One that a killed command left is refused, and not continued."""
    folder = scene.folder / "again"
    arguments = ["ledger", "rebuild", "--from", scene.folder / "copy" / "archive", "--into", folder]

    def begin():
        shutil.rmtree(folder, ignore_errors=True)
        return scene.copy()

    for sluice in kills.each(begin, arguments, folder=scene.folder):
        if folder.exists() and any(folder.iterdir()):
            assert str(folder) in sluice.refuses(*arguments)
            shutil.rmtree(folder)
        sluice(*arguments)
        works(sluice)
    shutil.rmtree(sluice.store / "ledger")
    shutil.move(folder, sluice.store / "ledger")
    assert credits(sluice) == 1
    sluice("doctor", "--replay")
    kills.ends(sluice, scene)


def forget(kills, scene):
    """The ledger and every segment of the archive that names the creator."""
    named = scene.copy(name="named")
    named("creator", "set", "ann", "--account", "acme", "--name", "Ann Erased")
    arguments = ["forget", "--creator", "ann", "--account", "acme", "--reason", "asked", "--key", "f"]
    for sluice in kills.each(lambda: scene.copy(named.store), arguments):
        sluice.drain()
        sluice(*arguments)
        sluice.drain()
        assert "Ann Erased" not in sluice("creator", "list")
        sluice("doctor", "--replay")
        works(sluice)
    kills.ends(sluice, scene)


def ledger_snapshot(kills, scene):
    """A copy of the ledger, and its seal."""
    for sluice in kills.each(scene.copy, ["ledger", "snapshot"]):
        made = list((sluice.store / "snapshots").glob("2*"))
        assert all((snapshot / "snapshot").exists() for snapshot in made), "it has its name once it is sealed"
        works(sluice)
        sluice("ledger", "snapshot")
        assert len(list((sluice.store / "snapshots").iterdir())) == len(made) + 1
        sluice("doctor", "--replay")


def store_set(kills, scene):
    states = set()
    for sluice in kills.each(scene.copy, ["store", "set", "--max-accounts", "70000"]):
        (most,) = re.findall(r"max_accounts (\d+)", (sluice.store / "format").read_text())
        states.add(most)
        works(sluice)
    kills.ends(sluice, scene, states, {"65536", "70000"})


def backup(kills, scene):
    """A folder is a backup once its list is written."""
    folder = scene.folder / "killed"

    def begin():
        shutil.rmtree(folder, ignore_errors=True)
        return scene.copy()

    states = set()
    for sluice in kills.each(begin, ["backup", folder], folder=scene.folder):
        works(sluice)
        complete = (folder / "backup").exists()
        states.add(complete)
        if not complete:
            scene.new().refuses("restore", folder)
            if folder.exists() and any(folder.iterdir()):
                said = sluice.refuses("backup", folder)
                assert "remove it: it may hold keys" in said, said
                shutil.rmtree(folder)
            sluice("backup", folder)
        restored = scene.new()
        restored("restore", folder)
        works(restored)
    kills.ends(sluice, scene, states, {False, True})


def init(kills, scene):
    """A folder is a store once all of it is there, for nginx's group as well."""
    group = grp.getgrgid(os.getgid()).gr_name
    states = set()
    for sluice in kills.each(scene.new, ["init", "--group", group]):
        states.add(is_store(sluice))
        if not is_store(sluice):
            assert "no file \"format\"" in sluice.refuses("account", "list")
            if is_begun(sluice):
                assert "move it away first" in sluice.refuses("init")
                shutil.rmtree(sluice.store)
            sluice("init", "--group", group)
        for path, mode in ((sluice.store, 0o750), (sluice.store / "format", 0o640)):
            assert stat.S_IMODE(path.stat().st_mode) == mode, path
        sluice.account("acme")
        sluice.shop("acme-shop", "acme")
        sluice.token("acme", "write_orders", secret=SECRET)
        works(sluice)
    kills.ends(sluice, scene, states, {False, True})


def restore(kills, scene):
    """A folder is a store once all of it is there. A command of the time that the restore undoes is not applied."""
    folder = scene.folder / "undone"
    sluice = scene.copy()
    sluice("backup", folder)
    credit(sluice, "undone")
    last = sluice.stats()["last_seq"]
    with queue_edit.edited(sluice.store) as queue:
        undone = queue.get(last)
    states = set()
    for sluice in kills.each(scene.new, ["restore", folder]):
        states.add(is_store(sluice))
        if not is_store(sluice):
            said = sluice.refuses("account", "list")
            assert "no file \"format\"" in said
            if is_begun(sluice):
                assert "\"sluice restore\" was interrupted" in said or not (sluice.store / "registry").exists(), said
                assert "remove it" in sluice.refuses("restore", folder)
                shutil.rmtree(sluice.store)
            sluice("restore", folder)
        works(sluice)
        with queue_edit.edited(sluice.store) as queue:
            queue.put(last, undone)
            queue.set_next_seq(last + 1)
        sluice.drain()
        assert "COMMAND_NOT_SEALED" in str(sluice.json("dead", "list"))
        assert credits(sluice) == 1
    kills.ends(sluice, scene, states, {False, True})


COMMANDS = [key_rotate, key_rotate_to_a_given_key, account_create, token_create, token_create_into_a_file, token_revoke,
            registry_import, registry_export, notify_add, payout_export, credit_without_a_worker, link_create, export,
            ledger_rebuild, forget, ledger_snapshot, store_set, backup, init, restore]


def names(command):
    return command.__name__.replace("_", " ")
