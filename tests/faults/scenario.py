"""A few requests of every kind, sent one after the other and journaled, to a site that has trouble."""

import itertools
import time

from crash.load_client import Journal, Sender, order
from crash.site import SEED


class Scenario:
    def __init__(self, site):
        self.site = site
        secret = site.secret.read_text()
        self.sender = Sender(0, site.edge.port, site.shop, secret, Journal(site.journal), SEED)
        self.numbers = itertools.count()

    def name(self, large=False):
        """Returns an order that was never sent, with a body in a bulk file or in its record."""
        while True:
            name = f"{SEED}-f-{next(self.numbers)}"
            if (len(order(name, SEED).get("padding", "")) > 256 << 10) == large:
                return name

    def order(self, large=False):
        """The status, or None without an answer. Every request has a connection of its own."""
        try:
            return self.sender.send_order(self.name(large))
        finally:
            self.sender.drop()

    def batch(self):
        try:
            return self.sender.send_batch(self.name(), again=False)
        finally:
            self.sender.drop()

    def all(self):
        return [self.order(), self.order(), self.order(large=True), self.batch(), self.order()]

    def accepted_within(self, seconds, unless=lambda: False):
        """True once an order gets 200, False after so many seconds, or once `unless` holds."""
        end = time.monotonic() + seconds
        while not unless():
            if self.order() == 200:
                return True
            if time.monotonic() > end:
                break
            time.sleep(0.02)
        return False
