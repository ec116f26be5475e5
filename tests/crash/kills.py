"""Commands that change several files which belong together, each killed at calls that change one.

After each kill the next command works, or refuses and names what to do, which then works: the token of the shop
verifies (a reader like nginx's), a backup can be restored, no temporary file of the killed command is left, and no key
lies outside the files of keys. test_command_kills.py kills at many calls, test_some_kills.py at a few of each command.

SLUICE_FAULT_STRIDE: at every how many calls (make torture: 1, all of them).
"""

import hashlib
import hmac
import os
import random
import re
import shutil
import signal

from crash.site import SEED
from faults.shim import KILL, SLUICE, Shim
from harness import queue_edit
from harness.cli import Sluice

CHANGING = ["WRITE", "META", "SYNC", "RENAME", "UNLINK", "TRUNCATE", "ATTRIBUTE", "MAKE", "MODE"]
STRIDE = int(os.environ.get("SLUICE_FAULT_STRIDE", "5"))
BODY = '{"platform_order_id":"o1"}'
SECRET = "a secret of sixteen bytes or more"
PROGRAM = "[[program]]\nid = 'spring'\naccount = 'acme'\ndefault_rate = '10%'\n"
CREATORS = "creator_id,program_id,payee\nann,spring,ref-ann\n"
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
        assert total > 5, "a command that was not killed proves nothing"
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
    assert not leftovers(sluice.store)
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


def token_revoke(kills, scene):
    """A revoked token is revoked in the copy that nginx reads as soon as any command has opened the registry."""
    for sluice in kills.each(scene.copy, ["token", "revoke", scene.token]):
        sluice("token", "list")
        (revoked,) = [row["revoked_at"] is not None for row in sluice.json("token", "list")]
        assert revoked is not verifies(sluice)
        sluice.run("token", "revoke", scene.token)
        assert [row["revoked_at"] is not None for row in sluice.json("token", "list")] == [True]
        assert not leftovers(sluice.store)


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


COMMANDS = [key_rotate, key_rotate_to_a_given_key, account_create, token_create, token_revoke, restore]


def names(command):
    return command.__name__.replace("_", " ")
