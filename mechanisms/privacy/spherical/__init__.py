"""The profile of spherically symmetric noise: one integral over the radius."""
