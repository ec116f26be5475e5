"""The store of destinations when something goes wrong with it: key, disk, backup, a ledger that diverged."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import pytest
from harness import paths
from harness.cli import Sluice
from harness.webhooks import Receiver, verdicts

root = pytest.mark.skipif(os.geteuid() != 0, reason="only root mounts")
AWAY = "https://hooks.example.com/"


def open_in(pid, folder):
    """Whether a process has a file of the folder open."""
    found = pathlib.Path(f"/proc/{pid}/fd").iterdir()
    return any(os.readlink(one).startswith(f"{folder}/") for one in found if one.is_symlink())


def as_owner_of(path, *made):
    if os.geteuid() == 0:
        owner = os.stat(path)
        for one in made:
            os.chown(one, owner.st_uid, owner.st_gid)


# -- The key ------------------------------------------------------------------------------------------------------


def test_without_the_key_nothing_is_sent_and_the_list_still_works(site):
    with Receiver(site.folder) as receiver:
        site.add("erp", receiver)
        site.credit()
        key = site.sluice.store / "notify.key"
        kept = site.folder / "kept.key"
        key.rename(kept)
        for command in (("run",), ("test", "erp"), ("rotate", "erp"), ("add", "b", "--account", "acme", "--url", AWAY)):
            assert "notify.key" in site.sluice.refuses("notify", *command), command
        assert [row["id"] for row in site.sluice.json("notify", "list")] == ["erp"]
        assert receiver.requests == []
        kept.rename(key)
        with site.run(receiver):
            receiver.wait(1)


def test_a_key_of_another_store_is_named(site):
    with Receiver(site.folder) as receiver:
        site.add("erp", receiver)
        other = Sluice(site.folder / "other")
        other("init")
        other.account("acme")
        other("notify", "add", "b", "--account", "acme", "--url", AWAY)
        key = site.sluice.store / "notify.key"
        key.unlink()
        shutil.copy2(other.store / "notify.key", key)
        as_owner_of(site.sluice.store / "format", key)
        for command in (("run",), ("test", "erp"), ("rotate", "erp")):
            assert "notify.key" in site.sluice.refuses("notify", *command), command
        assert receiver.requests == []


# -- A full disk --------------------------------------------------------------------------------------------------


class SmallDisk:
    """A mount namespace in which `notify/` is on a disk of its own."""

    def __init__(self, site, spare):
        self.folder = site.sluice.store / "notify"
        size = sum(path.stat().st_blocks * 512 for path in self.folder.iterdir()) + spare
        script = (f"cp -a {self.folder} {site.folder}/copied && mount -t tmpfs -o size={size} none {self.folder} && "
                  f"cp -a {site.folder}/copied/. {self.folder} && chown --reference={site.folder}/copied {self.folder} && "
                  f"chmod --reference={site.folder}/copied {self.folder} && touch {site.folder}/ready && exec sleep infinity")
        self.process = subprocess.Popen(["unshare", "-m", "--propagation", "private", "bash", "-c", script])
        paths.wait_until((site.folder / "ready").exists, "the small disk")
        self.prefix = ["nsenter", "-m", "-t", str(self.process.pid)]

    def grow(self):
        subprocess.run([*self.prefix, "mount", "-o", "remount,size=64m", self.folder], check=True)

    def close(self):
        self.process.kill()
        self.process.wait()


@root
def test_a_full_disk_stops_the_sending_and_room_continues_it(site):
    """Requests whose outcome was not stored are sent again, with the same id, and no change is lost."""
    with Receiver(site.folder) as receiver:
        site.add("erp", receiver, "--from", "start")
        disk = SmallDisk(site, 16 << 10)
        try:
            site.sluice.prefix = disk.prefix
            with site.run(receiver, prefix=disk.prefix) as notify:
                amounts = 0
                while "nothing more is sent until it can be stored" not in notify.log():
                    amounts += 10
                    assert amounts < 1000, "the disk does not fill"
                    site.credit(*(f"{number}.00" for number in range(1, 11)))
                assert "No space left on device" in notify.log()
                sent = len(receiver.requests)
                time.sleep(2)
                assert len(receiver.requests) <= sent + 8 and notify.process.poll() is None
                site.credit("49.00")
                disk.grow()
                site.wait_for("erp", lag=0, pending=0)
        finally:
            site.sluice.prefix = []
            disk.close()
    changes = {request.change["last"]: request for request in receiver.requests}
    firsts = {change: request.change["first"] for change, request in changes.items()}
    assert sorted(firsts) == sorted(changes) and min(firsts.values()) == 1
    ends = sorted(changes)
    assert all(firsts[after] == before + 1 for before, after in zip(ends, ends[1:]))
    assert len(receiver.requests) <= len(changes) + 8


# -- Limits -------------------------------------------------------------------------------------------------------


def test_at_most_64_requests_are_under_way_for_all_destinations(site):
    def slow(request):
        time.sleep(1)
        return 200

    with Receiver(site.folder, slow) as receiver:
        for number in range(10):
            site.add(f"d{number}", receiver)
        site.credit(*(f"{number}.00" for number in range(1, 11)))
        with site.run(receiver):
            receiver.wait(100)
            site.wait_for("d9", lag=0, pending=0)
    assert 56 < receiver.most_under_way <= 64
    assert set(receiver.ids().values()) == {10}


# -- Backup and restore -------------------------------------------------------------------------------------------


def test_a_restored_backup_sends_on_from_its_cursor_with_the_same_secret(site):
    with Receiver(site.folder) as receiver:
        file = site.folder / "header"
        file.write_text("Authorization: Bearer s3cret\n")
        file.chmod(0o600)
        secret = site.add("erp", receiver, "--header-from", file)
        site.credit("1.00")
        with site.run(receiver):
            site.wait_for("erp", delivered=1, lag=0)
            site.credit("2.00")
            site.wait_for("erp", delivered=2, lag=0)
            site.sluice("backup", site.folder / "backup")  # while it sends
            site.credit("3.00")
            site.wait_for("erp", delivered=3, lag=0)
        shown = site.show("erp")
        restored = Sluice(site.folder / "restored")
        restored("restore", site.folder / "backup")
        for name, mode in (("notify", 0o700), ("notify.key", 0o400), ("notify/data.mdb", 0o600)):
            assert (restored.store / name).stat().st_mode & 0o777 == mode, name
        assert [row["id"] for row in restored.json("notify", "list")] == ["erp"]
        site.sluice = restored
        again = site.show("erp")
        assert {name: again[name] for name in ("url", "created_at", "has_header")} == \
            {name: shown[name] for name in ("url", "created_at", "has_header")}
        assert (again["delivered"], again["lag"], again["state"]) == (2, 0, "active")
        site.credit("4.00")
        with site.run(receiver):
            site.wait_for("erp", delivered=3, lag=0)
    assert receiver.requests[-1].change["entries"][0]["amount"] == "4.00"
    assert verdicts(receiver.requests[-1:], secret) == [[True, True]]
    assert receiver.requests[-1].headers["authorization"] == "Bearer s3cret"


def test_a_sender_ends_when_its_store_was_replaced(site):
    """It sent on from the folder that was moved away, where no command reached it."""
    site.sluice("notify", "add", "erp", "--account", "acme", "--url", AWAY)
    site.sluice("backup", site.folder / "backup")
    store = site.sluice.store
    sender = subprocess.Popen([str(paths.SLUICE), "--store", str(store), "notify", "run"], stderr=subprocess.PIPE, text=True)
    try:
        paths.wait_until(lambda: open_in(sender.pid, store / "notify"), "the sender")
        store.rename(store.with_name("broken"))
        site.sluice("restore", site.folder / "backup")
        _, said = sender.communicate(timeout=paths.DEADLINE)
        assert sender.returncode == 1 and "was replaced: start again" in said
    finally:
        sender.kill()
        sender.wait()


def test_a_backup_of_a_store_without_destinations_has_no_folder_of_them(site):
    site.sluice("backup", site.folder / "backup")
    restored = Sluice(site.folder / "restored")
    restored("restore", site.folder / "backup")
    assert not (restored.store / "notify").exists() and not (restored.store / "notify.key").exists()
    assert restored.json("notify", "list") == []


# -- A ledger that has gone another way -------------------------------------------------------------------------------


def test_a_diverged_ledger_disables_a_destination_and_resume_from_start_sends_every_change(site):
    with Receiver(site.folder) as receiver:
        site.add("erp", receiver)
        other = Sluice(site.folder / "other")
        subprocess.run(["cp", "-a", site.sluice.store, other.store], check=True)
        site.credit("1.00", "2.00")
        with site.run(receiver):
            site.wait_for("erp", delivered=2, lag=0)
        shutil.rmtree(other.store / "notify")
        subprocess.run(["cp", "-a", site.sluice.store / "notify", other.store / "notify"], check=True)
        site.sluice = other
        site.credit("7.00", "8.00", "9.00")
        with site.run(receiver) as notify:
            shown = site.wait_for("erp", state="disabled")
            assert "ledger" in shown["disabled_why"] and "destination erp is disabled" in notify.log()
            assert len(receiver.requests) == 2
            said = site.sluice.refuses("notify", "resume", "erp", "--from", shown["cursor"])
            assert "the ledger is not the one of this cursor" in said
            site.sluice("notify", "resume", "erp", "--from", "start")
            site.wait_for("erp", state="active", lag=0, pending=0)
    numbers = sorted((request.change["first"], request.change["last"]) for request in receiver.requests[2:])
    assert numbers[0][0] == 1 and all(after[0] == before[1] + 1 for before, after in zip(numbers, numbers[1:]))
    assert {"7.00", "8.00", "9.00"} <= {request.change["entries"][0]["amount"] for request in receiver.requests[2:]}


# -- Names --------------------------------------------------------------------------------------------------------


@root
def test_a_name_that_changes_its_address_gets_no_packet_at_the_private_one(site):
    """The resolver answers in turn with a public address, a private one, and both. The address of each connection is judged."""
    program = paths.ROOT / "tests" / "notify" / "rebinding.py"
    run = subprocess.run(["unshare", "--net", "--mount", "--propagation", "private", sys.executable, program, site.folder,
                          site.sluice.store], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    found = json.loads(run.stdout)
    assert found["asked_by_add"] == 0 and found["asked"] == 6, found
    assert (found["packets"], found["connected"]) == (0, 0), found
    public, private, both = found["outcomes"][:3]
    assert public[0] == 0 and "answered 200" in public[1]
    assert private[0] == 1 and "address refused: 10.0.0.5 (private)" in private[1]
    assert both[0] == 0 or "address refused: 10.0.0.5 (private)" in both[1]
    assert [status for status, _ in found["outcomes"][3:]] == [status for status, _ in found["outcomes"][:3]]
    assert found["received"] == sum(status == 0 for status, _ in found["outcomes"])
