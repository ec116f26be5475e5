"""Programs, creators, clicks, and what people decide about orders, in a random history."""

from model.books.plausibility import KINDS
from model.books.signatures import Key
from model.values import DAY, time_text

HOUR = 3600 * 10**9
RATES = ["10%", "5%", "12.5%", "0.3333%", "33.3333%", "100%", "0%", "1.50 USD", "0.005 USD", "7 JPY", "0.0005 KWD",
         "2.255 EUR", "5.00 USD per order", "0.07 EUR per order", "11 JPY per order"]
FACTORS = ["x2", "x0.5", "x1.25", "x3"]
RULES = [("variant_sku", "v1"), ("sku", "s1"), ("sku", "s2"), ("product", "prod-1"), ("collection", "sale"),
         ("collection", "new"), ("brand", "acme"), ("tag", "t1"), ("tag", "t2"), ("sku", "s1"), ("brand", "acme"), ("sku_pattern", "s*"), ("sku_pattern", "*2"),
         None, None]
# Two approve by a signature only, one by name.
SIGNERS = [f"gina {Key('gina').public}", f"hugo {Key('hugo').public}", "frank"]
POLICIES = [
    {"min_payout": ["25.00 USD", "3 JPY"]}, {"blocking": []}, {"blocking": []}, {"require_payee": True},
    {"approve_payout_above": ["20.00 USD"]}, {"approve_adjust_above": ["4.00 USD", "1.00 EUR"]},
    {"approve_payout_above": ["5.00 USD", "2.00 EUR"], "approvers": ["frank", "gina"], "blocking": []},
    {"amount_limit": ["100.00 USD"], "blocking": ["AMOUNT_ABOVE_LIMIT"]}, {"lines_over": "0%", "max_share": "20%"},
    {"approve_attribution_above": ["5.00 USD", "2.00 EUR"], "approve_run_above": ["40.00 USD"]},
    {"approve_payee_change": True, "payee_cooling_days": 2}, {"approve_rates": True, "approve_period_close": True},
    {"approve_payout_above": [], "approve_adjust_above": ["2.00 USD"], "approvers": SIGNERS, "blocking": []},
    {"approve_payout_above": ["5.00 USD"], "approve_payee_change": True, "approvers": SIGNERS[:1], "payee_cooling_days": 1},
    {"max_rate": "50%"}, {"blocking": ["CURRENCY_CHANGED", "CREDITED_ORDER", "REFUND_EXCEEDS_LINE"]},
]


class Commands:
    # Programs -------------------------------------------------------------------------------------

    def program_apply(self):
        step = {"programs": [self.program(p) for p in self.programs if p not in self.ledger.programs or self.chance.random() < 0.5]}
        if self.chance.random() < 0.3:
            step["policy"] = self.chance.choice(POLICIES)
        if self.chance.random() < 0.1:
            step["effective_from"] = time_text(self.start - self.chance.randrange(60) * DAY)
        if step["programs"] or "policy" in step:
            self.command(step)

    def program(self, program_id):
        program = {
            "id": program_id,
            "shops": self.chance.choice([[], [], self.shops, self.shops[:1], self.shops[1:]]),
            "window_days": self.chance.choice([1, 30, 365]),
            "base": self.chance.choice(["net", "gross"]),
            "precedence": self.chance.choice(
                [["AFFILIATE_CODE", "LANDED"], ["LANDED", "AFFILIATE_CODE"], ["AFFILIATE_CODE"], ["LANDED"]]
            ),
            "clearing_days": self.chance.choice([0, 0, 14, 30, 400]),
            "late_days": self.chance.choice([0, 7, 30, 366, 36500]),
            "default_rate": self.chance.choice(RATES),
            "rules": [self.rule(chosen) for chosen in self.chance.sample(RULES, self.chance.randrange(6))],
        }
        if self.chance.random() < 0.3:
            program["default_tiers"] = self.tiers()
        if self.chance.random() < 0.25:
            self.rate_by_month(program)
        if self.chance.random() < 0.2:
            program["max_per_order"] = self.chance.choice([["20.00 USD"], ["3.33 USD", "1 JPY"], ["0.50 EUR", "100.00 USD"]])
        if self.chance.random() < 0.2:
            program["starts_at"] = time_text(self.start - self.chance.choice([1, 10, 20, 500]) * DAY)
        if self.chance.random() < 0.2:
            program["ends_at"] = time_text(self.start + self.chance.choice([-3, 5, 100]) * DAY + 60000 * DAY * ("starts_at" not in program))
        return program

    def rule(self, chosen):
        rule = {"match": chosen[0], "value": chosen[1]} if chosen else {}
        for name, make in {
            "creator": lambda: self.chance.choice(self.creators),
            "group": lambda: self.chance.choice(["gold", "silver"]),
            "customer": lambda: self.chance.choice(["new", "returning"]),
            "from": lambda: time_text(self.start - self.chance.choice([10, 20, 30]) * DAY),
            "until": lambda: time_text(self.start - self.chance.choice([0, 9, 19]) * DAY),
            "min_order_amount": lambda: self.chance.choice(["50.00 USD", "10 JPY"]),
        }.items():
            if self.chance.random() < 0.15:
                rule[name] = make()
        if not rule:
            rule["customer"] = "new"
        rule["rate"] = self.chance.choice(RATES)
        if self.chance.random() < 0.2:
            rule["rate"] = self.chance.choice(FACTORS)
        elif self.chance.random() < 0.2:
            rule["tiers"] = self.tiers()
        return rule

    def rate_by_month(self, program):
        """Tiers of the whole month: rates of one kind. Some files keep tiers that are refused."""
        program["tiers_apply"] = "month"
        if "default_tiers" not in program and self.chance.random() < 0.9:
            program["default_tiers"] = self.tiers()
        for place, name, tiers in [(program, "default_rate", "default_tiers"), *((r, "rate", "tiers") for r in program["rules"])]:
            if place.get(tiers) and self.chance.random() < 0.95:
                place[name] = "10%"
                place[tiers] = [{**row, "rate": self.chance.choice(["0%", "5%", "12.5%", "30%"])} for row in place[tiers]]

    def tiers(self):
        return [
            {"from": f"{start} {currency}", "rate": self.chance.choice(RATES[:7])}
            for currency in self.chance.sample(["USD", "EUR", "JPY"], 2)
            for start in self.chance.choice([["0"], ["100"], ["50", "1000"]])
        ]

    # Creators and clicks -------------------------------------------------------------------------

    def any_date(self):
        return time_text(self.start - self.chance.choice([0, 1, 9, 20, 39, 41, 500]) * DAY - self.chance.choice([0, 6]) * HOUR)

    def creator_import(self):
        step = {"creators": [self.member() for _ in range(self.chance.randrange(1, 4))]}
        if self.chance.random() < 0.1:
            step["effective_from"] = self.any_date()
        self.command(step)

    def member(self):
        row = {"creator": self.any_creator(), "program": self.chance.choice(self.programs)}
        if self.chance.random() < 0.8:
            code = self.chance.choice(self.codes)
            row["code"] = self.chance.choice([code, code.upper()])
            owners = [
                r.creator for name, p in self.ledger.programs.items() if name == row["program"]
                for r in p.codes.get(code.lower(), [])
            ]
            if owners and self.chance.random() < 0.8:
                row["creator"] = self.chance.choice(owners)
            if self.chance.random() < 0.5:
                row["valid_from"] = self.any_date()
            if self.chance.random() < 0.2:
                row["valid_until"] = self.any_date()
        for name, values in {"group": ["gold", "silver"], "name": ["Ann", "Ümit"], "payee": ["iban-1", "iban-2"]}.items():
            if self.chance.random() < 0.2:
                row[name] = self.chance.choice(values)
        return row

    def creator_remove(self):
        codes = [
            (row.creator, name, code)
            for name, program in sorted(self.ledger.programs.items())
            for code, rows in sorted(program.codes.items()) for row in rows
        ]
        if not codes:
            return
        creator, program, code = self.chance.choice(codes)
        kind = self.chance.random()
        if kind < 0.3:
            self.command({"remove": [creator, program]})
        elif kind < 0.6:
            self.command({"remove": [creator, program, code]})
        else:
            self.command({"remove": [creator, program, code, self.any_date()]})

    def creator_set(self):
        change = {"creator": self.any_creator()}
        change[self.chance.choice(["name", "payee"])] = self.chance.choice(["", "new"])
        if self.chance.random() < 0.5:
            change.update(program=self.chance.choice(self.programs), group=self.chance.choice(["", "gold", "silver"]))
        self.command({"set": change})

    def creator_rename(self):
        self.keys += 1
        new = f"{self.account}-new{self.keys}"
        self.command({"rename": [self.any_creator(), self.chance.choice([new, new, *self.creators])]})

    def click_import(self):
        members = sorted((c, name) for name, p in self.ledger.programs.items() for c in p.members)
        if not members:
            return
        rows = [self.click(*self.chance.choice(members)) for _ in range(self.chance.randrange(1, 4))]
        step = {"clicks": rows}
        if self.chance.random() < 0.1:
            step["effective_from"] = self.any_date()
        self.command(step)

    def click(self, creator, program):
        at = self.start - self.chance.randrange(50) * DAY
        order = self.any_order()
        if order and self.chance.random() < 0.8:
            window = self.ledger.programs[program].file["window_days"] * DAY
            at = order.ordered_at + self.chance.choice([0, 1, -1, -window, -window - 1, 1 - window, -HOUR])
        return [self.chance.choice(self.devices), creator, program, time_text(at)]

    # Orders ---------------------------------------------------------------------------------------

    def on_order(self, verb, order=None, **members):
        order = order or self.any_order()
        if order is not None:
            return self.command({verb: {"order": order.order_id, **members}, "shop": order.shop})
        return None

    def attribute(self):
        members = {"creator": self.any_creator(), "program": self.chance.choice(self.programs)}
        if self.chance.random() < 0.6:
            members["replace"] = True
        self.on_order("attribute", **members)

    def detach(self):
        self.on_order("detach", **({"retry": True} if self.chance.random() < 0.4 else {}))

    def undo(self):
        """Returns the command id of an import, an apply or an `attribute`."""
        causes = sorted({order.position.cause for order in self.ledger.orders.values() if order.live} - {""})
        if causes:
            retry = {"retry": True} if self.chance.random() < 0.4 else {}
            self.command({"detach": {"cause": self.chance.choice(causes), **retry}})

    def reject(self):
        self.on_order("reject")

    def hold(self):
        if self.chance.random() < 0.6:
            self.on_order("hold")
        else:
            self.command({"hold": self.held_creator()})

    def held_creator(self):
        program = {"program": self.chance.choice(self.programs)} if self.chance.random() < 0.5 else {}
        return {"creator": self.any_creator(), **program}

    def release(self):
        if self.chance.random() < 0.3:
            held = sorted(self.ledger.held_creators)
            if held:
                _, creator, program = self.chance.choice(held)
                self.command({"release": {"creator": creator, **({"program": program} if program else {})}})
            return
        orders = sorted((o for o in self.ledger.orders.values() if o.held or o.rejected), key=lambda o: o.key)
        of = self.chance.choice([{}, {"of": "hold"}, {"of": "reject"}])
        self.on_order("release", self.chance.choice(orders) if orders else None, **of)

    def acknowledge(self):
        orders = sorted((o for o in self.ledger.orders.values() if o.anomalies), key=lambda o: o.key)
        if orders:
            order = self.chance.choice(orders)
            kind = self.chance.choice(sorted(order.anomalies)) if self.chance.random() < 0.9 else self.chance.choice(KINDS)
            self.on_order("ack", order, kind=kind)

    def order_reset(self):
        order = self.any_order()
        if order is None:
            return
        ahead = [o for o in self.ledger.orders.values() if o.version > self.edge.now()]
        order = min(ahead, key=lambda o: o.key) if ahead else order
        version = self.chance.choice([None, None, order.version, order.version - 1, order.ordered_at])
        self.on_order("reset", order, **({} if version is None else {"version": time_text(version)}))

    def forget(self):
        order = self.any_order()
        if order is None:
            return
        kind = self.chance.choice(["order", "device", "creator", "customer", "email", "phone"])
        if kind == "creator":
            self.command({"forget": {"creator": self.any_creator()}})
            return
        value = {
            "order": order.order_id, "device": self.chance.choice(self.devices), "customer": "customer-1",
            "email": "mail@example.ORG", "phone": "+4912345",
        }[kind]
        self.command({"forget": {kind: value}, "shop": order.shop})
