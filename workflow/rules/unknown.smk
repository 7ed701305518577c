"""What Snakemake says to a target that no rule makes."""


rule unknown_target:
    input:
        lambda wildcards: sys.exit(f"error: {no_target(wildcards.target)}"),
    output:
        "{target}",
