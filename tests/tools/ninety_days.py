#!/usr/bin/env python3
"""An account with ninety days of orders until now, with a faked clock: what the page's pictures show.

    tests/tools/ninety_days.py FOLDER        leaves the store in FOLDER/store

Three shops, two programs, twenty creators and three currencies. Orders arrive through nginx, everything else is done
by the real commands: payouts of each month, a failed payout, closed periods, holds, an approval that waits, a new
version of a program. The same numbers come out each time, only the days move.
"""
import datetime
import pathlib
import random
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from harness import orders  # noqa: E402
from harness.cli import Sluice  # noqa: E402
from harness.edge import Edge  # noqa: E402
from harness.fake_time import FakeTime  # noqa: E402
from harness.http_block import CLICKS, EVENTS, http_block  # noqa: E402

DAYS = 90
SHOPS = {"acme-us": ("USD", 0.3), "acme-de": ("EUR", 0.55), "acme-uk": ("GBP", 0.15)}
CREATORS = {
    "anna.lindqvist": "Anna Lindqvist", "leo": "Leo Marchetti", "mira-cooks": "Mira Okafor", "thefitnessfox": "Jonas Brandt",
    "sewing_with_sal": "Sally Nguyen", "ravi.outdoors": "Ravi Pillai", "chloe": "Chloé Durand", "budget-ben": "Ben Adeyemi",
    "plantmum": "Ines Ferreira", "noor": "Noor Haddad", "kitchen-karl": "Karl Winter", "tess": "Tess O'Brien",
    "two-wheels": "Marek Kowal", "bookish.bea": "Bea Santos", "dadvice": "Tom Fletcher", "yuki": "Yuki Tanaka",
    "studio-lou": "Louise Petit", "hikewithkai": "Kai Becker", "zara.bakes": "Zara Khan", "olsen": "Nils Olsen",
}
PROGRAMS = """
[[policy]]
account = "acme"
min_payout = ["10.00 EUR", "10.00 USD", "10.00 GBP"]
approve_adjust_above = ["50.00 EUR"]

[[program]]
id = "main"
account = "acme"
shops = ["acme-us", "acme-de"]
default_rate = "{rate}"
clearing_days = 14
late_days = 400
{rule}
[[program]]
id = "outlet"
account = "acme"
shops = ["acme-uk"]
default_rate = "6%"
clearing_days = 30
late_days = 400
"""
RULE = """
[[program.rule]]
match = "sku"
value = "GIFT-CARD"
rate = "0%"
"""
SKUS = ("TEE-RED-M", "TEE-BLUE-S", "MUG", "POSTER-A2", "HOODIE-L", "TOTE", "GIFT-CARD", "CANDLE")


LINKS = {"mug": "MUG", "hoodie": "HOODIE-L", "sale": ""}  # what each of the first creators links to
LINKED = list(CREATORS)[:8]


def instant(at):
    return at.strftime("%Y-%m-%dT%H:%M:%SZ")


def link_of(creator, name):
    return f"{creator.replace('.', '-').replace('_', '-')}-{name}"


def code_of(creator):
    return creator.replace(".", "").replace("-", "").replace("_", "")[:8].upper() + "10"


class Ninety:
    def __init__(self, folder):
        self.folder, self.random = pathlib.Path(folder), random.Random(90)
        self.now = datetime.datetime.now(datetime.timezone.utc)
        self.first = (self.now - datetime.timedelta(days=DAYS)).replace(hour=0, minute=0, second=0, microsecond=0)
        self.clock = FakeTime()
        self.edge = Edge(http_block(EVENTS, CLICKS, map_size="256m", limit="off"), workers=1, main=self.clock.nginx_lines,
                         environment=self.clock.environment)
        self.sluice = Sluice(self.edge.store, self.clock.environment)
        self.number, self.later = 104000, []

    def begin(self):
        self.clock.set(instant(self.first - datetime.timedelta(days=1)))
        self.sluice("account", "create", "acme")
        for shop in SHOPS:
            self.sluice("shop", "create", shop, "--account", "acme")
        self.secret = self.sluice.json("token", "create", "--account", "acme", "--scope", "write_orders")["secret"]
        self.clicks_secret = self.sluice.json("token", "create", "--account", "acme", "--scope", "write_clicks")["secret"]
        self.apply(rate="8%", rule="")
        rows = ["creator_id,program_id,code,name,payee"]
        for place, (creator, name) in enumerate(CREATORS.items()):
            rows.append(f"{creator},main,{code_of(creator)},{name},DE89370400440532{place:06}")
            if place % 3 == 0:
                rows.append(f"{creator},outlet,{code_of(creator)}UK,,")
        self.sluice("creator", "import", self.file("creators.csv", "\n".join(rows) + "\n"))
        rows = ["link_id,program_id,creator_id,to,deep"]
        rows += [f"{link_of(creator, name)},main,{creator},https://shop.acme.example/{path.lower()},"
                 for creator in LINKED for name, path in LINKS.items()]
        self.sluice("link", "import", self.file("links.csv", "\n".join(rows) + "\n"), "--account", "acme")
        self.sluice("user", "add", "gina@acme.example", "--account", "acme", "--role", "manager")
        self.sluice("user", "add", "sam@acme.example", "--account", "acme", "--role", "viewer")

    def apply(self, **values):
        self.sluice("program", "apply", self.file("programs.toml", PROGRAMS.format(**values)))

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    # A day -------------------------------------------------------------------------------------------------------

    def order(self, at):
        shop = self.random.choices(list(SHOPS), [share for _, share in SHOPS.values()])[0]
        self.number += self.random.randint(1, 3)
        lines, amount, tax = [], 0, 0
        for place in range(self.random.choice((1, 1, 1, 2, 2, 3))):
            net = round(self.random.lognormvariate(3.6, 0.6), 2)
            lines.append(orders.line(f"{place + 1}", sku=self.random.choice(SKUS), amount=f"{net * 1.2:.2f}", tax=f"{net * .2:.2f}"))
            amount, tax = amount + float(lines[-1]["amount"]), tax + float(lines[-1]["tax"])
        document = orders.order(str(self.number), amount=f"{amount + 4.9:.2f}", tax=f"{tax:.2f}", shipping="4.90",
                                currency_code=SHOPS[shop][0], platform_ordered_at=instant(at), platform_updated_at=instant(at),
                                line_items=lines)
        code = self.code(shop)
        if shop != "acme-uk" and self.random.random() < 0.4:
            document["svc_anon_id"] = f"device-{self.number}"
            if not code and self.random.random() < 0.7:
                self.click([self.clicked(document["svc_anon_id"], at - datetime.timedelta(minutes=self.random.randint(1, 90)))])
        if code:
            document["discounts"] = [{"code": code, "type": "DISCOUNT_CODE", "value_type": "PERCENTAGE", "value": "10"}]
        return shop, document

    def code(self, shop):
        chance = self.random.random()
        if chance < 0.34:
            return None
        if chance < 0.40:
            return self.random.choice(("WELCOME5", "ANNA15", "FREESHIP"))
        weights = [1 / (place + 1.5) for place in range(len(CREATORS))]
        place = self.random.choices(range(len(CREATORS)), weights)[0]
        if shop == "acme-uk":
            place -= place % 3
        return code_of(list(CREATORS)[place]) + ("UK" if shop == "acme-uk" else "")

    def clicked(self, device, at):
        creator = self.random.choices(LINKED, [1 / (place + 1.2) for place in range(len(LINKED))])[0]
        link = link_of(creator, self.random.choices(list(LINKS), (5, 3, 1))[0])
        return {"svc_anon_id": device, "program_id": "main", "creator_id": creator, "occurred_at": instant(at), "link_id": link}

    def click(self, clicks):
        answer = self.edge.post_event("acme-us", self.clicks_secret, "CLICK", {"clicks": clicks}, target="/event/click")
        assert answer.status == 200, answer

    def look_around(self, day):
        """Clicks of visitors who order nothing."""
        times = sorted(self.random.uniform(0, 1439) for _ in range(int(self.random.gauss(60, 12))))
        clicks = [self.clicked(f"visitor-{self.random.randint(1, 4000)}", day + datetime.timedelta(minutes=minute)) for minute in times]
        clicks = [one for one in clicks if one["occurred_at"] < instant(self.now)]
        if clicks:
            self.click(clicks)

    def send(self, shop, topic, document):
        answer = self.edge.post_event(shop, self.secret, topic, document)
        assert answer.status == 200, answer

    def day(self, day):
        busy = 1.35 if day.weekday() >= 5 else 1.0
        minutes = sorted(self.random.uniform(300, 1439) for _ in range(int(self.random.gauss(42, 6) * busy)))
        for minute in minutes:
            at = day + datetime.timedelta(minutes=minute)
            if at > self.now:
                break
            self.clock.set(instant(at))
            shop, document = self.order(at)
            self.send(shop, "ORDER_CREATE", document)
            self.change_later(at, shop, document)
        self.look_around(day)
        due = [change for change in self.later if change[0] < day + datetime.timedelta(days=1) and change[0] < self.now]
        self.later = [change for change in self.later if change not in due]
        for at, shop, topic, document in sorted(due, key=lambda change: change[0]):
            self.clock.set(instant(max(at, day)))
            self.send(shop, topic, document)

    def change_later(self, at, shop, document):
        chance = self.random.random()
        then = at + datetime.timedelta(days=self.random.uniform(0.2, 12))
        if chance < 0.05:
            line = document["line_items"][0]
            changed = {**document, "platform_updated_at": instant(then), "refund_line_items": [orders.refund(
                f"r{self.number}", line["line_item_id"], amount=line["amount"], tax=line["tax"], platform_refunded_at=instant(then))]}
            self.later.append((then, shop, "ORDER_UPDATE", changed))
        elif chance < 0.07:
            changed = {**document, "platform_updated_at": instant(then), "platform_cancelled_at": instant(then)}
            self.later.append((then, shop, "ORDER_CANCEL", changed))
        elif chance < 0.075:
            self.later.append((then, shop, "ORDER_CANCEL", {**document, "platform_cancelled_at": instant(then)}))

    # A month ------------------------------------------------------------------------------------------------------

    def pay(self, day):
        """Pays the cleared commissions on the first day of a month, and closes the months before the last."""
        mine, paid = ("--account", "acme"), ("--reason", "monthly payout")
        closed = self.sluice.json("payout", "close", *mine, "--until", instant(day))
        if not closed["payouts"]:
            return
        run = closed["payouts"][0]["payout_run"]
        assert run.startswith(f"C{day:%y%m%d}"), f"{run} was closed by another clock than that of {day}"
        self.sluice("payout", "sent", run, *mine, *paid)
        for place, payout in enumerate(closed["payouts"]):
            if place == 4 and day.month == self.now.month:
                self.sluice("payout", "failed", payout["payout_id"], *mine, "--reason", "account closed")
            elif place != 7:
                self.sluice("payout", "settle", payout["payout_id"], *mine, *paid, "--bank-ref",
                            f"B-{day:%y%m%d}-{place:03}")
        if day.month != self.now.month:
            self.sluice("period", "close", *mine, "--until", instant(day))

    def end(self):
        mine, why = ("--account", "acme"), ("--reason", "asked for proof of address")
        self.sluice("hold", *mine, "--creator", "budget-ben", *why)
        self.sluice.run("credit", *mine, "--creator", "anna.lindqvist", "--program", "main", "--amount", "120.00 EUR",
                        "--reason", "autumn campaign")

    def play(self):
        with self.edge:
            self.begin()
            self.edge.start()
            for number in range(DAYS + 1):
                day = self.first + datetime.timedelta(days=number)
                if day.day == 1:
                    self.clock.set(instant(day + datetime.timedelta(hours=5)))
                    self.sluice("worker", "--until-empty")
                    self.pay(day)
                if number == 40:
                    self.apply(rate="10%", rule=RULE)
                self.day(day)
                if number % 10 == 9:
                    self.sluice("worker", "--until-empty")
            self.clock.set(instant(datetime.datetime.now(datetime.timezone.utc)))
            self.sluice("worker", "--until-empty")
            self.end()
            self.sluice("worker", "--until-empty")
            self.edge.stop()
            shutil.copytree(self.edge.store, self.folder / "store", symlinks=True)
        return Sluice(self.folder / "store")


def build(folder):
    """Plays the ninety days. Returns the Sluice of FOLDER/store, with the real clock."""
    return Ninety(folder).play()


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    build(sys.argv[1])
