"""The `sluice` program as a person runs it."""

import datetime
import json
import os
import pwd
import subprocess

from harness import paths


def now():
    """Returns the `--until` of a `payout close` that covers all inputs received so far."""
    return datetime.datetime.now(datetime.timezone.utc).isoformat().replace("+00:00", "Z")


def as_user(name):
    """Words in front of a command: its actor is who logged in, also after su."""
    return ["bash", "-c", f'echo {pwd.getpwnam(name).pw_uid} > /proc/self/loginuid && exec "$@"', "bash"]


MONEY_REPORTS = ("journal", "balances", "payouts")


class Failed(AssertionError):
    def __init__(self, arguments, result):
        self.result = result
        super().__init__(
            f"sluice {' '.join(map(str, arguments))}: exit {result.returncode}\n"
            f"stdout: {result.stdout[-2000:]}\nstderr: {result.stderr[-2000:]}"
        )


class Sluice:
    """Runs commands against one store."""

    def __init__(self, store, environment=None, program=paths.SLUICE):
        self.store, self.program = store, program
        self.prefix = []  # words in front of every command
        self.environment = {**os.environ, "SLUICE_STORE": str(store), **(environment or {})}

    def run(self, *arguments, stdin=None, timeout=120):
        return subprocess.run(
            [*self.prefix, str(self.program), *map(str, arguments)],
            input=stdin,
            capture_output=True,
            text=True,
            timeout=timeout,
            env=self.environment,
            check=False,
        )

    def __call__(self, *arguments, stdin=None, timeout=120):
        result = self.run(*arguments, stdin=stdin, timeout=timeout)
        if result.returncode != 0:
            raise Failed(arguments, result)
        return result.stdout

    def json(self, *arguments):
        return json.loads(self(*arguments, "--format", "json"))

    def refuses(self, *arguments, code=1, stdin=None):
        """The command must fail with `code` (None: 1 or 2) and say why."""
        result = self.run(*arguments, stdin=stdin)
        if result.returncode not in ((1, 2) if code is None else (code,)):
            raise Failed(arguments, result)
        assert result.stderr.strip(), f"no word on why: {arguments}"
        return result.stderr

    # Shorthands for what nearly every test sets up.

    def account(self, account, rate_limit=None):
        extra = ["--rate-limit", rate_limit] if rate_limit else []
        self("account", "create", account, *extra)
        return account

    def shop(self, shop, account):
        self("shop", "create", shop, "--account", account)
        return shop

    def token(self, account, *scopes, expires=None, secret=None):
        """(token_id, secret) of a new token."""
        arguments = ["token", "create", "--account", account, "--scope", ",".join(scopes)]
        if expires is not None:
            arguments += ["--expires", expires]
        if secret is not None:
            arguments += ["--secret-from", "-"]
        answer = json.loads(self(*arguments, "--format", "json", stdin=secret))
        if isinstance(answer, list):
            (answer,) = answer
        return answer["token_id"], answer.get("secret", secret)

    def drain(self):
        self("worker", "--until-empty")

    def report(self, kind, *arguments):
        """Returns a report of every account, unless one is named, without the anomaly of old orders, because the
        orders of most tests are years old."""
        scope = [] if kind not in MONEY_REPORTS or "--account" in arguments else ["--all-accounts"]
        rows = self.json("report", kind, *arguments, *scope)
        return [row for row in rows if kind != "anomalies" or row["kind"] != "ORDERED_LONG_AGO"]

    def postings(self, *arguments):
        """The journal without its memo entries."""
        return [row for row in self.report("journal", *arguments) if row["amount"] is not None]

    def stats(self):
        answer = self.json("queue", "stats")
        return answer[0] if isinstance(answer, list) else answer

    def accepted(self):
        """How many records were ever taken in, those in lanes included."""
        stats = self.stats()
        return stats["last_seq"] + stats["in_lanes"]

    def seq_of(self, answer):
        """The sequence number of what an answer confirmed; a lane does not know it at once."""
        known = answer.header("X-Seq") or answer.header("x-seq")
        if known is None:
            self("queue", "move")
            receipt = answer.header("X-Receipt") or answer.header("x-receipt")
            found = self.json("queue", "find", receipt)
            known = (found[0] if isinstance(found, list) else found)["seq"]
        return int(known)

    def queued(self):
        """All records not applied yet, in order."""
        self("queue", "move")
        return self.json("queue", "peek", "--limit", "1000000")
