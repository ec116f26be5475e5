"""The rules behind a pipe: stands for nginx, queue and program in a History, at many times the
speed. tests/tools/ledger_driver.cpp is the other end.
"""

import csv
import json
import subprocess
import time
import tomllib

from harness import paths
from model.answer import Answer
from model.values import time_text

DRIVER = paths.BUILD / "tests" / "ledger_driver"


class CoreEdge:
    """`ledger`: a folder for the embedded ledger; None: one in memory."""

    def __init__(self, folder, ledger=None):
        self.folder = folder
        command = [str(DRIVER)] + ([str(ledger)] if ledger else [])
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.sluice = CoreProgram(self)
        self.now = time.time_ns()
        self.rows = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        assert self.process.wait(timeout=paths.DEADLINE) == 0
        self.process.stdout.close()

    def ask(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        assert line, f"ledger_driver ended at {request}"
        return json.loads(line)

    def input(self, **request):
        self.rows = None
        answer = self.ask(at=time_text(time.time_ns()), **request)
        assert not answer["failed"], (request, answer)
        return Answer(answer["seq"])

    def reports(self):
        if self.rows is None:
            self.rows = self.ask(op="report", now=time_text(self.now))
            assert not self.rows["broken"], self.rows["broken"]
        return json.loads(json.dumps(self.rows))

    def connect(self):
        return None

    def post_event(self, shop, _secret, topic, body, connection=None):
        anon = json.loads(body).get("svc_anon_id") or ""
        return self.input(op="event", shop=shop, topic=topic, body=body.decode(), anon=anon)

    def post_catalog(self, shop, _secret, topic, document, _key, connection=None):
        body = json.dumps(document, ensure_ascii=False)
        return self.input(op="products", shop=shop, topic=topic, body=body)


class CoreProgram:
    """Stands for `sluice`. The driver knows one account, acme, with shop-1 and shop-2."""

    def __init__(self, edge):
        self.edge = edge
        self.commands = {
            ("program", "apply"): self._programs,
            ("creator", "import"): self._creators,
            ("creator", "remove"): self._leave,
            ("touch", "import"): self._touches,
            ("payout", "close"): self._close,
            ("adjust",): self._adjust,
            ("worker",): lambda words, options: None,
        }

    def account(self, _):
        return "acme"

    def shop(self, name, _account):
        return f"shop-{name[-1]}"

    def token(self, *_):
        return "id", "secret"

    def stats(self):
        return self.edge.reports()["stats"]

    def report(self, kind, *arguments):
        rows = self.edge.reports()[kind]
        return [row for row in rows if not arguments or row["shop_id"] == arguments[1]]

    def __call__(self, *arguments):
        words, options, rest = [], {}, [str(argument) for argument in arguments]
        while rest:
            word = rest.pop(0)
            if word == "--until-empty" or not word.startswith("--"):
                words.append(word)
            elif "=" in word:
                name, _, options[name] = word.partition("=")
            else:
                options[word] = rest.pop(0)
        command = self.commands.get(tuple(words[:2])) or self.commands[tuple(words[:1])]
        command(words[2:], options)

    def _programs(self, words, _):
        with open(words[0], "rb") as file:
            programs = tomllib.load(file)["program"]
        for program in programs:
            program.setdefault("rule", [])
        self.edge.input(op="programs", programs=programs)

    def _creators(self, words, _):
        with open(words[0], newline="") as file:
            self.edge.input(op="creators", rows=list(csv.reader(file))[1:])

    def _touches(self, words, _):
        with open(words[0], newline="") as file:
            self.edge.input(op="touches", rows=list(csv.reader(file))[1:])

    def _leave(self, words, options):
        code = options.get("--code")
        self.edge.input(op="leave", creator=words[0], program=options["--program"], code=code)

    def _close(self, _, options):
        self.edge.input(op="close", program=options["--program"], until=options["--until"])

    def _adjust(self, _, options):
        self.edge.input(
            op="adjust", order=options["--order"], amount=options["--amount"], shop=options["--shop"]
        )
