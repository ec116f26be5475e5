"""A store with two orders, and the people of one company who work on it: the fixtures of the tests of controls."""
import csv
import itertools
import json
import shutil

import pytest
from harness import orders, paths
from harness.cli import Sluice, as_user, now
from harness.edge import Edge
from harness.http_block import EVENTS, http_block
from harness.postgres import Server, missing

ACME, WHY = ("--account", "acme"), ("--reason", "as agreed")
EVE, FRANK, GINA = "man", "news", "games"  # users of every Debian
POLICY = f"[[policy]]\naccount = 'acme'\napprovers = ['{FRANK}', '{GINA}']\n"
PROGRAM = "[[program]]\nid = 'spring'\naccount = 'acme'\ndefault_rate = '{rate}'\nlate_days = 36500\n"
NUMBERS = itertools.count()
FURNISHED = {}  # (filled, kind): an office that is only copied, because furnishing takes five processes
PAYEES = """payee,name,iban,bic
ref-ann,Ann & Co,DE89370400440532013000,
ref-bob,Bob,GB82WEST12345698765432,
ref-eve,Eve,FR1420041010050500013M02606,
"""


class Person(Sluice):
    """The commands of one user, who logged in."""

    def __init__(self, name, office):
        super().__init__(office.store)
        self.prefix = as_user(name)

    def digest(self, of):
        return self.json("approvals", "show", of, *ACME)["digest"]

    def approve(self, of):
        return self("approve", of, *ACME, "--expect", self.digest(of))


class Office:
    """A store with two orders, 8.00 USD each for ann and bob, and the people who work on it."""

    def __init__(self, store, folder, database):
        self.store, self.folder, self.database = store, folder, database
        self.eve, self.frank, self.gina = (Person(name, self) for name in (EVE, FRANK, GINA))
        self.payees = self.file("payees.csv", PAYEES)
        self.out = folder / "out.csv"

    def furnish(self):
        """Makes the ledger, the program and the creators."""
        if self.database:
            self.eve("ledger", "migrate", "--ledger", self.database.create(self.folder.name))
            self.eve("worker", "--until-empty", "--ledger", self.database.url(self.folder.name))
        self.apply(PROGRAM.format(rate="10%"))
        self.eve("creator", "import", self.file(
            "c.csv", "creator_id,program_id,code,payee\nann,spring,SAVE,ref-ann\nbob,spring,GIVE,ref-bob\n"))
        return self

    def copied_to(self, folder):
        """An office with a copy of the store, and of the database, which `ledger.url` names."""
        store = shutil.copytree(self.store, folder / "store", symlinks=True)
        if self.database:
            self.database.query(f"CREATE DATABASE {folder.name} TEMPLATE {self.folder.name}", database="postgres")
            bound = store / "ledger.url"
            bound.write_text(bound.read_text().replace(self.folder.name, folder.name))
        return Office(store, folder, self.database)

    def file(self, name, text):
        (self.folder / name).write_text(text)
        return self.folder / name

    def apply(self, text, by=None):
        return (by or self.eve).run("program", "apply", self.file("p.toml", text))

    def allow(self, policy):
        """Sets acme's policy: the first one needs no approval."""
        done = self.apply(POLICY + policy)
        assert done.returncode == 0, done

    def close(self, *more, by=None):
        return (by or self.eve).json("payout", "close", *ACME, "--until", now(), *more)["payouts"]

    def export(self, *what):
        return ("payout", "export", *what, *ACME, "--form", "csv", "--payees", self.payees, "--out", self.out)

    def paid_to(self):
        return [row["payee"] for row in csv.DictReader(self.out.read_text().splitlines())]

    def memos(self, reason):
        return [row for row in self.eve.json("report", "journal", *ACME) if row["reason"] == reason]

    def finish(self):
        """Applies what a killed command left in the queue."""
        self.eve("worker", "--until-empty", *(("--ledger", self.database.url(self.folder.name)) if self.database else ()))

    def sql(self, text):
        return self.database.query(text, self.folder.name)

    def pending(self):
        return [row["id"] for row in self.eve.json("approvals", *ACME)]

    def is_sound(self):
        rows = json.loads(self.eve.run("doctor", "--format", "json").stdout)
        return [row["result"] for row in rows if row["check"] == "journal"] == ["ok"]


@pytest.fixture(scope="module")
def filled():
    """A store whose queue has the orders; each test gets a copy."""
    folder = paths.make_folder()
    with Edge(http_block(EVENTS, limit="off", map_size="64m")) as edge:
        edge.start()
        for account, shop in (("acme", "shop-1"), ("other", "shop-2")):
            edge.sluice.account(account)
            edge.sluice.shop(shop, account)
        _, secret = edge.sluice.token("acme", "write_orders")
        for name, code in (("o1", "SAVE"), ("o2", "GIVE"), ("o3", "NONE")):
            document = orders.order(name, discounts=[
                {"code": code, "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "5"}])
            assert edge.post_event("shop-1", secret, "ORDER_CREATE", document).status == 200
        edge.stop()
        shutil.copytree(edge.store, folder / "filled", symlinks=True)
    yield folder / "filled"
    paths.drop_folder(folder)


@pytest.fixture(scope="module")
def database():
    if missing():
        pytest.fail(missing())
    with Server() as server:
        yield server


@pytest.fixture(params=["lmdb", "postgres"])
def open_office(request, filled, database):
    """Opens offices on copies of the same store."""
    folders, kind = [], (filled, request.param)

    def new_folder():
        folder = filled.parent / f"{request.param}_{next(NUMBERS)}"
        folder.mkdir()
        return folder

    def make():
        if kind not in FURNISHED:
            folder = new_folder()
            store = shutil.copytree(filled, folder / "store", symlinks=True)
            FURNISHED[kind] = Office(store, folder, database if request.param == "postgres" else None).furnish()
        folders.append(new_folder())
        return FURNISHED[kind].copied_to(folders[-1])

    yield make
    for folder in folders:
        shutil.rmtree(folder)


@pytest.fixture
def office(open_office):
    return open_office()
