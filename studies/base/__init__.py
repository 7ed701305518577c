"""What a study is: grid points, settings, sets of mechanisms, and values with their units."""
