"""What a study declares: its interface, settings, columns, grids and seeds.

May be imported by the studies, learning, runs and all above them. May import papers and mechanisms.
"""
