"""Answer a target that no rule makes with one line."""


rule unknown_target:
    input:
        lambda wildcards: sys.exit(f"error: {no_target(wildcards.target)}"),
    output:
        "{target}",
