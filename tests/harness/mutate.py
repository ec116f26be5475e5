"""Documents that are nearly right: a sample with a few things changed at random."""

import copy

ODD = [None, True, False, 0, 1, -1, 1.5, 2**63, 2**64 - 1, -(2**63), 1e10, "", " ", "x", "é", "x" * 1024, "x" * 1025,
       "1", "0", "01", "1.5", "-1", "1e3", "1.1234567", "USD", "usd", "en", "US", "in stock", "l1", "l2", "r1",
       "2024-03-01T10:00:00Z", "2024-03-01", "2024-03-01T10:00:00.123+05:30", "DISCOUNT_CODE", "PERCENTAGE",
       [], {}, [1], ["x"], [None], [{}], [[]], {"zzz": 1}, {"min": 1}, {"id": "d"}]


def places(value, path=()):
    """The paths of everything below the root."""
    members = value.items() if isinstance(value, dict) else enumerate(value)
    for name, inner in list(members):
        yield (*path, name)
        if isinstance(inner, (dict, list)):
            yield from places(inner, (*path, name))


def at(document, path):
    for step in path:
        document = document[step]
    return document


def mutated(chance, sample):
    document = copy.deepcopy(sample)
    for _ in range(chance.choice([0, 1, 1, 1, 2, 3, 6])):
        _change(chance, document)
    return document


def _change(chance, document):
    paths = list(places(document))
    if not paths:
        return
    path = chance.choice(paths)
    parent, name = at(document, path[:-1]), path[-1]
    kind = chance.random()
    value = parent[name]
    if kind < 0.25:
        del parent[name]
    elif kind < 0.6:
        parent[name] = copy.deepcopy(chance.choice(ODD))
    elif kind < 0.75:
        parent[name] = copy.deepcopy(at(document, chance.choice(paths)))
    elif isinstance(value, list):
        value.append(copy.deepcopy(chance.choice([chance.choice(ODD), value[-1] if value else {}])))
    elif isinstance(parent, list):
        parent.insert(name, copy.deepcopy(value))
    else:
        parent[name] = None
