"""Mechanisms for counts and other whole numbers."""
