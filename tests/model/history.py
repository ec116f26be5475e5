"""Random histories: each input goes to the real system and to the model.

A history is a function of its seed. It owns an account and two shops, so that many histories share
one nginx and one store. Steps are those of the worked examples (tests/examples/README.md).
"""

import copy
import random

from model.books.example_inputs import VERBS
from model.books.ledger import Ledger
from model.books.state import Input
from model.history_commands import Commands
from model.history_events import Events
from model.history_money import Money
from model.values import DAY


class History(Events, Commands, Money):
    STEPS = [
        ("event", 50), ("deletion", 4), ("refund", 10), ("resend", 5), ("products", 6), ("rest", 4), ("drain", 3),
        ("program_apply", 4), ("creator_import", 6), ("creator_remove", 2), ("creator_set", 1), ("creator_rename", 1),
        ("click_import", 6), ("attribute", 4), ("detach", 3), ("undo", 2), ("reject", 2), ("hold", 3), ("release", 3),
        ("acknowledge", 4), ("order_reset", 2), ("forget", 1),
        ("payout_close", 7), ("previewed_close", 2), ("payout_move", 12), ("approve", 5), ("withdraw", 1),
        ("adjust", 4), ("credit", 2), ("opening", 2), ("write_off", 2), ("reverse", 2), ("period_close", 1), ("repeat", 4),
    ]

    def __init__(self, seed, edge, name=None):
        self.chance = random.Random(seed)
        self.seed, self.edge = seed, edge
        tag = name or f"h{seed}"
        self.place = edge.open(tag)
        self.account, self.shops = self.place.account, self.place.shops
        self.ledger = Ledger(self.place.registry)
        self.ledger.journal.last = dict(self.place.entries)
        self.start = edge.now()
        self.programs = [f"{tag}-p{n}" for n in (1, 2)]
        self.creators = [f"{tag}-c{n}" for n in (1, 2, 3)]
        self.codes = [f"Code{n}" for n in range(5)]
        self.devices = [f"{tag}-anon{n}" for n in range(4)]
        self.order_ids = [f"order-{n}" for n in range(6)] + self.chance.sample(self.ODD_IDS, 2)
        self.platforms = {shop: self.chance.choice(edge.PLATFORMS) for shop in self.shops}
        self.sent = []  # (shop, topic, body)
        self.keyed = []  # (step, actor, key) of commands that were not refused
        self.keys = self.clock = self.steps = 0
        self.done = []  # what was put in, for people who look for a difference
        self.counters = dict.fromkeys(("applied", "stale", "duplicate", "catalog", "commands"), 0)
        self.seen_journal = []
        self.program_apply()
        self.creator_import()

    def step(self):
        names, weights = zip(*self.STEPS)
        name = self.chance.choices(names, weights)[0]
        self.steps += 1
        getattr(self, name)()
        if self.edge.IS_QUICK:
            self.take_in()
        return name

    def rest(self):
        self.edge.rest(self.chance.choice([1, 3, 10, 20]) * DAY)

    def drain(self):
        self.take_in()
        self.edge.drain(self.chance.choice([1, 3, 1000]))

    # Inputs -----------------------------------------------------------------------------------------

    def command(self, step, actor=None, key=None, reason="by hand"):
        """The model's result, which the real outcome has been compared with."""
        self.take_in()
        actor = actor or self.edge.actor(self.chance)
        if key is None:
            self.keys += 1
            key = f"{self.account}-{self.keys}"
        taken = self.edge.command(step, actor, key, reason)
        self.done.append((step, actor, key, taken))
        at = Input(self.place.node, taken.seq or 0, taken.received, self.account, actor, key, reason)
        ledger = self.ledger if taken.seq else copy.deepcopy(self.ledger)
        result = ledger.command(at, self.model_command(step, taken.received))
        self.counters["commands"] += taken.seq is not None
        where = f"seed {self.seed}, input {taken.seq}: {step} by {actor}"
        assert taken.outcome == self.edge.OUTCOMES[result.outcome], (
            f"{where}: is {taken.outcome} ({taken.text}), should be {result.outcome} ({result.text})"
        )
        if taken.command_id is not None and result.outcome != "refused":
            assert taken.command_id == result.command_id, where
        if result.outcome not in ("refused", "repeated") and (step, actor, key) not in self.keyed:
            self.keyed.append((step, actor, key))
        return result

    def model_command(self, step, now):
        command = VERBS[verb_of(step)](Names(now), step)
        if "shop" in step:
            command["shop"] = step["shop"]
        if command["do"] == "program apply":
            rows = [{**row, "account": self.account} for row in command["programs"]]
            policies = [{**row, "account": self.account} for row in command["policies"]]
            return {**command, "programs": rows, "policies": policies}
        return command

    def take_in(self):
        """Gives the model what was sent, in the order of the queue."""
        for taken in self.edge.taken():
            at = Input(self.place.node, taken.seq, taken.received, self.account)
            if isinstance(taken.body, list):
                self.ledger.products(at, taken.shop, taken.topic, taken.body)
                self.counters["catalog"] += 1
                continue
            outcome = self.ledger.event(at, taken.shop, taken.topic, taken.body, taken.source).outcome
            self.counters[outcome] += 1
            assert taken.outcome in (None, outcome), f"seed {self.seed}, input {taken.seq}: is {taken.outcome}, not {outcome}"

    # Contents ---------------------------------------------------------------------------------------

    def any_order(self):
        orders = sorted(self.ledger.orders.values(), key=lambda order: order.key)
        return self.chance.choice(orders) if orders else None

    def any_creator(self):
        """By any id that it ever had."""
        creator = self.chance.choice(self.creators)
        later = [new for (_, new), first in self.ledger.aliases.items() if first == creator]
        return self.chance.choice([creator, creator, *later])


class Names:
    """The interface of an example that VERBS use: here every id is written in full."""

    def __init__(self, now):
        self.now, self.digests, self.names = now, Same(), Same()

    @staticmethod
    def full(word):
        return word


class Same:
    def __getitem__(self, name):
        return name


def verb_of(step):
    return next(verb for verb in VERBS if verb in step)
