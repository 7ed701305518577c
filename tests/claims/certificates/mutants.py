"""Certificates with one value changed."""

import copy


def changed(certificate: dict, path: tuple, value: object) -> dict:
    mutant = copy.deepcopy(certificate)
    *groups, key = path
    group = mutant
    for each in groups:
        group = group[each]
    group[key] = value
    return mutant
