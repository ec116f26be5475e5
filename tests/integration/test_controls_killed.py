"""The commands of a month's end, killed while they are applied (controls K1, K2)."""
import pytest
from harness.cli import now
from harness.office import ACME, POLICY, WHY, database, filled, open_office  # noqa: F401


def play_a_month(office, kill_at):
    """Payee, approval, repoint and cooling-off; each command is killed at that point, if any. Returns the number of kills and
    what is left, without times and ids."""
    kills = []

    def do(person, *command):
        person.environment.update({"SLUICE_CRASH_AT": kill_at} if kill_at else {})
        done = person.run(*command)
        person.environment.pop("SLUICE_CRASH_AT", None)
        assert done.returncode in (0, 3, -9), done
        if done.returncode == -9:
            kills.append(command[0])
            office.finish()

    def approve(of):
        do(office.gina, "approve", of, *ACME, "--expect", office.gina.digest(of))

    office.allow("approve_payout_above = ['5.00 USD']\n")
    do(office.eve, "payout", "close", *ACME, "--until", now(), "--creator", "ann")
    payout = office.eve.json("payout", "list", *ACME)[0]["payout_id"]
    approve(payout)
    do(office.eve, "creator", "set", "ann", *ACME, "--payee", "ref-eve", *WHY)
    assert "repoint" in office.eve.refuses(*office.export(payout))
    do(office.eve, "payout", "repoint", payout, *ACME, *WHY)
    assert "CLOSED" in office.eve.refuses(*office.export(payout))
    approve(payout)
    do(office.eve, *office.export(payout))
    if not office.out.exists():
        message = office.eve.json("payout", "list", *ACME)[0]["message"]
        office.eve(*office.export("--again", message))
    assert office.paid_to() == ["ref-eve"]
    office.apply(POLICY + "payee_cooling_days = 7\n")
    for waits in office.pending():
        approve(waits)
    do(office.eve, "creator", "set", "bob", *ACME, "--payee", "ref-ann", *WHY)
    do(office.eve, "payout", "close", *ACME, "--until", now())
    assert office.is_sound()
    payouts = [(row["creator_id"], row["payee"], row["state"], row["amount"]) for row in office.eve.json("payout", "list", *ACME)]
    assert payouts == [("ann", "ref-eve", "SENT", "8.00")], "bob's payee is young"
    return kills, payouts, [
        (row["reason"], row["creator_id"], *(str(row[side]).partition(":")[0] for side in ("debit_account", "credit_account")), row["amount"])
        for row in office.eve.json("report", "journal", *ACME)]


@pytest.mark.crash
def test_k2_killed_commands_leave_an_undisturbed_journal(open_office):
    _, payouts, journal = play_a_month(open_office(), None)
    for point in ("read", "applied", "committed"):
        kills, disturbed, entries = play_a_month(open_office(), point)
        assert len(kills) > 4, f"{point} was passed by {kills} only"
        assert (disturbed, entries) == (payouts, journal), point
