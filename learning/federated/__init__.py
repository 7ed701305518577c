"""Federated training with released uploads: horizontal, vertical, and averaging of parameters.

The studies of federated learning in studies import it. It imports the other packages of
learning, papers, mechanisms, and the contract of studies (studies.base).
"""
