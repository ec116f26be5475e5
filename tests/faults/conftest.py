"""The fixtures of the kill storms serve here too."""

from crash.conftest import fault_shim, site

__all__ = ["fault_shim", "site"]
