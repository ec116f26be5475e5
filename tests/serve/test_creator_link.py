"""Links to creators' pages (creators CE1 to CE3): who makes one, and its token. Example 1 begins with one."""

import base64
import datetime
import re

import pytest
from harness import paths
from harness.cli import Sluice
from harness.serve import Serve, ask

CONFIG = """base_url = "https://pages.acme.example"
[acme]
name = "Acme Creators"
origins = ["https://app.acme.example"]
return_url = "https://app.acme.example/earnings"
ask = "https://app.acme.example/ask?order={number}&cause={cause}"
accent = "#7a2e8e"
shops = { shop-1 = "Mug Shop" }
"""
PROGRAM = """[[program]]
id = "spring"
account = "acme"
default_rate = "10%"
"""


class World:
    def __init__(self, folder, sluice):
        self.folder, self.sluice = folder, sluice
        self.token_id, self.secret = sluice.token("acme", "creator_pages")
        self.config = folder / "creators.toml"
        self.config.write_text(CONFIG)

    def served(self, *options, folder=None):
        return Serve(self.sluice.store, folder or self.folder, "--creators-config", self.config, *options)


@pytest.fixture(scope="module")
def world():
    folder = paths.make_folder()
    sluice = Sluice(folder / "store")
    sluice("init")
    for account in ("acme", "beta"):
        sluice.account(account)
    (folder / "programs.toml").write_text(PROGRAM)
    (folder / "creators.csv").write_text("creator_id,program_id,code\nann,spring,ANNA15\nben,spring,BEN10\n")
    sluice("program", "apply", folder / "programs.toml")
    sluice("creator", "import", folder / "creators.csv")
    sluice("worker", "--until-empty")
    sluice("creator", "rename", "ben", "benjamin", "--account", "acme")
    yield World(folder, sluice)
    paths.drop_folder(folder)


@pytest.fixture
def own_folder():
    """For the sockets of another server."""
    folder = paths.make_folder()
    yield folder
    paths.drop_folder(folder)


@pytest.fixture(scope="module")
def serve(world):
    with world.served() as serve:
        yield serve


def link(serve, secret, **parameters):
    return serve.token(secret).get("creator-link", **parameters)


def payload(token):
    text = token.split(".")[1]
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode().split("\n")


def seconds(time):
    return int(datetime.datetime.fromisoformat(time.replace("Z", "+00:00")).timestamp())


def errors(answer):
    assert (answer.status, answer.code) == (400, "parameter"), answer
    return {error["parameter"] for error in answer.json()["errors"]}


def test_a_link_names_token_creator_and_times(world, serve):
    answer = link(serve, world.secret, creator="ann")
    made = answer.json()
    assert answer.status == 200 and set(made) == {"url", "token", "expires_at", "creator_id"}
    token_id, creator, issued, expires, random = payload(made["token"])
    assert (token_id, creator, made["creator_id"]) == (world.token_id, "ann", "ann")
    assert int(expires) - int(issued) == 15 * 60 and seconds(made["expires_at"]) == int(expires)
    assert re.fullmatch("[0-9a-f]{16}", random)
    assert made["url"] == "https://pages.acme.example/c/acme/#" + made["token"]
    assert re.fullmatch(r"scp1\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]{86}", made["token"]) and len(made["token"]) <= 512


def test_no_two_links_are_equal_and_none_may_be_stored(world, serve):
    one, other = (link(serve, world.secret, creator="ann") for _ in range(2))
    assert one.body != other.body
    assert one.header("Cache-Control") == "no-store" and one.header("ETag") is None


def test_minutes_are_1_to_60(world, serve):
    for minutes in (1, 60):
        _, _, issued, expires, _ = payload(link(serve, world.secret, creator="ann", minutes=minutes).json()["token"])
        assert int(expires) - int(issued) == minutes * 60
    for minutes in (0, 61, "", "15m", -1):
        assert errors(link(serve, world.secret, creator="ann", minutes=minutes)) == {"minutes"}
    assert errors(link(serve, world.secret)) == {"creator"}


def test_any_id_of_a_creator_makes_a_link_for_the_first(world, serve):
    for name in ("ben", "benjamin"):
        made = link(serve, world.secret, creator=name).json()
        assert (payload(made["token"])[1], made["creator_id"]) == ("ben", "benjamin")


def test_an_unknown_creator_is_not_found(world, serve):
    assert (link(serve, world.secret, creator="zoe").status, link(serve, world.secret, creator="zoe").code) == (404, "not_found")


def test_only_an_active_token_with_the_scope_makes_links(world, serve):
    _, reading = world.sluice.token("acme", "read_orders", "read_ledger")
    answer = link(serve, reading, creator="ann")
    assert (answer.status, answer.code) == (403, "scope") and "creator_pages" in answer.json()["detail"]
    token_id, secret = world.sluice.token("acme", "creator_pages")
    assert link(serve, secret, creator="ann").status == 200
    world.sluice("token", "revoke", token_id)
    assert link(serve, secret, creator="ann").status == 401


def test_the_scope_reads_nothing_else(world, serve):
    for path in ("orders", "creators", "balances", "payouts"):
        assert serve.token(world.secret).get(path).code == "scope", path


def test_an_account_without_a_table_has_no_page(world, serve):
    _, secret = world.sluice.token("beta", "creator_pages")
    assert link(serve, secret, creator="ann").status == 404


def test_people_make_no_links(world, serve):
    world.sluice("user", "add", "gina", "--account", "acme", "--role", "manager")
    assert serve.user("gina").get("creator-link", creator="ann").code == "no_such_path"


def test_without_a_config_there_is_no_such_path(world, own_folder):
    with Serve(world.sluice.store, own_folder) as serve:
        assert link(serve, world.secret, creator="ann").code == "no_such_path"


def test_links_have_a_window_of_their_own(world, own_folder):
    with world.served("--rate-limit", "2/3600", folder=own_folder) as serve:
        for _ in range(5):
            answer = link(serve, world.secret, creator="ann")
        assert (answer.status, answer.header("X-RateLimit-Limit")) == (200, "6000")
        assert [serve.token(world.secret).get("me").status for _ in range(3)] == [200, 200, 429]


def test_the_log_can_trace_a_link_and_has_no_token(world, serve):
    made = link(serve, world.secret, creator="ann").json()
    ask(serve.read, "/health")
    assert f"ann/{payload(made['token'])[4]}" in serve.log()
    assert made["token"] not in serve.log() and world.secret not in serve.log()


@pytest.mark.parametrize("change, told", [
    ("base_url = \"http://pages.acme.example\"", ":1: base_url: expected https://"),
    ("base_url = \"https://pages.acme.example/c\"", ":1: base_url: expected https://"),
    ("origins = [\"*\"]", ":4: origins: expected an origin"),
    ("origins = []", ":4: origins: expected 1 to 16"),
    ("origins = [\"https://app.acme.example/x\"]", ":4: origins: expected an origin"),
    ("return_url = \"javascript:alert(1)\"", ":5: return_url: expected an address"),
    ("ask = \"javascript:alert(1)\"", ":6: ask: expected an address"),
    ("accent = \"#ffe0ff\"", ":7: accent: text in this colour cannot be read"),
    ("accent = \"purple\"", ":7: accent: expected a colour"),
    ("shops = \"Mug Shop\"", ":8: shops: expected a table"),
    ("colour = \"#000000\"", ":9: unknown key 'colour'"),
])
def test_each_mistake_of_the_file_is_told_with_its_line(world, tmp_path, change, told):
    key = change.split(" ")[0]
    lines = CONFIG.splitlines()
    at = [number for number, line in enumerate(lines) if line.startswith(key + " ")]
    lines[at[0] if at else len(lines):at[0] + 1 if at else len(lines)] = [change]
    (tmp_path / "creators.toml").write_text("\n".join(lines) + "\n")
    said = world.sluice.refuses("serve", "--listen", f"unix:{tmp_path}/read.sock", "--creators-config", tmp_path / "creators.toml")
    assert f"creators.toml{told}" in said, said


def test_a_file_without_a_table_is_refused(world, tmp_path):
    (tmp_path / "creators.toml").write_text("base_url = \"https://pages.acme.example\"\n")
    assert "at least one account" in world.sluice.refuses(
        "serve", "--listen", f"unix:{tmp_path}/read.sock", "--creators-config", tmp_path / "creators.toml")


@pytest.mark.parametrize("scopes", ["creator_pages,read_orders", "creator_pages,write_orders"])
def test_the_scope_stands_alone(world, scopes):
    assert "alone" in world.sluice.refuses("token", "create", "--account", "acme", "--scope", scopes)


def test_a_secret_of_pages_has_at_least_32_bytes(world):
    create = ("token", "create", "--account", "acme", "--scope", "creator_pages", "--secret-from", "-")
    assert "32 to 1024 bytes" in world.sluice.refuses(*create, stdin="s" * 31)
    world.sluice(*create, stdin="s" * 32)
