"""Mechanisms for Gram matrices."""
