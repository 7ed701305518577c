#!/usr/bin/env bash
# Report on every submission that a ref changes:  bash .github/report_submissions.sh REF
# Pages go to reports/, what they say in short to summary.txt and the summary of the workflow's job.
set -euo pipefail
git fetch --quiet origin "$1"
for arguments in $(git diff --name-only --diff-filter=d "HEAD...FETCH_HEAD" -- 'submissions/*.txt'); do
    name=$(basename "$arguments" .txt)
    folder=$(mktemp -d)
    git archive FETCH_HEAD submissions | tar -x -C "$folder"
    # The words of the file are arguments, none of them is a command.
    read -r -a words <"$folder/$arguments"
    {
        echo "## $name"
        echo '```text'
        (cd "$folder/submissions" && python -m mechanisms report "${words[@]}" --out "$OLDPWD/reports/$name") 2>&1 || true
        echo '```'
    } | tee -a "${GITHUB_STEP_SUMMARY:-/dev/null}" summary.txt
done
