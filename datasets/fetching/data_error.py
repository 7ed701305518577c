"""The one error of the data layer."""


class DataError(Exception):
    """Data cannot be had or cannot be trusted; the message says what to do about it."""
