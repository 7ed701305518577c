"""Everything that trains: networks, records, training with noise, federated learning, releases.

May be imported by experiments and everything above them. May import mechanisms, datasets, papers
and experiments.contract. Torch, scikit-learn and accounting take seconds to load: a module that a
study imports at its top imports them inside its functions.
"""
