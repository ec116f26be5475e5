"""A build that cannot succeed is refused with the package to install or the flag to add."""

import os
import re
import subprocess

import pytest

from harness import paths

NGINX = "/usr/share/nginx/src"  # Debian's nginx-dev
FIND_PACKAGES = ("OpenSSL", "simdjson", "Boost", "CLI11", "CURL", "pugixml", "GTest")
PACKAGES = {
    "libssl-dev", "libsimdjson-dev", "libboost-dev", "libboost-url-dev", "libcli11-dev", "libcurl4-openssl-dev", "libpugixml-dev",
    "libgtest-dev", "libgmock-dev", "liblmdb-dev", "libisal-dev", "libtomlplusplus-dev", "libflatbuffers-dev",
    "nlohmann-json3-dev", "iso-codes", "libzstd-dev", "libpq-dev",
}


def configure(folder, *options, **environment):
    """(exit status, what CMake printed)"""
    command = ["cmake", "-S", str(paths.ROOT), "-B", str(folder), "-G", "Ninja", *options]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **environment})
    return result.returncode, " ".join((result.stdout + result.stderr).split())


def asked_for(text):
    return set(re.search(r"apt-get install (.*?) Call Stack", text).group(1).split())


def test_one_message_names_every_package_that_is_missing(tmp_path):
    hidden = [f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in FIND_PACKAGES]
    multiarch = subprocess.run(["cc", "-print-multiarch"], capture_output=True, text=True, check=True).stdout.strip()
    folders = ["/usr/include", f"/usr/include/{multiarch}", f"/usr/lib/{multiarch}", f"/lib/{multiarch}", "/usr/share/iso-codes/json"]
    code, told = configure(tmp_path, "-DSLUICE_TESTS=ON", *hidden, f"-DCMAKE_IGNORE_PATH={';'.join(folders)}",
                           PKG_CONFIG_LIBDIR="/nonexistent")
    assert code != 0 and PACKAGES <= asked_for(told), told


def test_libraries_that_are_too_old_are_named_with_the_version(tmp_path):
    (tmp_path / "openssl").mkdir()
    (tmp_path / "openssl" / "opensslv.h").write_text("#define OPENSSL_VERSION_NUMBER 0x1010117fL\n")
    (tmp_path / "boost" / "boost").mkdir(parents=True)
    (tmp_path / "boost" / "boost" / "version.hpp").write_text('#define BOOST_VERSION 107400\n#define BOOST_LIB_VERSION "1_74"\n')
    code, told = configure(tmp_path / "build", f"-DOPENSSL_INCLUDE_DIR={tmp_path}", f"-DBoost_INCLUDE_DIR={tmp_path / 'boost'}",
                           "-DBoost_NO_BOOST_CMAKE=ON")
    assert code != 0
    assert "OpenSSL 3 or newer" in told and "Boost 1.81 or newer" in told
    assert asked_for(told) == {"libssl-dev", "libboost-dev", "libboost-url-dev"}


def lmdb_of(tmp_path, version):
    """The environment in which a compiler finds an lmdb.h of that version."""
    major, minor, patch = version.split(".")
    names = {"MAJOR": major, "MINOR": minor, "PATCH": patch}
    lines = [f"#undef MDB_VERSION_{name}\n#define MDB_VERSION_{name} {number}\n" for name, number in names.items()]
    (tmp_path / "include").mkdir()
    (tmp_path / "include" / "lmdb.h").write_text("#pragma GCC system_header\n#include_next <lmdb.h>\n" + "".join(lines))
    return {"CPATH": str(tmp_path / "include")}


# LMDB's own copies between its releases of 0.9 and 1.0 have the numbers from 0.9.70 on.
OTHER_LMDB = ["1.0.0", "0.10.0", "0.9.90", "0.9.70"]


@pytest.mark.parametrize("version", OTHER_LMDB)
def test_another_lmdb_than_0_9_is_refused(tmp_path, version):
    code, told = configure(tmp_path / "build", **lmdb_of(tmp_path, version))
    assert code != 0 and "lmdb.h is not of LMDB 0.9" in told and "apt-get install liblmdb-dev" in told, told


def test_a_folder_without_nginx_is_refused(tmp_path):
    code, told = configure(tmp_path / "build", f"-DSLUICE_NGINX_SRC={tmp_path}")
    assert code != 0 and "install nginx-dev" in told and "SLUICE_NGINX_SRC" in told


@pytest.mark.parametrize("flags, refused, flag", [
    ("--with-compat", True, "--with-threads"),
    ("--with-threads", False, "--with-compat"),
])
def test_an_nginx_without_a_flag_is_named(tmp_path, flags, refused, flag):
    code, told = configure(tmp_path / "build", f"-DSLUICE_NGINX_SRC={NGINX}",
                           f"-DSLUICE_NGINX_FLAGS={flags} --with-http_ssl_module --with-http_v2_module")
    assert (code != 0) == refused, told
    assert f"dd {flag} to" in told


# -- nginx's own configure, as far as the file `config` goes --------------------------------------

CONFIGURE = """
cd "$FOLDER"
NGX_OBJS=$FOLDER NGX_AUTOCONF_ERR=$FOLDER/err ngx_addon_dir=$ROOT ngx_n= ngx_c=
CC=${CC:-cc} ngx_module_link=${LINK:-DYNAMIC} USE_THREADS=${THREADS:-YES} NGX_COMPAT=${COMPAT:-YES}
mkdir auto && : > auto/module
. "$ROOT/config"
"""


def source_config(tmp_path, **settings):
    environment = {**os.environ, "FOLDER": str(tmp_path), "ROOT": str(paths.ROOT), **settings}
    result = subprocess.run(["sh", "-c", CONFIGURE, "configure"], capture_output=True, text=True, check=False, env=environment)
    return result.returncode, result.stdout + result.stderr


def without_header(tmp_path, header):
    """A compiler that finds every header but one."""
    compiler = tmp_path / "cxx"
    compiler.write_text(f'#!/bin/sh\nfor file; do :; done\nif grep -q "<{header}>" "$file"; then exit 1; fi\nexec g++ "$@"\n')
    compiler.chmod(0o755)
    return str(compiler)


def test_config_accepts_a_complete_system(tmp_path):
    code, told = source_config(tmp_path)
    assert code == 0 and "warning" not in told, told


def test_config_warns_of_an_nginx_without_compat(tmp_path):
    code, told = source_config(tmp_path, COMPAT="NO")
    assert code == 0 and "warning: without --with-compat" in told, told


@pytest.mark.parametrize("header, package", [
    ("lmdb.h", "liblmdb-dev"), ("simdjson.h", "libsimdjson-dev"), ("isa-l.h", "libisal-dev"), ("zstd.h", "libzstd-dev"),
    ("openssl/hmac.h", "libssl-dev"), ("flatbuffers/flatbuffers.h", "libflatbuffers-dev"),
    ("boost/multiprecision/cpp_int.hpp", "libboost-dev"),
])
def test_config_names_the_package_of_a_missing_header(tmp_path, header, package):
    code, told = source_config(tmp_path, CXX=without_header(tmp_path, header))
    assert code != 0 and told.rstrip().endswith(f"{header} is missing: install {package}"), told


@pytest.mark.parametrize("version", OTHER_LMDB)
def test_config_refuses_another_lmdb_than_0_9(tmp_path, version):
    code, told = source_config(tmp_path, **lmdb_of(tmp_path, version))
    assert code != 0 and "lmdb.h is not of LMDB 0.9" in told, told


def test_config_accepts_a_newer_release_of_lmdb_0_9(tmp_path):
    code, told = source_config(tmp_path, **lmdb_of(tmp_path, "0.9.35"))
    assert code == 0, told


@pytest.mark.parametrize("settings, words", [
    ({"LINK": "ADDON"}, "use --add-dynamic-module="),
    ({"THREADS": "NO"}, "configure nginx with --with-threads"),
    ({"CXX": "false"}, "install g++ 12 or clang++ 14, or newer, and set CXX"),
    ({"SLUICE_ISO_CODES_DIR": "/nonexistent"}, "iso_4217.json is missing: install iso-codes"),
])
def test_config_names_the_flag_or_the_package(tmp_path, settings, words):
    code, told = source_config(tmp_path, **settings)
    assert code != 0 and words in told, told


def test_config_names_the_package_of_a_missing_tool(tmp_path):
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "g++", "cc", "mkdir", "cat", "grep", "sed", "rm", "tr", "as", "ld"):
        (tools / name).symlink_to(subprocess.run(["which", name], capture_output=True, text=True, check=True).stdout.strip())
    code, told = source_config(tmp_path, PATH=str(tools))
    assert code != 0 and "flatc is missing: install flatbuffers-compiler" in told, told
