"""One home for each paper (numbers, claims, judges, figures), and the drawing engine they share."""
