from snakemake.utils import min_version

min_version("9.27")


# A given --configfile is used alone: merged with the default one, it would inherit its keys.
if not workflow.overwrite_configfiles:

    configfile: "config/quick.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/studies.smk"
include: "workflow/rules/aggregate.smk"
include: "workflow/rules/figures.smk"
include: "workflow/rules/ledger.smk"
include: "workflow/rules/summary.smk"
include: "workflow/rules/site.smk"
include: "workflow/rules/unknown.smk"


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
