"""Everything that trains: networks, records, training with noise, federated learning, releases.

Torch, scikit-learn and accounting take seconds to load: a module that a study imports at its top
imports them inside its functions.
"""

# What a study that trains imports in its first cell, which takes several seconds.
TRAINING_IMPORTS = ("torch", "sklearn.preprocessing")
# The same for one that also scores them by their F1.
SCORING_IMPORTS = (*TRAINING_IMPORTS, "sklearn.metrics")
