"""Privacy profiles: delta(epsilon) of noise, of its compositions and of sampled runs."""
