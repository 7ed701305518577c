"""Federated training with released uploads: horizontal, vertical, and averaging of parameters."""
