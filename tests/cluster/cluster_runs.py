"""Runs on a real Slurm cluster of two nodes, started on this host by slurm.sh (`make cluster`)."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from copied_project import differing
from left_over import at_work_in, end_left_over

from runs.results import read_frame

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("slurm.sh")
PROGRAMS = ("slurmctld", "slurmd", "slurmdbd", "sbatch", "munged", "mariadbd")
MISSING = [name for name in PROGRAMS if shutil.which(name) is None]
pytestmark = [
    pytest.mark.skipif(bool(MISSING), reason=f"needs {', '.join(MISSING)}: see tests/cluster"),
    pytest.mark.skipif(os.geteuid() != 0, reason="slurmd must be started by root"),
]
# The timeout of the tests: a cluster looks at its jobs only every few seconds.
PATIENCE = 240
OPTIONS = ["--profile", "profiles/slurm", "--slurm-init-seconds-before-status-checks", "1"]
OPTIONS += ["--latency-wait", "10", "--default-resources", "slurm_partition=main"]
# With more tasks in an array than jobs at once, the executor would wait forever for the others.
ARRAYS = ["--slurm-array-jobs", "all", "--jobs", "2", "--slurm-array-limit", "2"]

MECHANISMS = '''
"""Mechanisms that wait, hang or eat memory."""

import time
from pathlib import Path

import numpy as np

from mechanisms import AdditiveMechanism
from mechanisms.noise.gaussian_noise import IndependentGaussian

HERE = Path(__file__).parent


class Waits(AdditiveMechanism):
    """sigma = 1 / epsilon; at epsilon 2 it waits as long as there is a file `wait`."""

    key, title, paper, theorem, guarantee = "waits", "Waits", "test", "none", "approximate"

    @classmethod
    def noise_for(cls, query, budget):
        with open(HERE / "measured", "a") as file:
            file.write(f"{budget.epsilon:g}\\n")
        while budget.epsilon == 2 and (HERE / "wait").exists():
            time.sleep(0.1)
        return IndependentGaussian(shape=query.shape, sigma=1 / budget.epsilon)


class Hangs(Waits):
    """Never returns."""

    @classmethod
    def noise_for(cls, query, budget):
        time.sleep(3600)


class Eats(Waits):
    """Takes all the memory there is."""

    @classmethod
    def noise_for(cls, query, budget):
        eaten = []
        while True:
            eaten.append(np.ones(1 << 21))
'''


@pytest.fixture(scope="module")
def nothing_is_left_at_the_end(tmp_path_factory):
    """Check that no process works in a folder of these tests once the cluster has stopped."""
    yield
    assert end_left_over(tmp_path_factory.getbasetemp()) == []


@pytest.fixture(scope="module")
def slurm(nothing_is_left_at_the_end):
    """The running cluster, in its own folder."""
    # Names of sockets must be short.
    folder = Path("/tmp") / f"slurm-{os.getpid()}"
    subprocess.run([SCRIPT, "start", folder], check=True, timeout=PATIENCE)
    yield folder
    subprocess.run([SCRIPT, "stop", folder], check=True, timeout=PATIENCE)
    shutil.rmtree(folder)


@pytest.fixture(autouse=True)
def nothing_is_left(slurm, tmp_path):
    """Check that no process works in the folder of a test once the test has ended."""
    yield
    assert end_left_over(tmp_path) == []


@pytest.fixture
def project(slurm, new_project, tmp_path):
    """A copy of the project with the mechanisms above, for runs on the cluster."""
    project = new_project(tmp_path / "project")
    (project.folder / "outside.py").write_text(MECHANISMS)
    return project


def write_config(project, mechanisms, **run):
    """Write a config of one study in one batch; return its name."""
    tiny = yaml.safe_load((ROOT / "config/tiny.yaml").read_text())
    settings = tiny["studies"]["noise_only"] | {
        "datasets": ["fixed-sensitivity"],
        "mechanisms": mechanisms,
        "calibrations": ["published"],
        "sizes": ["3x1"],
        "epsilons": [1, 2, 3],
    }
    config = {"run": "cluster", "studies": {"noise_only": settings}, "variants": {}} | run
    for name in mechanisms:
        if name != "gaussian":
            config["variants"][name] = {"use": f"outside:{name.capitalize()}"}
    (project.folder / "cluster.yaml").write_text(yaml.safe_dump(config))
    return "cluster.yaml"


def rows_of(project):
    return (project.folder / "results/cluster/studies/noise_only.parquet").read_bytes()


def slurm_output(*command):
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=PATIENCE)
    return ended.stdout.split()


def wait_for(condition):
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        assert time.monotonic() < deadline, "nothing happened"
        time.sleep(0.1)
    return found


def some_studies(project):
    """Write a config of some tiny studies, one of which can use a GPU; return its name."""
    tiny = yaml.safe_load((ROOT / "config/tiny.yaml").read_text())
    names = ("count_query", "guarantee", "first_component", "private_data")
    tiny["studies"] = {name: tiny["studies"][name] for name in names}
    tiny["studies"]["private_data"]["device"] = "auto"
    (project.folder / "some.yaml").write_text(yaml.safe_dump(tiny))
    return "some.yaml"


@pytest.fixture(scope="module", autouse=True)
def alone(nothing_is_left_at_the_end, new_project, tmp_path_factory):
    """Run some studies locally while most tests only wait; return the process and the project."""
    project = new_project(tmp_path_factory.mktemp("alone") / "project")
    command = [sys.executable, "-m", "snakemake", "results", "--cores", "1"]
    with open(project.folder / "log", "w") as log:
        child = subprocess.Popen(
            [*command, "--configfile", some_studies(project)],
            cwd=project.folder,
            env=project.environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    yield child, project
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()


@pytest.fixture(scope="module")
def local_rows(new_project, tmp_path_factory):
    """The rows of the waiting mechanism and a Gaussian in a run without a cluster."""
    project = new_project(tmp_path_factory.mktemp("local") / "project")
    (project.folder / "outside.py").write_text(MECHANISMS)
    project.snakemake("results", config=write_config(project, ["gaussian", "waits"]))
    return rows_of(project)


def job_of(project, times=1):
    """The job of the batch once its cell waits at epsilon 2 for the n-th time."""

    def job():
        measured = project.folder / "measured"
        begun = measured.exists() and measured.read_text().split().count("2") == times
        return begun and slurm_output("squeue", "-h", "-t", "running", "-o", "%i")

    return wait_for(job)[0]


def end_with(command, child, folder):
    """Run a command that ends a job, and wait until all its current processes have ended.

    That takes some seconds, in which they may still measure. Meanwhile Snakemake may submit the job
    again, with new processes.
    """
    before = {process for process in at_work_in(folder) if process.pid != child.pid}
    subprocess.run(command, check=True)
    wait_for(lambda: before.isdisjoint(at_work_in(folder)))


def start_now(job):
    """Start a requeued job now; Slurm would hold it back for two minutes."""
    wait_for(lambda: slurm_output("squeue", "-h", "-j", job, "-o", "%T") == ["PENDING"])
    subprocess.run(["scontrol", "update", f"jobid={job}", "starttime=now"], check=True)


def requeue(job, child, folder):
    """The site returns the job to the queue."""
    end_with(["scontrol", "requeue", job], child, folder)
    start_now(job)


def cancel(job, child, folder):
    """A user or an administrator ends the job."""
    end_with(["scancel", job], child, folder)


def cancel_task(job, child, folder):
    """A user or an administrator ends one task of an array."""
    assert "_" in job
    cancel(job, child, folder)


def lose_node(job, child, folder):
    """The node of the job goes down and stays down, so that the job finishes on the other one."""
    node = slurm_output("squeue", "-h", "-j", job, "-o", "%N")[0]
    down = f"nodename={node}"
    end_with(["scontrol", "update", down, "state=down", "reason=test"], child, folder)
    start_now(job)


def kill_snakemake(job, child, folder):
    """The process that submits the jobs dies; its job is cancelled by hand."""
    os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    cancel(job, child, folder)


@pytest.mark.parametrize(
    "faults",
    [[requeue, cancel, lose_node], [cancel_task], [kill_snakemake]],
    ids=lambda faults: "-".join(fault.__name__ for fault in faults),
)
def test_a_run_continues_after_faults(faults, project, local_rows):
    """After faults in the middle of a cell, rows are the same and little is measured twice."""
    arrays = cancel_task in faults
    batches = {"cells_per_job": 1} if arrays else {}
    config = write_config(project, ["gaussian", "waits"], **batches)
    wait = project.folder / "wait"
    wait.touch()
    options = [*OPTIONS, *ARRAYS] if arrays else OPTIONS
    command = [sys.executable, "-m", "snakemake", "results", *options, "--configfile", config]
    with open(project.folder / "log", "w") as log:
        child = subprocess.Popen(
            command,
            cwd=project.folder,
            env=project.environment,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        for times, fault in enumerate(faults, 1):
            fault(job_of(project, times), child, project.folder)
        wait.unlink()
        if kill_snakemake in faults:
            wait_for(lambda: not slurm_output("squeue", "-h", "-o", "%i"))
            project.snakemake("--unlock", config=config)
            project.snakemake("results", *OPTIONS, config=config)
        else:
            assert child.wait(PATIENCE) == 0, (project.folder / "log").read_text()
        assert rows_of(project) == local_rows
        measured = (project.folder / "measured").read_text().split()
        assert measured == ["1", "2", *["2"] * len(faults), "3"]
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        subprocess.run(["scancel", "--user", "root"], check=True)
        subprocess.run(["scontrol", "update", "nodename=n[1-2]", "state=resume"], check=False)


def test_exceeded_limits_become_rows_and_the_job_request_allows_for_them(project):
    """A cell over its limits ends as rows, because its job requested enough to write them."""
    limits = {"seconds": 4, "memory_gib": 0.5}
    config = write_config(
        project, ["gaussian", "hangs", "eats"], limits=limits, strict=False, cells_per_job=2
    )
    project.snakemake("results", *OPTIONS, config=config)
    frame = read_frame(project.folder / "results/cluster/studies/noise_only.parquet")
    status = frame.groupby("mechanism")["status"].agg(lambda found: sorted(set(found)))
    assert status.to_dict() == {"gaussian": ["ok"], "hangs": ["timeout"], "eats": ["error"]}
    reasons = frame.groupby("mechanism")["message"].agg(" ".join)
    assert "stopped at the cell's limit of 4 s" in reasons["hangs"]
    assert "memory" in reasons["eats"]
    asked = slurm_output(
        "sacct", "-nXP", "--noconvert", "-o", "ReqMem,Timelimit", "-S", "now-10minutes"
    )
    # 0.5 GiB and room for the parent processes; two cells of 4 s, and five minutes.
    assert "1536M|00:05:00" in asked


def test_whole_studies_give_the_rows_of_a_local_run(slurm, new_project, tmp_path, alone):
    """Every batch is a job, no byte depends on where it ran, and only GPU studies request a GPU."""
    project = new_project(tmp_path / "cluster")
    project.snakemake("results", *OPTIONS, config=some_studies(project))
    child, local = alone
    assert child.wait(PATIENCE) == 0, (local.folder / "log").read_text()
    assert differing(project.reproducible("tiny"), local.reproducible("tiny")) == []
    asked = slurm_output("sacct", "-nX", "-o", "AllocTRES", "-P", "-S", "now-10minutes")
    assert any("gres/gpu=1" in resources for resources in asked)
