"""A config with one value replaced."""

import copy


def changed(config, path, value):
    """A copy of the config with the value at a dotted path replaced."""
    config = copy.deepcopy(config)
    *parents, last = path.split(".")
    section = config
    for parent in parents:
        section = section.setdefault(parent, {})
    section[last] = value
    return config
