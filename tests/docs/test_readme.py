"""README: what it shows is what is shipped."""
import re

from docs import facts

README = facts.read("README.md")
PREFIX = "/usr/local"


def installed(text):
    """As `make install PREFIX=/usr/local` writes it; conf/CMakeLists.txt."""
    return text.replace("/usr/share/sluice", f"{PREFIX}/share/sluice").replace(
        "load_module modules/", f"load_module {PREFIX}/lib/nginx/modules/")


def test_the_configuration_is_the_shipped_one():
    (shown,) = re.findall(r"```nginx\n(.*?)```", README, re.S)
    assert shown == installed(facts.read("conf/nginx/nginx.conf.example"))


def test_the_samples_have_the_names_that_the_first_steps_use():
    steps = README[README.index("## The first event"):README.index("![The status page")]
    for name in set(re.findall(r"\b([a-z]+\.(?:toml|csv|ndjson|json))\b", steps)):
        facts.read(f"conf/samples/{name}")
    program = facts.read("conf/samples/program.toml")
    assert set(re.findall(r"shop (?:create )?([a-z-]+-us)", steps)) == {"acme-us"}
    assert 'shops = ["acme-us"]' in program and 'account = "acme"' in program
    order = facts.read("conf/samples/order.json")
    (number,) = re.findall(r"sluice explain (\d+)", steps)
    assert f'"platform_order_id":"{number}"' in order
    # Equal to the byte: with the final newline of the file, which `curl --data-binary` sends, line 1 would be no
    # duplicate.
    assert order == facts.read("conf/samples/orders.ndjson").splitlines()[0]
    (code, creator) = re.search(r"discount code `(\w+)` belongs to the creator (\w+)", steps).groups()
    assert f'"code":"{code}"' in order
    assert re.search(rf"^{creator},spring,{code}(,|$)", facts.read("conf/samples/creators.csv"), re.M | re.I)
