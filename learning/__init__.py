"""Everything that trains: networks, records, training with noise, federated learning, releases.

May be imported by experiments and everything above them. May import mechanisms, datasets, papers
and experiments.contract. Torch, scikit-learn and accounting take seconds to load: a module that a
study imports at its top imports them inside its functions.
"""

# What a training imports by its first step, in several seconds; optimizers import torch._dynamo.
TRAINING_IMPORTS = (
    "torch._dynamo",
    "sklearn.linear_model",
    "sklearn.metrics",
    "sklearn.preprocessing",
)
