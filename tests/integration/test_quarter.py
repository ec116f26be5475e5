"""docs/month.md, played as a quarter with a faked clock: everything ties."""
import decimal
import subprocess
import sys

import pytest
from harness.fake_time import LIBRARY
from harness.paths import ROOT

sys.path.insert(0, str(ROOT / "tests" / "tools"))
from quarter import EVE, Quarter, as_user  # noqa: E402


def test_a_quarter_ties(tmp_path):
    assert LIBRARY.exists(), "not installed: libfaketime (scripts/install-deps test)"
    if subprocess.run([*as_user(EVE), "true"], capture_output=True, check=False).returncode != 0:
        pytest.skip("this machine does not let a test log in as another user")
    quarter = Quarter(tmp_path)
    with quarter.edge:
        quarter.play()
    assert set(quarter.paid_by_bank) == {(account, currency) for account in ("acme", "beta") for currency in ("EUR", "USD")}
    assert min(quarter.paid_by_bank.values()) > decimal.Decimal(20)
