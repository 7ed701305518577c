"""Does a mechanism keep its claim? Its releases and its profile against what it states."""
