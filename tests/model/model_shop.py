"""The worked examples' words done to the model alone: the model must give their figures too."""

import csv
import itertools
import time
import tomllib

from harness import sign
from model.answer import Answer
from model.books import listings
from model.books.example_inputs import program_row
from model.books.ledger import Ledger
from model.books.state import Input
from model.core_edge import NODE
from model.rules import Shop
from model.values import instant


class Unsupported(Exception):
    """The example is about something that the model leaves out."""


class ModelStore:
    """Stands for the `sluice` program."""

    def __init__(self):
        self.ledger = Ledger({})
        self.numbers = itertools.count(1)
        self.counters = dict.fromkeys(("applied", "stale", "duplicate"), 0)
        self.commands = {
            ("program", "apply"): self._programs,
            ("creator", "import"): self._creators,
            ("creator", "remove"): self._remove,
            ("click", "import"): self._clicks,
            ("payout", "settle"): lambda words, _: {"do": "settle", "ids": words},
            ("anomaly", "ack"): lambda _, o: {"do": "anomaly ack", **self._order(o), "kind": o["--kind"]},
            ("adjust",): lambda _, o: {"do": "adjust", **self._order(o), "amount": o["--amount"]},
        }

    def account(self, account):
        self.ledger.registry[account] = (len(self.ledger.registry) + 1, {})
        return account

    def shop(self, shop, account):
        self.ledger.registry[account][1][shop] = len(self.ledger.shops) + 1
        self.ledger.shops[shop] = account
        return shop

    def token(self, *_):
        return "id", "secret"

    def drain(self):
        pass

    def stats(self):
        return dict(self.counters)

    def refuses(self, *arguments, **_):
        raise Unsupported(arguments)

    def input(self, account, reason=""):
        return Input(NODE, next(self.numbers), time.time_ns(), account, "finance", reason=reason)

    def event(self, shop, topic, body):
        at = self.input(self.ledger.shops[shop])
        self.counters[self.ledger.event(at, shop, topic, body).outcome] += 1
        return at.seq

    def __call__(self, *arguments):
        words, options = split(arguments)
        make = self.commands.get(tuple(words[:2])) or self.commands.get(tuple(words[:1]))
        if make is None:
            raise Unsupported(words)
        self.run(make(words[2:], options), options)

    def run(self, command, options):
        (account, *_) = self.ledger.registry
        result = self.ledger.command(self.input(options.get("--account", account), options.get("--reason", "")), command)
        assert result.outcome in ("done", "nothing"), (command, result)
        return result

    @staticmethod
    def _order(options):
        return {"shop": options["--shop"], "order": options["--order"]}

    def _programs(self, words, _):
        with open(words[0], "rb") as file:
            programs = tomllib.load(file)["program"]
        for program in programs:
            program["rules"] = program.pop("rule", [])
        return {"do": "program apply", "programs": [program_row(program) for program in programs]}

    def _creators(self, words, _):
        with open(words[0], newline="") as file:
            rows = [dict(zip(("creator", "program", "code"), row)) for row in list(csv.reader(file))[1:]]
        return {"do": "creator import", "rows": rows}

    def _clicks(self, words, _):
        with open(words[0], newline="") as file:
            rows = [
                {"device": device, "creator": creator, "program": program, "at": instant(at)}
                for device, creator, program, at in list(csv.reader(file))[1:]
            ]
        return {"do": "click import", "rows": rows}

    def _remove(self, words, options):
        end = {"at": instant(options["--at"])} if "--at" in options else {}
        return {"do": "creator remove", "creator": words[0], "program": options["--program"], "code": options.get("--code"), **end}

    def json(self, *arguments):
        words, options = split(arguments)
        if words == ["payout", "list"]:
            return listings.payout_rows(self.ledger, options["--account"])
        if words != ["payout", "close"]:
            raise Unsupported(words)
        programs = [options["--program"]] if "--program" in options else []
        command = {"do": "payout close", "until": instant(options["--until"]), "programs": programs}
        result = self.run(command, options)
        made = [self.ledger.payouts[payout_id] for payout_id in result.payouts]
        return {"payouts": [listings.payout_row(self.ledger, payout) for payout in made]}

    def report(self, kind, *arguments):
        _, options = split(arguments)
        rows = [row for account in self.ledger.registry for row in self._rows(kind, account)]
        return [
            row for row in rows
            if options.get("--shop", row.get("shop_id")) == row.get("shop_id")
            and options.get("--account", row.get("account_id")) == row.get("account_id")
            and row.get("kind") != "ORDERED_LONG_AGO"
        ]

    def _rows(self, kind, account):
        if kind == "products":
            return [
                {**record, "shop_id": shop}
                for shop, catalog in self.ledger.catalogs.items() for record in catalog.records.values()
            ]
        if kind == "payouts":
            return listings.payout_rows(self.ledger, account)
        if kind in ("orders", "balances"):
            return getattr(listings, kind)(self.ledger, account, time.time_ns())
        return getattr(listings, kind)(self.ledger, account)

    def postings(self, *arguments):
        return [row for row in self.report("journal", *arguments) if row["amount"] is not None]


def split(arguments):
    """Words, and options with their values."""
    words, options = [], {}
    rest = [str(argument) for argument in arguments]
    while rest:
        word = rest.pop(0)
        if word.startswith("--") and "=" in word:
            name, _, options[name] = word.partition("=")
        elif word.startswith("--"):
            options[word] = rest.pop(0)
        else:
            words.append(word)
    return words, options


class ModelEdge:
    """Stands for nginx."""

    def __init__(self, folder):
        self.folder = folder
        self.sluice = ModelStore()

    def __getattr__(self, name):
        raise Unsupported(name)

    def post_event(self, shop, _, topic, document):
        return Answer(self.sluice.event(shop, topic, sign.encode(document)))

    def post_catalog(self, shop, _, topic, document, _key):
        at = self.sluice.input(self.sluice.ledger.shops[shop])
        self.sluice.ledger.products(at, shop, topic, document["products"])
        return Answer(at.seq)


def model_shop(folder):
    return Shop(ModelEdge(folder))
