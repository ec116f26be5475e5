"""nginx's module calls only functions of libcrypto that every libcrypto has which may be inside nginx, and has no ledger."""

import pathlib
import re
import subprocess

import pytest

from harness import paths

# In the headers of OpenSSL 3.0 and 4.0, AWS-LC 5.5 and BoringSSL, with the same parameters.
COMMON = {
    "CRYPTO_memcmp", "OPENSSL_cleanse", "RAND_bytes",
    "SHA256_Init", "SHA256_Update", "SHA256_Final",
    "EVP_aes_256_gcm", "EVP_CIPHER_CTX_new", "EVP_CIPHER_CTX_free", "EVP_CIPHER_CTX_ctrl",
    "EVP_EncryptInit_ex", "EVP_EncryptUpdate", "EVP_EncryptFinal_ex",
    "EVP_DecryptInit_ex", "EVP_DecryptUpdate", "EVP_DecryptFinal_ex",
}


def functions(file, *options):
    lines = subprocess.run(["nm", "-D", *options, file], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split()[-1].split("@")[0] for line in lines}


def test_the_module_calls_only_functions_that_all_libraries_have():
    needed = subprocess.run(["ldd", paths.MODULE], capture_output=True, text=True, check=True).stdout
    library = re.search(r"libcrypto\.so\.\d+ => (\S+)", needed)
    if not library:
        pytest.skip("another libcrypto")
    called = functions(paths.MODULE, "--undefined-only") & functions(library.group(1), "--defined-only")
    assert called and called <= COMMON, sorted(called - COMMON)
    page = (pathlib.Path(paths.ROOT) / "docs" / "building.md").read_text()
    assert "tests/release/test_module_imports.py" in page


def test_the_module_has_no_code_of_the_ledger():
    """A unit is linked whole: one of cmake/units.txt that joins what nginx needs with the ledger's code brings it along."""
    names = subprocess.run(["nm", "-C", paths.MODULE], capture_output=True, text=True, check=True).stdout
    if "sluice::" not in names:
        pytest.skip("stripped")
    assert "sluice::store::" in names and "sluice::LedgerReader" not in names
