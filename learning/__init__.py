"""Everything that trains: networks, records, training with noise, federated learning, releases.

Torch, scikit-learn and accounting take seconds to load: a module that a study imports at its top
imports them inside its functions.
"""

# Modules that the first cell of a study that trains imports; this takes several seconds.
TRAINING_IMPORTS = ("torch", "sklearn.preprocessing")
# The same for a study that also trains by torch.optim, which needs torch._dynamo, and computes F1
# scores.
SCORING_IMPORTS = (*TRAINING_IMPORTS, "torch._dynamo", "sklearn.metrics")
