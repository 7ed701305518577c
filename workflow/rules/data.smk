"""Download and verify official files."""


rule data:
    input:
        expand(DATA / "{dataset}" / "fetched.json", dataset=OFFICIAL),


# There are no `retries`, because the fetch itself retries a failing address, and another attempt
# does not repair a missing mirror or a wrong checksum.
rule download_data:
    output:
        DATA / "{dataset}" / "fetched.json",
    log:
        RUN / "logs" / "download" / "{dataset}.log",
    conda:
        ENVIRONMENT
    threads: 1
    params:
        mirror=CONFIG["data"]["mirror"],
    script:
        "../scripts/download_data.py"
