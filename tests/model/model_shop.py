"""The worked examples' words done to the model alone: the model must give their figures too."""

import csv
import itertools
import time
import tomllib

from harness import sign
from model.ledger_model import Ledger
from model.rules import Shop
from model.values import digits, instant, text, time_text


class Unsupported(Exception):
    """The example is about something that the model leaves out."""


class ModelStore:
    """Stands for the `sluice` program."""

    def __init__(self):
        self.ledger = Ledger()
        self.numbers = itertools.count(1)
        self.commands = {
            ("program", "apply"): self._program_apply,
            ("creator", "import"): self._creator_import,
            ("creator", "remove"): self._creator_remove,
            ("touch", "import"): self._touch_import,
            ("payout", "close"): self._payout_close,
            ("adjust",): self._adjust,
        }

    def account(self, account):
        return account

    def shop(self, shop, account):
        self.ledger.accounts[shop] = account
        return shop

    def token(self, *_):
        return "id", "secret"

    def drain(self):
        pass

    def stats(self):
        return dict(self.ledger.counters)

    def refuses(self, *arguments, **_):
        raise Unsupported(arguments)

    def __call__(self, *arguments):
        next(self.numbers)
        words, options = [], {}
        rest = list(arguments)
        while rest:
            word = str(rest.pop(0))
            if word.startswith("--") and "=" in word:
                name, _, options[name] = word.partition("=")
            elif word.startswith("--"):
                options[word] = str(rest.pop(0))
            else:
                words.append(word)
        command = self.commands.get(tuple(words[:2])) or self.commands.get(tuple(words[:1]))
        if command is None:
            raise Unsupported(words)
        command(words[2:], options)

    def _program_apply(self, words, _):
        with open(words[0], "rb") as file:
            programs = tomllib.load(file)["program"]
        self.ledger.program_apply(programs)

    def _creator_import(self, words, _):
        with open(words[0], newline="") as file:
            self.ledger.creator_import(list(csv.reader(file))[1:])

    def _touch_import(self, words, _):
        with open(words[0], newline="") as file:
            rows = list(csv.reader(file))[1:]
        self.ledger.touch_import([(anon, c, p, instant(at)) for anon, c, p, at in rows])

    def _creator_remove(self, words, options):
        self.ledger.creator_remove(words[0], options["--program"], options.get("--code"))

    def _payout_close(self, _, options):
        self.ledger.payout_close(options["--program"], instant(options["--until"]))

    def _adjust(self, _, options):
        self.ledger.adjust(options["--shop"], options["--order"], options["--amount"])

    def json(self, *words):
        if words == ("payout", "list"):
            return self.report("payouts")
        raise Unsupported(words)

    def report(self, kind, *arguments):
        shop = arguments[1] if arguments else None
        assert arguments in ((), ("--shop", shop))
        rows = getattr(self, f"_{kind}")()
        return [row for row in rows if shop is None or row["shop_id"] == shop]

    def _orders(self):
        return self.ledger.report_orders()

    def _journal(self):
        return [
            {
                "line_item_id": entry.line, "amount": text(entry.amount, digits(entry.currency)),
                "reason": sorted(entry.reasons)[-1], "shop_id": entry.shop, "order_id": entry.order,
                "event_seq": entry.seq, "currency": entry.currency,
            }
            for entry in self.ledger.journal
        ]

    def _anomalies(self):
        return [
            {"shop_id": shop, "kind": kind, "event_seq": value[0], "count": value[1]}
            for (shop, _, kind), value in self.ledger.anomalies.items()
        ]

    def _balances(self):
        accounts = {program["id"]: program["account"] for program in self.ledger.programs.values()}
        return [
            {"account_id": accounts[key[0]], "creator_id": key[1], "currency": key[2], **row}
            for key, row in self.ledger.report_balances(time.time_ns()).items()
        ]

    def _payouts(self):
        return [
            {"program_id": p, "creator_id": c, "currency": u, "amount": text(a, digits(u)), "until": time_text(t)}
            for p, c, u, a, t in self.ledger.payouts
        ]

    def _products(self):
        return [
            {**record, "shop_id": shop}
            for shop, catalog in self.ledger.catalogs.items()
            for record in catalog.records.values()
        ]


class ModelEdge:
    """Stands for nginx."""

    def __init__(self, folder):
        self.folder = folder
        self.sluice = ModelStore()

    def __getattr__(self, name):
        raise Unsupported(name)

    def post_event(self, shop, _, topic, document):
        seq = next(self.sluice.numbers)
        self.sluice.ledger.event(seq, shop, topic, sign.encode(document), time.time_ns())
        return Accepted(seq)

    def post_catalog(self, shop, _, topic, document, _key):
        self.sluice.ledger.products(shop, topic, document["products"])
        return Accepted(next(self.sluice.numbers))


class Accepted:
    status = 200

    def __init__(self, seq):
        self.seq = seq

    def header(self, _):
        return str(self.seq)


def model_shop(folder):
    return Shop(ModelEdge(folder))
