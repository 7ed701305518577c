"""Official files, downloaded and verified."""


rule data:
    input:
        expand(DATA / "{dataset}" / "fetched.json", dataset=OFFICIAL),


rule download_data:
    output:
        DATA / "{dataset}" / "fetched.json",
    log:
        RUN / "logs" / "download" / "{dataset}.log",
    retries: 2
    conda:
        ENVIRONMENT
    threads: 1
    params:
        mirror=CONFIG["data"]["mirror"],
    script:
        "../scripts/download_data.py"
