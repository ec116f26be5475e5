#!/usr/bin/env python3
"""nginx's own test suite (nginx/nginx-tests), with and without the module: nothing may differ.

    run.py --suite DIR --nginx BINARY --module FILE --sluice PROGRAM [FILE.t ...]

Each file runs alone, as a user without privileges, in four ways: plain nginx; with the module
loaded; with a store, too; and with a server that takes orders. What a file's tests say, and the
alerts in the error log, must be the same as with plain nginx. A file that differs runs twice more in
both ways: a test that fails now and then by itself is told, and is no difference. Where a server was
added, it is then compared with plain nginx and a server that does nothing: some files break by any
further server, which takes over what they set for all.
"""
import argparse
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile

USER = "nobody"
FILE_SECONDS = 180
AGAIN = 2
WAYS = ("plain", "loaded", "store", "server")
COMPARED_AGAIN_WITH = {"loaded": "plain", "store": "plain", "server": "idle"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def without_privileges(command):
    """As root: another user, and a loopback interface of its own, so that no port is taken."""
    if os.geteuid() != 0:
        return command
    return ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$0" "$@"',
            "setpriv", "--reuid", USER, "--regid", "nogroup", "--clear-groups", *command]


def installed(nginx, wrapper):
    """The suite loads every dynamic module that `nginx -V` names: one that is not installed must not
    be named. A program that says so, and the folder of the modules."""
    said = subprocess.run([nginx, "-V"], capture_output=True, text=True, check=True).stderr
    path = re.search(r"--modules-path=(\S+)", said)
    modules = pathlib.Path(path[1]) if path else nginx.resolve().parent
    missing = [option for option, name in re.findall(r"(--with-(\S+?)=dynamic)", said)
               if not (modules / f"ngx_{name.removesuffix('_module')}_module.so").exists()]
    drop = "".join(f" -e 's/{option}//'" for option in missing) or " -e ''"
    wrapper.write_text(f"""#!/bin/sh
case " $* " in *" -V "*) {nginx} "$@" 2>&1 | sed{drop} >&2; exit ;; esac
exec {nginx} "$@"
""")
    wrapper.chmod(0o755)
    return wrapper, modules


class Site:
    """Copies of everything, which the other user can read, and a store of its own."""

    def __init__(self, options, folder):
        self.folder = folder
        self.suite = folder / "suite"
        shutil.copytree(options.suite, self.suite, ignore=shutil.ignore_patterns(".git", ".hg"))
        self.nginx, self.modules = installed(options.nginx, folder / "nginx")
        self.module = shutil.copy(options.module, folder / "module.so")
        self.sluice = shutil.copy(options.sluice, folder / "sluice")
        self.store = folder / "store"
        self.temp = folder / "temp"
        self.temp.mkdir()
        folder.chmod(0o755)
        if os.geteuid() == 0:
            shutil.chown(folder, USER)
            shutil.chown(self.temp, USER)
        subprocess.run(without_privileges([self.sluice, "--store", str(self.store), "init"]), check=True,
                       stdout=subprocess.DEVNULL)

    def directives(self, way):
        load = f"load_module {self.module};\n"
        pools = "thread_pool sluice_commit threads=1;\nthread_pool sluice_offload threads=2 max_queue=256;\n"
        store = f"sluice_store {self.store} map_size=64m thread_pool=sluice_commit offload_pool=sluice_offload;\n"
        idle = f"server {{ listen 127.0.0.1:{free_port()};\n"
        server = (idle + "location = /event/ecomm { sluice_ingest events; }\n"
                  "location = /product-data { sluice_ingest catalog; }\n"
                  "location /sluice/ { sluice_status; } }\n")
        return {
            "plain": ("", ""),
            "idle": ("", idle + "}\n"),
            "loaded": (load, ""),
            "store": (load + pools, store),
            "server": (load + pools, store + server),
        }[way]


def results_of(output, status):
    """Returns the result of each test, by number; a file that was skipped as a whole has only its reason."""
    skipped = re.search(r"^1\.\.0\s*# (?:skip|SKIP)\S*\s*(.*)$", output, re.M)
    if skipped:
        return {"skipped": skipped[1]}
    results = {"status": status}
    for failed, number, rest in re.findall(r"^(not )?ok (\d+)(.*)$", output, re.M):
        todo = re.search(r"# (TO" r"DO|skip)", rest)
        results[int(number)] = ("failed" if failed else "ok") + (f" ({todo[1]})" if todo else "")
    return results


def alerts_in(folder):
    found = set()
    for log in folder.rglob("error.log"):
        for line in log.read_text(errors="replace").splitlines():
            if "[alert]" in line:
                found.add(re.sub(r"\d+", "N", line.split("[alert]", 1)[1]))
    return found


def run_file(site, name, way):
    temp = pathlib.Path(tempfile.mkdtemp(dir=site.temp))
    temp.chmod(0o777)
    main, http = site.directives(way)
    environment = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "TMPDIR": str(temp), "HOME": str(temp),
        "PERL5LIB": str(site.suite / "lib"), "TEST_NGINX_BINARY": str(site.nginx), "TEST_NGINX_LEAVE": "1",
        "TEST_NGINX_MODULES": str(site.modules), "TEST_NGINX_GLOBALS": main, "TEST_NGINX_GLOBALS_HTTP": http, "LC_ALL": "C.UTF-8",
    }
    try:
        run = subprocess.run(without_privileges(["perl", name]), cwd=site.suite, env=environment, text=True,
                             errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, timeout=FILE_SECONDS)
        results = results_of(run.stdout, run.returncode)
    except subprocess.TimeoutExpired:
        results = {"status": "no end"}
    alerts = alerts_in(temp)
    shutil.rmtree(temp, ignore_errors=True)
    return results, alerts


def difference(plain, other):
    """In words; empty: none. Alerts that the module takes away would be odd, but no harm."""
    (plain_results, plain_alerts), (results, alerts) = plain, other
    keys = sorted(plain_results.keys() | results.keys(), key=str)
    words = [f"{key}: {plain_results.get(key)} -> {results.get(key)}" for key in keys
             if plain_results.get(key) != results.get(key)]
    return words + [f"new alert:{alert}" for alert in sorted(alerts - plain_alerts)]


class Comparison:
    def __init__(self, site):
        self.site = site
        self.unsteady = []
        self.wrong = []

    def file(self, name):
        plain = run_file(self.site, name, "plain")
        if plain[0].get("status") == "no end":
            print(f"{name}: plain nginx does not get through it in {FILE_SECONDS} s, not compared", flush=True)
            return "failed"
        for way in WAYS[1:]:
            found = difference(plain, run_file(self.site, name, way))
            rounds = [found]
            while rounds[-1] and len(rounds) <= AGAIN:
                base = run_file(self.site, name, COMPARED_AGAIN_WITH[way])
                rounds.append(difference(base, run_file(self.site, name, way)))
            if rounds[-1]:
                self.wrong.append(f"{name}, {way}: {'; '.join(rounds[-1][:5])}")
                print("DIFFERS", self.wrong[-1], flush=True)
            elif found:
                self.unsteady.append(f"{name}, {way}: {'; '.join(found[:3])}")
        if "skipped" in plain[0]:
            return "skipped"
        return "passed" if plain[0]["status"] == 0 else "failed"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("suite", "nginx", "module", "sluice"):
        parser.add_argument("--" + option, type=pathlib.Path, required=True)
    parser.add_argument("files", nargs="*", help="default: every .t of the suite")
    options = parser.parse_args()
    files = options.files or sorted(path.name for path in options.suite.glob("*.t"))
    if not files:
        sys.exit(f"{options.suite} holds no .t files: it should be a checkout of nginx/nginx-tests")
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    with tempfile.TemporaryDirectory(prefix="sluice-nginx-tests-") as folder:
        comparison = Comparison(Site(options, pathlib.Path(folder)))
        for number, name in enumerate(files, 1):
            counts[comparison.file(name)] += 1
            if number % 20 == 0 or number == len(files):
                print(f"{number} of {len(files)} files", flush=True)
    for line in comparison.unsteady:
        print("no difference the second time:", line)
    print(f"{len(files)} files: plain nginx passes {counts['passed']}, fails {counts['failed']}, skips "
          f"{counts['skipped']}; {len(comparison.wrong)} differences")
    if counts["failed"] > counts["passed"] / 4:
        sys.exit("plain nginx fails too many for a comparison: is this its suite?")
    sys.exit(1 if comparison.wrong else 0)


if __name__ == "__main__":
    main()
