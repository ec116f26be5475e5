"""`make install` and `make uninstall`: programs without symbols, the manual page, and nothing that stays."""
import os
import pathlib
import subprocess

from program import PROGRAM, ROOT, sluice


def make(*arguments):
    subprocess.run(["make", "-s", "-C", str(ROOT), *arguments], check=True, capture_output=True, text=True)


def symbols(file):
    return subprocess.run(["nm", str(file)], check=True, capture_output=True, text=True).stdout.splitlines()


def sanitized(file):
    return "libasan" in subprocess.run(["readelf", "-d", str(file)], check=True, capture_output=True, text=True).stdout


def test_what_is_installed_can_be_removed(tmp_path):
    build, prefix = PROGRAM.parents[1], tmp_path / "prefix"
    subprocess.run(["cmake", "--install", str(build), "--prefix", str(prefix)], check=True, capture_output=True)
    page = prefix / "share" / "man" / "man1" / "sluice.1"
    shown = subprocess.run(["man", "-l", str(page)], check=True, capture_output=True, text=True,
                           env={**os.environ, "MANPAGER": "cat", "MANWIDTH": "100"}).stdout
    assert "sluice backup" in shown and "sluice restore" in shown
    for file in (prefix / "bin" / "sluice", prefix / "lib" / "nginx" / "modules" / "ngx_http_sluice_module.so"):
        assert not symbols(file) and len(symbols(file.with_name(file.name + ".debug"))) > 1000
        link = subprocess.run(["readelf", "--string-dump=.gnu_debuglink", str(file)], check=True, capture_output=True,
                              text=True, errors="replace")  # the checksum is no text
        assert f"{file.name}.debug" in link.stdout
    installed = prefix / "bin" / "sluice"
    assert "sluice" in subprocess.run([installed, "--version"], check=True, capture_output=True, text=True).stdout
    if not sanitized(installed):
        assert installed.stat().st_size < 15_000_000
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
