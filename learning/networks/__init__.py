"""The papers' networks, one family per file, as pure functions of one flat vector of parameters.

Importing these modules does not import torch, so that sizes are known without it.
"""
