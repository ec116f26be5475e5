"""The second half of `make demo-fleet`: the edges on a cluster whose primary moves, dies and goes away.

Orders come in all the time. Patroni, etcd, HAProxy and PgBouncer run in network namespaces of their
own. The caller gives this program a PID namespace (unshare --pid --kill-child): all of it ends with it.
"""

import json
import signal
import subprocess
import sys
import time

from fleet import clustered
from fleet.clustered import EDGES, Fleet
from fleet.storm import wait_until_applied
from fleet.traffic import Traffic, check_once
from harness import cli, paths

WAYS = ("all hosts in the URL", "HAProxy", "PgBouncer, pool_mode = session")
LONGEST = 900  # seconds, of all of it


class Steps:
    """Titles, and under each what it took."""

    began = None

    def __call__(self, words):
        self.end()
        print(f"\n\033[1m{words}\033[0m", flush=True)
        self.began = time.monotonic()

    def end(self):
        if self.began is not None:
            print(f"({time.monotonic() - self.began:.1f} s)", flush=True)
        self.began = None


say = Steps()


def tell(words):
    print("  " + words, flush=True)


def show_cluster(database):
    code, words = database.wait_primary().rest("/cluster")
    assert code == 200, words
    for member in json.loads(words)["members"]:
        tell(f"{member['name']}  {member['role']:<13} {member['state']}")


def applied(node):
    """(applied, accepted) of a node; nothing while its database does not answer."""
    try:
        stats = node.stats()
    except cli.Failed:
        return None
    return stats["applied_seq"], stats["last_seq"]


class Demo:
    def __init__(self, fleet):
        self.fleet, self.database = fleet, fleet.database
        self.traffic = Traffic(fleet, int(time.time()))

    def accept(self, count):
        """Waits for so many orders more. A failure of the sender is shown at once."""
        wanted = len(self.traffic.due) + count
        paths.wait_until(lambda: not self.traffic.is_alive() or len(self.traffic.due) >= wanted,
                         f"{count} orders to be accepted", 60)
        if not self.traffic.is_alive():
            self.traffic.stop()

    def apply_all_so_far(self):
        """Each edge applies what it had accepted by now, the orders that come meanwhile aside."""
        began = time.monotonic()
        for node in self.fleet.nodes:
            seen = paths.wait_until(lambda node=node: applied(node), f"the database of {node.name}", 90)
            paths.wait_until(lambda node=node, seen=seen: (applied(node) or (0,))[0] >= seen[1],
                             f"{node.name} to apply what it accepted\n{node.worker_log()[-1000:]}", 90)
        tell(f"every edge has applied what it had accepted, {time.monotonic() - began:.1f} s later; "
             f"{len(self.traffic.due)} orders were answered with 200 so far")

    def close(self, node):
        """Runs `payout close` in a separate process; it covers all orders accepted so far."""
        words = ["payout", "close", "--account", "acme", "--until", cli.now(), *node.ledger]
        return subprocess.Popen([*node.inside, str(paths.SLUICE), *words], env=node.sluice.environment,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self):
        show_cluster(self.database)
        for edge, way in zip(EDGES, WAYS):
            tell(f"{edge}  {way}")
        self.traffic.start()
        self.switch_over()
        self.fail_over()
        self.go_away()
        self.show_the_end()

    def end(self):
        """A second Ctrl-C does not leave half of it behind."""
        signal.alarm(0)
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        self.traffic.end()
        self.fleet.close()

    def switch_over(self):
        say("A switchover, while orders come in")
        self.accept(20)
        old, new = self.database.switch_over()
        tell(f"{old.name} gave the lead to {new.name}")
        self.apply_all_so_far()
        self.database.wait_whole()

    def fail_over(self):
        say("The primary is killed (kill -9, server and Patroni); on edge2 a person closes payouts just then")
        self.accept(20)
        primary, began = self.database.wait_primary(), time.monotonic()
        primary.kill()
        command = self.close(self.fleet.nodes[1])
        try:
            heir = self.database.wait_primary(primary)
            tell(f"{primary.name} is gone; {heir.name} took the lead by itself after {time.monotonic() - began:.1f} s")
            out, why = command.communicate(timeout=90)
        finally:
            command.kill()
            command.wait()
        assert command.returncode == 0, why
        tell(f"`sluice payout close` has ended, {time.monotonic() - began:.1f} s after it began:")
        print(out.rstrip())
        self.apply_all_so_far()
        primary.patroni.start()
        self.database.wait_whole()
        show_cluster(self.database)

    def go_away(self):
        say("etcd stops: nobody may be primary, there is no database. The queues of the edges take the orders")
        self.database.etcd.send(signal.SIGSTOP)
        try:
            paths.wait_until(lambda: self.database.primary() is None, "every member to step down", 60)
            before = len(self.traffic.due)
            self.accept(100)
            tell(f"{len(self.traffic.due) - before} orders were answered with 200 without a database")
        finally:
            self.database.etcd.send(signal.SIGCONT)
        self.database.wait_primary()
        tell("etcd is back, and so is a primary")
        self.apply_all_so_far()
        self.database.wait_whole()

    def show_the_end(self):
        say("Each order that was answered with 200 is in the ledger once")
        self.traffic.stop()
        wait_until_applied(self.fleet.nodes)
        nodes = self.fleet.nodes
        closed = self.close(nodes[2])
        out, why = closed.communicate(timeout=90)
        assert closed.returncode == 0, why
        due = self.traffic.due
        count, amount = check_once(self.database.query, due)
        assert count == len(due) and amount == sum(due.values()), (count, amount)
        tell(f"{len(due)} orders were answered with 200, {self.traffic.resent} of them twice: "
             f"{len(due)} were posted once, each with what it earns")
        tell(f"{count} of them are in a payout, none in two; commissions {float(amount):.2f} USD")
        reports = {node.report("orders") for node in nodes}
        assert len(reports) == 1, "the edges report different orders"
        tell("all edges report the same")
        say("sluice doctor, on every edge")
        for node in nodes:
            done = node.sluice.run("doctor", "--format", "json")
            assert done.returncode == 0, f"{node.name}: {done.stdout}{done.stderr}"
            tell(f"{node.name}: no problem")
        for row in json.loads(done.stdout):
            if row["check"] in ("writer lock", "replication", "journal"):
                tell(f"{row['check']}: {row['result']}: {row['finding']}")
        say.end()


def interrupt(number, _):
    raise KeyboardInterrupt(signal.Signals(number).name)


def out_of_time(*_):
    raise TimeoutError(f"not done after {LONGEST} s")


def main():
    why = clustered.missing()
    if why:
        print(f"demo-fleet: the part with a cluster is left out: {why}")
        return 0
    signal.signal(signal.SIGTERM, interrupt)
    signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(LONGEST)
    say("The same on a cluster: three PostgreSQL under Patroni and etcd, commits on two of them, HAProxy, PgBouncer")
    demo = Demo(Fleet())
    try:
        demo.run()
    finally:
        demo.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
