"""Do the sanitizers see bugs? Plants one of each kind in a copy of the tree, built as the runs with
sanitizers build it, and runs a test that meets it: the report has to be there.

    tests/faults/planted.py [--jobs N] [address|thread|memcheck ...]      default: all three

Needs scripts/sanitized-nginx address (or thread) and scripts/build dev first. The same tests must end without a report on
the sources as they are. Exit code 0: every planted bug was reported, and nothing else.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

from mutation import run as mutation  # noqa: E402
from mutation.mutants import Mutant, fault  # noqa: E402

NGINX_FLAGS = (
    "--with-compat --with-debug --with-threads --with-http_ssl_module --with-http_v2_module "
    "--with-http_realip_module --with-http_stub_status_module"
)
PRESET = {"address": "asan", "thread": "tsan", "memcheck": "dev"}
ANY_REPORT = re.compile(
    r"(?:Address|Thread|Leak)Sanitizer: |runtime error: |^==\d+== (?:Invalid|.*definitely lost)", re.M
)

REQUEST = "ngx_module/request/settle.cpp"
COMMIT = "Step commit(IngestRequest& request) {\n"
EVENT = "tests/integration/test_events_answers.py::test_accepted_event_is_in_the_queue_byte_for_byte"

# The bug and the test that meets it; what the report says.
PLANTED = {
    "address": [
        (Mutant("a parked request is not blocked, and used after it was freed", "ngx_module/nginx/event_loop.hpp",
                (("        r->main->blocked++;\n", ""), ("    r->main->blocked--;\n", "")),
                "tests/crash/test_turnover.py::test_shutdown_timeout_storm"),
         r"AddressSanitizer: heap-use-after-free"),
        (fault("a byte is written beyond an allocation of the request's pool", REQUEST, COMMIT,
               COMMIT + "    static_cast<volatile char*>(ngx_palloc(request.r->pool, 8))[8] = 1;\n", EVENT),
         r"AddressSanitizer: heap-buffer-overflow"),
        (fault("an integer overflows", REQUEST, COMMIT,
               COMMIT + "    volatile int planted = 2147483647;\n    planted = planted + 1;\n", EVENT),
         r"runtime error: signed integer overflow"),
    ],
    "thread": [
        (fault("the commit's thread says by itself that it is done", "ngx_module/commit/group_commit.cpp",
               "    batch.commit_us = monotonic_us() - started_us;\n",
               "    batch.commit_us = monotonic_us() - started_us;\n"
               "    batch.commits->started_ = 0;\n", EVENT),
         r"ThreadSanitizer: data race"),
    ],
    "memcheck": [
        (fault("a byte is read beyond an allocation", REQUEST, COMMIT,
               COMMIT + "    volatile std::size_t bytes = 8;\n    char* planted = new char[bytes];\n    const volatile char beyond = planted[bytes];\n"
               "    static_cast<void>(beyond);\n    delete[] planted;\n", EVENT),
         r"Invalid read of size 1"),
        (fault("an allocation is forgotten", REQUEST, COMMIT,
               COMMIT + "    volatile char* planted = new char[8];\n    planted[0] = 'p';\n", EVENT),
         r"bytes in \d+ blocks are definitely lost"),
    ],
}


def prepare(kind):
    """(build folder, nginx) of the copy."""
    build = mutation.COPY / "build" / f"planted-{PRESET[kind]}"
    command = ["cmake", "--preset", PRESET[kind], "-B", build]
    if shutil.which("ccache"):
        command += [f"-DCMAKE_{language}_COMPILER_LAUNCHER=ccache" for language in ("C", "CXX")]
    nginx = None
    if kind != "memcheck":
        tree = ROOT / "build" / f"nginx-{kind}"
        nginx = tree / "objs" / "nginx"
        if not nginx.exists():
            sys.exit(f"planted.py: run scripts/sanitized-nginx {kind} first")
        command += ["-DSLUICE_TESTS=OFF", f"-DSLUICE_NGINX_SRC={tree}", f"-DSLUICE_NGINX_FLAGS={NGINX_FLAGS}"]
    subprocess.run(command, cwd=mutation.COPY, check=True, stdout=subprocess.DEVNULL)
    program = build / "worker" / "sluice"  # nothing is planted in it
    if not program.exists():
        program.unlink(missing_ok=True)
        program.symlink_to(ROOT / "build" / (f"{PRESET[kind]}-nginx" if nginx else "dev") / "worker" / "sluice")
    return build, nginx


def make(build, jobs):
    command = ["cmake", "--build", build, "-j", str(jobs), "--target", "ngx_http_sluice_module"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def run_test(test, build, nginx):
    """Returns the output of the test and the sanitizer."""
    environment = {**os.environ, "SLUICE_BUILD": str(build), "SLUICE_TEST_DEADLINE": "60"}
    if nginx:
        environment["SLUICE_NGINX"] = str(nginx)
        command = ["/usr/bin/python3", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", test]
    else:
        command = ["scripts/valgrind", test]
    result = subprocess.run(command, cwd=mutation.COPY, env=environment, capture_output=True, text=True,
                            errors="replace", check=False)
    said = result.stdout + result.stderr
    if re.search(r"no tests ran|not found:", said):
        sys.exit(f"planted.py: {test}: {said[-2000:]}")
    return said


def check(kind, jobs):
    """How many bugs were missed, or seen where there is none."""
    build, nginx = prepare(kind)
    make(build, jobs)
    wrong = 0
    for test in sorted({mutant.test for mutant, _ in PLANTED[kind]}):
        said = run_test(test, build, nginx)
        quiet = ANY_REPORT.search(said) is None and re.search(r"\d+ passed", said)
        wrong += not quiet
        print(f"{'quiet' if quiet else 'NOT QUIET':9} {kind}: nothing planted [{test}]", flush=True)
        if not quiet:
            print(said[-3000:])
    for mutant, report in PLANTED[kind]:
        mutation.plant(mutant)
        try:
            make(build, jobs)
            said = run_test(mutant.test, build, nginx)
        finally:
            shutil.copy(ROOT / mutant.file, mutation.COPY / mutant.file)
        seen = re.search(report, said)
        wrong += seen is None
        print(f"{'reported' if seen else 'MISSED':9} {kind}: {mutant.name}: {seen.group() if seen else report}",
              flush=True)
        if not seen:
            print(said[-3000:])
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("kinds", nargs="*", metavar="address|thread|memcheck")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()
    kinds = options.kinds or list(PLANTED)
    if not set(kinds) <= set(PLANTED):
        parser.error("kinds are " + ", ".join(PLANTED))
    mutation.copy_tree()
    wrong = sum(check(kind, options.jobs) for kind in kinds)
    bugs = sum(len(PLANTED[kind]) for kind in kinds)
    print(f"planted {bugs}, all reported" if wrong == 0 else f"planted {bugs}, wrong {wrong}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
