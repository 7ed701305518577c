"""A driver of a correct sampler and of faulty ones, for the tests of the checks."""

import numpy as np


def noise(scale=3.0, shift=0, norm="l1", stream=None, cast=False, floats=False):
    """Laplace noise that is stated to have scale 3, with a fault."""

    def make(seed=None):
        rng = np.random.default_rng(seed if stream is None else stream)

        def release(values):
            if floats:
                return np.array(values) + rng.laplace(0, 3.0, len(values))
            steps = rng.geometric(1 - np.exp(-1 / scale), (2, len(values))).tolist()
            exact = (float if cast else int)(0)
            return [
                int(value + exact) + up - down + shift
                for value, up, down in zip(values, *steps, strict=True)
            ]

        family = "laplace" if floats else "discrete-laplace"
        stated = {"family": family, "scale": 3.0, "epsilon": 4 / 3, "delta": 0, "norm": norm}
        return release, stated

    return make


NOISES = {
    "right": noise(),
    "small": noise(scale=2.4),
    "shifted": noise(shift=1),
    "one stream": noise(stream=0),
    "wrong norm": noise(norm="linf"),
    "cast to floats": noise(cast=True),
    "added to floats": noise(floats=True),
}
