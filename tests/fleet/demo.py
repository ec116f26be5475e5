"""The second half of `make demo-fleet`: the same edges on a cluster, whose primary moves and dies.

Patroni, etcd, HAProxy and PgBouncer run in network namespaces of their own and end with this program.
"""

import collections
import json
import sys

from fleet import history, network
from fleet.storm import wait_until_applied
from fleet.test_cluster import EDGES, Fleet
from harness import patroni, postgres

WAYS = ("all hosts in the URL", "HAProxy", "PgBouncer, pool_mode = session")


def say(words):
    print(f"\n\033[1m{words}\033[0m", flush=True)


def show_cluster(database):
    code, words = database.wait_primary().rest("/cluster")
    assert code == 200, words
    for member in json.loads(words)["members"]:
        print(f"  {member['name']}  {member['role']:<13} {member['state']}")


def main():
    for why in (network.missing(), postgres.missing(), patroni.missing()):
        if why:
            print(f"demo-fleet: the part with a cluster is left out: {why}")
            return 0
    say("Three PostgreSQL under Patroni and etcd, commits on two of them; three edges")
    fleet = Fleet()
    try:
        show_cluster(fleet.database)
        for edge, way in zip(EDGES, WAYS):
            print(f"  {edge}  {way}")
        events = history.make(4, 40, 4)
        third = len(events) // 3
        fleet.post(events[:third])
        say("A switchover, while orders come in")
        old, new = fleet.database.switch_over()
        fleet.post(events[third : 2 * third])
        print(f"  {old.name} gave the lead to {new.name}")
        fleet.database.wait_whole()
        say("The machine of the primary stops")
        primary = fleet.database.wait_primary()
        primary.kill()
        fleet.post(events[2 * third :])
        print(f"  {primary.name} is gone; the edges took {len(events)} events all the same")
        heir = fleet.database.wait_primary(primary)
        print(f"  {heir.name} took the lead by itself")
        primary.patroni.start()
        fleet.database.wait_whole()
        show_cluster(fleet.database)
        say("Every edge reports the same, and nothing is missing")
        wait_until_applied(fleet.nodes)
        reports = [node.report("orders") for node in fleet.nodes]
        assert len(set(reports)) == 1, "the edges report different orders"
        owed = collections.Counter()
        for row in fleet.nodes[0].sluice.json("report", "balances", "--all-accounts"):
            owed[row["currency"]] += 1
        print(f"  {len(json.loads(reports[0]))} orders; creators with a balance: {dict(owed)}")
        say("doctor: the gate blocks, a standby has all")
        for row in json.loads(fleet.nodes[1].sluice.run("doctor", "--format", "json").stdout):
            if row["check"] in ("gate", "replication", "journal"):
                print(f"  {row['check']}: {row['result']}: {row['finding']}")
    finally:
        fleet.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
