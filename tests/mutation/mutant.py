"""A planted fault: an edit of the sources, and the test that has to turn red."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    name: str
    file: str
    edits: tuple  # of (old, new)
    test: str
    also: tuple = ()  # of (file, old, new): in other files

    @property
    def places(self):
        return [(self.file, old, new) for old, new in self.edits] + list(self.also)


def fault(name, file, old, new, test):
    return Mutant(name, file, ((old, new),), test)
