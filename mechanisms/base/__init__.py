"""The base classes of mechanisms, the checks around a release, and the registry."""
