"""`make install` and `make uninstall`: the manual page, and nothing that stays."""
import os
import pathlib
import subprocess

from program import PROGRAM, ROOT, sluice


def make(*arguments):
    subprocess.run(["make", "-s", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True)


def test_what_is_installed_can_be_removed(tmp_path):
    build, prefix = PROGRAM.parents[1], tmp_path / "prefix"
    subprocess.run(["cmake", "--install", str(build), "--prefix", str(prefix)], check=True, capture_output=True)
    page = prefix / "share" / "man" / "man1" / "sluice.1"
    shown = subprocess.run(["man", "-l", str(page)], check=True, capture_output=True, text=True,
                           env={**os.environ, "MANPAGER": "cat", "MANWIDTH": "100"}).stdout
    assert "sluice backup" in shown and "sluice restore" in shown
    assert (prefix / "bin" / "sluice").exists()
    manifest = build / "install_manifest.txt"
    listed = {pathlib.Path(line) for line in manifest.read_text().splitlines()}
    assert {path for path in prefix.rglob("*") if path.is_file()} == listed
    (prefix / "bin" / "other").write_text("not ours")
    make("uninstall", f"PREFIX={prefix}", f"MANIFEST={manifest}")
    assert [path for path in prefix.rglob("*") if path.is_file()] == [prefix / "bin" / "other"]
    assert not (prefix / "share" / "sluice").exists() and not (prefix / "lib" / "nginx").exists()


def test_send_wants_the_base_address(tmp_path):
    (tmp_path / "events").write_text("{}\n")
    (tmp_path / "token").write_text("x" * 20)
    (tmp_path / "token").chmod(0o600)
    for url in ("http://127.0.0.1:1/event/ecomm", "http://127.0.0.1:1/x/product-data/"):
        run = sluice("send", "events", tmp_path / "events", "--url", url, "--shop", "s", "--token-file", tmp_path / "token")
        assert run.status == 2 and "expected the base address" in run.err, run
