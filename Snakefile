from snakemake.utils import min_version

min_version("9.27")


# A given --configfile is used alone: merged with the default one, it would inherit its keys.
if not workflow.overwrite_configfiles:

    configfile: "config/quick.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/tables.smk"
include: "workflow/rules/findings.smk"


# On a cluster only batches are jobs; everything else takes seconds and runs where Snakemake does.
localrules:
    all,
    data,
    download_data,
    results,
    write_csv,
    tables,
    figures,
    claims,
    judge_claims,
    summary,
    build_site,


rule all:
    default_target: True
    input:
        rules.results.input,
        rules.tables.input,
        rules.figures.input,
        rules.claims.input,
