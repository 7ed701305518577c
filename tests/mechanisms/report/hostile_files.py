"""Files that no report can be made on, or that misbehave in one; see `FILES`."""

_NOISE = """
from mechanisms import AdditiveMechanism, Mechanism
from mechanisms.noise.gaussian_noise import IndependentGaussian


class Mine(AdditiveMechanism):
    "Mine."
    key, title, paper, theorem, guarantee = "mine", "Mine", "none", "none", "approximate"
    {only}
    @classmethod
    def noise_for(cls, query, budget):
        {body}
        return IndependentGaussian(shape=query.shape, sigma=10 / budget.epsilon)
{more}
"""


def _noise(body="pass", more="", only=""):
    return _NOISE.format(body=body, more=more, only=only)


def _released(body):
    more = f"\n    def _release(self, value, rng):\n        {body}\n"
    return _noise(more=more, only="only_adds_noise = False")


# By what is wrong: the source, what is named in it, and words of the one line of the failure.
REFUSED = {
    "a syntax error": ("class Mine(:\n", "Mine", "SyntaxError"),
    "an error on import": ("1 / 0\n", "Mine", "ZeroDivisionError"),
    "an exit on import": ("import sys\nsys.exit(3)\n", "Mine", "SystemExit"),
    "a death on import": ("import os\nos._exit(1)\n", "Mine", "ended its process"),
    "an endless import": ("while True:\n    pass\n", "Mine", "takes longer than"),
    "a missing package": ("import no_such_package\n", "Mine", "no_such_package"),
    "another name": ("class Mime:\n    pass\n", "Mine", "did you mean 'Mime'"),
    "another class": ("class Mine:\n    pass\n", "Mine", "must be a Mechanism"),
    "more parameters": (
        "def mine(value, epsilon, scale):\n    return value\n", "mine",
        "mine must take (value, rng), and it takes (value, epsilon, scale)",
    ),
    "a number": ("Mine = 3\n", "Mine", "must be a class or a function, got int"),
    "an abstract class": (
        "from mechanisms import Mechanism\nclass Mine(Mechanism):\n    key = 'm'\n",
        "Mine",
        "does not define _release, build",
    ),
    "another's key": (
        _noise().replace('"mine", "Mine"', '"laplace", "Mine"'),
        "Mine",
        "key 'laplace' is",
    ),
    "no guarantee": (_noise().replace(', "approximate"', ', "perfect"'), "Mine", "guarantee in"),
    "much memory on import": (
        "import numpy\nx = numpy.ones(10**11)\n", "Mine", "MemoryError",
    ),
}  # fmt: skip
# The verdicts that a report may give, and words of the reason.
MISBEHAVING = {
    "prints": (_noise("print('{}', flush=True)"), {"loose"}, ""),
    "an error": (_noise("1 / 0"), {"failed"}, "ZeroDivisionError"),
    "an endless loop": (_noise("while True: pass"), {"failed"}, "takes longer"),
    "an exit": (_noise("raise SystemExit(0)"), {"failed"}, "ends the process"),
    "a death": (_noise("import os; os._exit(0)"), {"failed"}, "ended its process"),
    "much memory": (_released("return bytearray(10**12)"), {"failed"}, "memory"),
    "not a number": (_released("return value + float('nan')"), {"inconsistent"}, "finite"),
    "another shape": (_released("return value.ravel()[:0]"), {"inconsistent"}, "shape"),
    "text": (_released("return 'noise'"), {"inconsistent"}, "str"),
    "writes into the value": (_released("value += 1; return value"), {"inconsistent"}, "writes"),
    "too little noise": (
        _released("return value + 0.01 * self.sample(rng, 1)[0]"), {"inconsistent"}, "noise",
    ),
    "a profile of its own that lies": (
        _noise(more="\n    def profile(self):\n"
               "        from mechanisms.privacy.gaussian_profile import GaussianProfile\n"
               "        return GaussianProfile(mu=1e-6)\n"), {"inconsistent"}, ""),
}  # fmt: skip
