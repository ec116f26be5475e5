"""Orders that come in all the time, and the proof that the ledger has each of them once."""

import datetime
import random
import threading
from fractions import Fraction

from fleet import history
from harness import orders

DAYS_AGO = 20  # more than the clearing days of the program
RESENT = 0.2   # of all orders are sent twice


class Traffic(threading.Thread):
    """Orders of one line through edges drawn at random; some again through another edge, as from a shop
    that had no answer in time. Every answer must be 200, whatever the database does."""

    def __init__(self, fleet, seed, pause=0.05):
        super().__init__(daemon=True)
        self.fleet, self.chance, self.pause = fleet, random.Random(seed), pause
        self.seed = seed
        self.due = {}  # commission of each order that was answered with 200, by (shop, order)
        self.resent = 0
        self.failure = None
        self._ended = threading.Event()

    def run(self):
        try:
            while not self._ended.wait(self.pause):
                self._send(f"live-{self.seed}-{len(self.due) + 1}")
        except Exception as failure:  # raised by stop()
            self.failure = failure

    def _send(self, order_id):
        amount = self.chance.randrange(1, 500)
        then = datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(days=DAYS_AGO)
        stamp = then.strftime("%Y-%m-%dT%H:%M:%SZ")
        document = orders.order(
            order_id, platform_ordered_at=stamp, platform_updated_at=stamp, amount=f"{amount}.00", tax="0",
            shipping="0", line_items=[orders.line(sku="sku-4", amount=f"{amount}.00", tax="0")],
            discounts=[{"code": "ANN", "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "5"}])
        event = history.Event(self.chance.choice(history.SHOPS), order_id, "ORDER_CREATE", document)
        self._post(event)
        self.due[event.shop, order_id] = Fraction(amount, 10)
        if self.chance.random() < RESENT:
            self._post(event)
            self.resent += 1

    def _post(self, event):
        answer = self.chance.choice(self.fleet.nodes).post(event, self.fleet.secret)
        assert answer.status == 200, answer

    def end(self):
        self._ended.set()
        if self.ident is not None:
            self.join()

    def stop(self):
        """Raises what it failed with."""
        self.end()
        if self.failure:
            raise self.failure


def check_once(query, due):
    """@param query  Runs SQL on the ledger. @return orders that are in a payout, and their sum."""
    rows = query("SELECT shop_id, order_id, count(*), sum(amount) FROM journal "
                 "WHERE order_id LIKE 'live-%' AND debit_account = 'expense' GROUP BY 1, 2")
    posted = {(shop, order): (int(count), Fraction(amount)) for shop, order, count, amount in rows}
    lost = due.keys() - posted.keys()
    assert not lost, f"{len(lost)} orders were answered with 200 and are not in the ledger, as {sorted(lost)[:3]}"
    unknown = posted.keys() - due.keys()
    assert not unknown, f"nobody sent {sorted(unknown)[:3]}"
    wrong = [(key, posted[key], due[key]) for key in due if posted[key] != (1, due[key])]
    assert not wrong, f"{len(wrong)} orders were not posted once with what they earn, as {wrong[0]}"
    rows = query("SELECT i.shop_id, i.order_id, count(*), sum(i.amount) FROM payout_items i "
                 "JOIN payouts p USING (payout_id) WHERE p.state <> 'VOID' AND i.order_id LIKE 'live-%' GROUP BY 1, 2")
    for shop, order, count, amount in rows:
        assert (int(count), Fraction(amount)) == (1, due[shop, order]), f"{order} is in {count} payouts"
    return len(rows), sum(due[shop, order] for shop, order, _, _ in rows)
