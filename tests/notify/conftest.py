import pytest
from harness import paths
from harness.cli import Sluice
from harness.webhooks import LOOPBACK, Notify

PROGRAM = '[[program]]\nid = "spring"\naccount = "{account}"\ndefault_rate = "10%"\nclearing_days = 0\nlate_days = 36500\n'
WHY = ("--reason", "as agreed")


class Site:
    """A store with an account that has a creator, and its destinations."""

    def __init__(self, folder):
        self.folder = folder
        self.sluice = Sluice(folder / "store")
        self.secrets = {}

    def set_up(self, account="acme"):
        self.sluice.account(account)
        (self.folder / "program.toml").write_text(PROGRAM.format(account=account))
        (self.folder / "creators.csv").write_text("creator_id,program_id,code\nann,spring,SAVE\n")
        self.sluice("program", "apply", self.folder / "program.toml")
        self.sluice("creator", "import", self.folder / "creators.csv")
        self.sluice.drain()
        return self

    def credit(self, *amounts):
        """Makes a change, `commission.changed`, of each amount."""
        for amount in amounts or ("1.00",):
            self.sluice("credit", "--account", "acme", "--creator", "ann", "--program", "spring", "--amount",
                        f"{amount} USD", *WHY)

    def add(self, name, receiver, *options):
        url = receiver if isinstance(receiver, str) else receiver.url
        answer = self.sluice.json("notify", "add", name, "--account", "acme", "--url", url, "--allow-private", LOOPBACK,
                                  *options)
        self.secrets[name] = (answer[0] if isinstance(answer, list) else answer)["secret"]
        return self.secrets[name]

    def run(self, receiver, *options, **more):
        return Notify(self.sluice, self.folder, receiver, *options, **more)

    def show(self, name):
        answer = self.sluice.json("notify", "show", name)
        return answer[0] if isinstance(answer, list) else answer

    def log(self, name, *options):
        return self.sluice.json("notify", "log", name, *options)

    def wait_for(self, name, **members):
        """Waits until `show` has these members."""
        paths.wait_until(lambda: members.items() <= self.show(name).items(), f"{members}: {self.show(name)}")
        return self.show(name)


@pytest.fixture
def site():
    folder = paths.make_folder()
    made = Site(folder)
    made.sluice("init")
    yield made.set_up()
    paths.drop_folder(folder)
