"""tvg2021 (Yang et al., IEEE TIFS 17): tensor-variate Gaussian noise, one covariance per axis.

Imported by discovery alone. May import mechanisms, papers and the modules at the top of
paper_figures. No other package imports it.
"""
