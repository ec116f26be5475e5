# The Makefile only calls CMake presets and scripts.

PREFIX ?= /usr/local
PRESET ?= dev
MANIFEST ?= build/release/install_manifest.txt

.PHONY: help demo demo-fleet test test-more lint format build build-times install uninstall deps bench dist deb test-package check-nginx check-nginx-tests check-debian check-fresh test-citus torture damage fuzz mutate sanitize coverage soak site clean

help:
	@echo "make demo          nginx accepts signed orders, commissions follow (KEEP=1 leaves it running)"
	@echo "make demo-fleet    three edges, one PostgreSQL, then a cluster that fails over; ends by itself"
	@echo "make test          install missing packages, build, run the tests that a change must pass"
	@echo "make test-more     the tests that take long and seldom fail, or need more packages; fuzzing"
	@echo "make lint          format, layering, prose, sizes, commit subjects"
	@echo "make format        let clang-format rewrite the sources"
	@echo "make build         build with PRESET=$(PRESET) into build/$(PRESET)"
	@echo "make build-times   job-seconds of each unit, from ninja's log of PRESET=$(PRESET)"
	@echo "make install       install the release build below PREFIX=$(PREFIX)"
	@echo "make uninstall     remove what make install wrote below PREFIX=$(PREFIX); the store stays"
	@echo "make bench         micro and load benchmarks"
	@echo "make dist          source archive, SBOM and checksums of the commit, in build/dist"
	@echo "make deb           Debian packages in build/deb"
	@echo "make test-package  install, use, upgrade and purge those packages on this machine"
	@echo "make check-nginx   module and tests on another nginx: NGINX_SRC=DIR with its sources"
	@echo "make check-nginx-tests  nginx's own suite with and without the module: NGINX_TESTS=DIR"
	@echo "make check-debian  build and tests in another release of Debian: SUITE=trixie, ARCH=arm64, CXX=clang++-19"
	@echo "make check-fresh   make demo and make test in a minimal Debian 12 with nothing of this machine; their times"
	@echo "make test-citus    the ledger on Citus: CITUS_SOURCE=DIR with its sources"
	@echo "make fuzz          libFuzzer targets, FUZZ_SECONDS=3600 each"
	@echo "make torture       the long crash and fault rounds"
	@echo "make damage        300 rounds of damage to the files that nginx shares with the programs"
	@echo "make mutate        plant faults one by one; a test must fail for each"
	@echo "make sanitize      integration tests on nginx with ASan, UBSan, TSan; memcheck; planted bugs"
	@echo "make coverage      lines and branches of core, os and lmdb_store that unit tests reach"
	@echo "make soak          half load, reloads, revocations: no resource grows; SECONDS=3600"
	@echo "make site          the documentation as a website, in build/site"
	@echo "make deps          install the packages for building and testing (apt)"

deps:
	scripts/install-deps

demo:
	scripts/demo

demo-fleet:
	scripts/demo-fleet

test:
	scripts/test

test-more:
	scripts/test-more

lint:
	scripts/lint

format:
	scripts/format

build:
	scripts/install-deps test
	scripts/build $(PRESET)

build-times:
	scripts/build-times $(PRESET)

install:
	scripts/install-deps
	scripts/build release sluice ngx_http_sluice_module
	cmake --install build/release --prefix "$(PREFIX)"

# Removes the files that `make install` wrote, and the folders that are empty then.
uninstall:
	xargs -r -d '\n' -a "$(MANIFEST)" rm -f --
	rmdir --ignore-fail-on-non-empty "$(PREFIX)"/share/sluice/*/ "$(PREFIX)/share/sluice" "$(PREFIX)/lib/nginx/modules" "$(PREFIX)/lib/nginx"

bench:
	scripts/bench

dist:
	scripts/dist

deb:
	scripts/deb

test-package:
	scripts/test-package

check-nginx:
	NGINX_SRC="$(NGINX_SRC)" TESTS="$(TESTS)" WAYS="$(WAYS)" scripts/check-nginx

check-nginx-tests:
	NGINX_TESTS="$(NGINX_TESTS)" NGINX_SRC="$(NGINX_SRC)" FILES="$(FILES)" scripts/check-nginx-tests

check-debian:
	SUITE="$(SUITE)" ARCH="$(ARCH)" CXX="$(CXX)" TESTS="$(TESTS)" scripts/check-debian

check-fresh:
	scripts/check-fresh

test-citus:
	CITUS_SOURCE="$(CITUS_SOURCE)" TESTS="$(TESTS)" scripts/test-citus

fuzz:
	scripts/fuzz

torture:
	scripts/torture

damage:
	/usr/bin/python3 -m pytest -q -p no:cacheprovider -m long tests/security/test_walls.py

mutate:
	scripts/mutate

sanitize:
	scripts/sanitize

coverage:
	scripts/coverage

soak:
	SOAK_SECONDS=$(SECONDS) scripts/soak

site:
	scripts/install-deps more
	scripts/site

clean:
	rm -rf build
