"""Does a mechanism do what it states? A list of named checks of its releases and its profile."""
