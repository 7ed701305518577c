"""The one error of the data layer."""


class DataError(Exception):
    """A data set is unknown, or its files are missing or wrong; the message says what to do."""
