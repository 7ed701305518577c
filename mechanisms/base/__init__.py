"""What every mechanism is: its base classes, the checks around a release, and the registry."""
