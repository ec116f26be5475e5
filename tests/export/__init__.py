"""Exports as their readers load them: a folder of its own, because it installs databases of others."""
