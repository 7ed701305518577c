"""Certificates with one value changed or removed."""

import copy

REMOVED = object()


def changed(certificate: dict, path: tuple, value: object) -> dict:
    mutant = copy.deepcopy(certificate)
    *groups, key = path
    group = mutant
    for each in groups:
        group = group[each]
    if value is REMOVED:
        del group[key]
    else:
        group[key] = value
    return mutant
