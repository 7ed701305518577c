"""Noise distributions: how they are drawn, their moments, and their privacy profile."""
