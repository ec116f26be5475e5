"""Payouts, approvals, adjustments, credits, months and repeated commands of a random history."""

from model import compare
from model.books import listings, payouts, reports, signatures
from model.books.commands import with_first_ids
from model.books.signatures import Key
from model.books.state import Input, Refused
from model.values import DAY, digits, text, time_text

HOUR = 3600 * 10**9
ANSWERS_AGAIN = ("repeated", "pending", "refused")  # the last: what waited was withdrawn
MOVES = ("sent", "settle", "failed", "returned", "void", "repoint")


class Money:
    # Payouts --------------------------------------------------------------------------------------

    def until(self):
        """Mostly not before the last run of the account, which would be refused (K7)."""
        ran = [until for _, account, until, _ in self.ledger.runs if account == self.account]
        return max([self.some_time(), *ran]) if self.chance.random() < 0.8 else self.some_time()

    def some_time(self):
        """Now, some time ago, or the very end of a clearing period."""
        now = self.edge.now()
        kind = self.chance.random()
        earners = sorted((o for o in self.ledger.orders.values() if o.live), key=lambda o: o.key)
        if kind < 0.4:
            return now
        if kind < 0.7 and earners:
            order = self.chance.choice(earners)
            clears_at = self.ledger.clears_at(order, order.position)
            return min(clears_at + self.chance.choice([0, -1]), now)
        if kind < 0.73:
            return now + 2 * DAY
        return now - self.chance.randrange(50) * DAY - self.chance.randrange(20) * HOUR

    def close_step(self):
        close = {"until": time_text(self.until()), "ignore_minimum": self.chance.random() < 0.5}
        for name, every in (("programs", self.programs), ("creators", self.creators), ("exclude", self.creators)):
            if self.chance.random() < 0.25:
                close[name] = sorted(self.chance.sample(every, self.chance.randrange(1, 3)))
        return {"close": close}

    def payout_close(self):
        self.close(self.close_step())

    def close(self, step):
        result = self.command(step)
        if result.outcome == "done":
            self.compare_run(self.edge.run(result.command_id), result)
        return result

    def previewed_close(self):
        """P5: what a preview says is what a close does, if nothing came between."""
        self.take_in()
        step = self.close_step()
        shown, now = self.edge.preview(step)
        self.compare_preview(shown, step, now)
        if shown is None:
            return
        step["close"]["expect"] = shown["digest"]
        if self.chance.random() < 0.3:
            self.payout_move()
        self.close(step)

    def compare_preview(self, shown, step, now):
        at = Input(self.place.node, 0, now, self.account)
        try:
            command = with_first_ids(self.ledger, at, self.model_command(step, now))
            wanted = listings.preview(self.ledger, at, command)
        except Refused:
            wanted = None
        compare.same_run(shown, wanted, f"seed {self.seed}, preview {step}")

    def compare_run(self, shown, result):
        made = [self.ledger.payouts[payout_id] for payout_id in result.payouts]
        wanted = {
            "payouts": [listings.payout_row(self.ledger, payout) for payout in made],
            "skipped": listings.skipped_rows(self.ledger, self.account, result.skipped),
            "digest": result.digest,
        }
        compare.same_run(shown, wanted, f"seed {self.seed}, run {result.command_id}")

    def payout_move(self):
        every = sorted(self.ledger.payouts.values(), key=lambda payout: payout.payout_id)
        if not every:
            return
        payout = self.chance.choice(every)
        # Mostly what its state allows.
        allowed = [verb for verb in MOVES if payout.state in payouts.MOVES[verb]]
        verb = self.chance.choice(allowed if allowed and self.chance.random() < 0.8 else MOVES)
        ids = [self.chance.choice([payout.payout_id] * 4 + [payout.run])]
        if self.chance.random() < 0.2:
            ids.append(self.chance.choice(every).payout_id)
        self.command({verb: ids})

    def approve(self):
        found = self.waiting_id()
        if found:
            signed = self.has_keys() and self.chance.random() < 0.7
            self.command({"approve": found, **(self.signature(found) if signed else {})})

    def has_keys(self):
        return any(" " in entry for entry in self.ledger.policy(self.account).get("approvers", []))

    def signature(self, name):
        """K5: mostly the right one of an approver; else of another person, namespace or statement, or one that is cut."""
        self.take_in()
        shown = self.edge.approval_statement(name)
        if shown is None:  # it does not wait: an old signature
            return {"signature": Key("gina").sign("what waited"), "seen": ""}
        at = Input(self.place.node, 0, self.ledger.last_receipt[self.place.node], self.account)
        seen = dict(line.split(": ", 1) for line in shown.splitlines()[1:])["digest"]
        subject = signatures.subject_of(self.ledger, self.account, name)
        assert shown == signatures.statement(self.ledger, at, subject, seen), f"seed {self.seed}: {name}"
        key = Key(self.chance.choice(["gina", "gina", "hugo"]))
        made = self.chance.choice([
            *[lambda: key.sign(shown)] * 6, lambda: Key("eve").sign(shown), lambda: key.sign(shown, "git"),
            lambda: key.sign(shown.replace("digest: ", "digest: 0")), lambda: key.sign(shown)[:-60]])()
        return {"signature": made, "seen": seen}

    def withdraw(self):
        found = self.waiting_id()
        if found:
            self.command({"withdraw": found})

    def waiting_id(self):
        """Mostly of what waits."""
        waiting = [w.waiting_id for w in self.ledger.pending_approvals.values() if w.state == "PENDING"]
        waiting += [name for p in self.ledger.payouts.values() if p.state == "CLOSED" for name in (p.payout_id, p.run)]
        every = sorted([*self.ledger.pending_approvals, *self.ledger.payouts])
        return self.chance.choice(sorted(waiting) if waiting and self.chance.random() < 0.8 else every) if every else None

    # By hand --------------------------------------------------------------------------------------

    def adjust(self):
        order = self.any_order()
        if order is not None:
            amount = self.chance.choice(["5", "-5", "120", "-3", "0.01"])
            self.command({"adjust": [order.order_id, amount], "shop": order.shop})

    def credit(self):
        order_id = self.chance.choice(self.order_ids)
        credit = {
            "creator": self.any_creator(), "program": self.chance.choice(self.programs),
            "amount": self.chance.choice(["12.00 USD", "-1.00 USD", "700 JPY", "3.5 EUR"]),
        }
        if self.chance.random() < 0.6:
            credit["sale_at"] = time_text(self.start - self.chance.randrange(60) * DAY)
        if self.chance.random() < 0.5:
            self.command({"credit": {**credit, "order": order_id}, "shop": self.chance.choice(self.shops)})
        else:
            self.command({"credit": credit})

    def opening(self):
        """Mostly from before the first order, because commission that is not paid keeps a later date out."""
        back = self.chance.choice([0, 70, 100, 130, 130])
        rows = [
            {"creator": self.any_creator(), "program": self.chance.choice(self.programs),
             "amount": self.chance.choice(["40.00 USD", "-7.50 USD", "900 JPY", "0.01 EUR"])}
            for _ in range(self.chance.randrange(1, 4))
        ]
        self.command({"opening": {"at": time_text(self.start - back * DAY), "rows": rows}})

    def write_off(self):
        """Mostly of a balance below 0, its whole or a part."""
        balances = reports.balances(self.ledger, self.account, self.edge.now())
        below = sorted((*key, -row["owed"]) for key, row in balances.items() if row["owed"] < 0)
        if not below or self.chance.random() < 0.2:
            below = [(self.chance.choice(self.programs), self.any_creator(), "USD", 1)]
        program, creator, currency, owes = self.chance.choice(below)
        amount = text(self.chance.choice([owes, owes, 1, owes + 1]), digits(currency))
        what = self.chance.choice([{"amount": f"{amount} {currency}"}] * 2 + [{}, {"currency": currency}])
        self.command({"write_off": {"creator": creator, "program": program, **what}})

    def reverse(self):
        imports = {name[:20] for name in self.ledger.money if len(name) > 20}
        ids = sorted([*self.ledger.money, *imports, *self.ledger.pending_approvals])
        if ids:
            self.command({"reverse": self.chance.choice(ids)})

    def period_close(self):
        month = time_text(self.edge.now() - self.chance.choice([0, 0, 31]) * DAY)[:7]
        self.command({"period": {"until": f"{month}-01T00:00:00Z", "allow_late": self.chance.random() < 0.9}})

    # Keys -----------------------------------------------------------------------------------------

    def repeat(self):
        """K1: the same key with the same content does nothing; with another it is refused."""
        keyed = self.comparable()
        if not keyed:
            return
        self.take_in()
        step, actor, key = self.chance.choice(keyed)
        before = len(self.ledger.journal.entries)
        other = self.chance.random() < 0.3
        result = self.command(step, self.chance.choice([actor, None]), key, reason="another" if other else "by hand")
        assert result.outcome in (("refused",) if other else ANSWERS_AGAIN), step
        assert len(self.ledger.journal.entries) == before

    def repeat_all(self):
        """Every command again, with its key."""
        for step, actor, key in self.comparable():
            assert self.command(step, actor, key).outcome in ANSWERS_AGAIN, step

    def comparable(self):
        """A forget is compared with what is left of the person, which no content says (tests/cli/test_forget.py)."""
        return [keyed for keyed in self.keyed if "forget" not in keyed[0]]
