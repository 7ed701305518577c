"""tvg2021 (Yang et al., IEEE TIFS 17): tensor-variate Gaussian noise, one covariance per axis."""

NAME = "TVG"
MECHANISMS = ("tvg",)
