"""One home for each paper (claims, judges, figures), and the drawing engine that they share."""
