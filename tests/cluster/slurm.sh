#!/usr/bin/env bash
# A Slurm of two nodes on this host, for the tests: slurmctld, two slurmd, munge, and slurmdbd on
# mariadb, all from Debian's packages (slurmctld slurmd slurmdbd slurm-client munge mariadb-server).
#
#   slurm.sh start FOLDER    configure and start it; does nothing where it already runs
#   slurm.sh stop FOLDER     stop the processes that `start` started, and no others
#
# FOLDER holds everything: configuration, logs, process ids. Links in /etc/slurm lead there, because
# jobs lose SLURM_CONF; a host with a configuration of its own is left alone. Root is needed, as slurmd
# starts jobs as the users who submit them.
set -euo pipefail

action=${1:?start or stop}
folder=$(realpath -m "${2:?a folder}")
# Away from the ports of a Slurm that the host may have.
controller=26817 accounting=26819 database=26306 first_node=26821

alive() { [ -s "$folder/$1.pid" ] && kill -0 "$(cat "$folder/$1.pid")" 2>/dev/null; }

# run NAME COMMAND...: start a program that stays in the foreground, and keep its process id.
run() {
    local name=$1
    shift
    if ! alive "$name"; then
        setsid "$@" >"$folder/$name.log" 2>&1 &
        echo $! >"$folder/$name.pid"
    fi
}

wait_for() {
    for _ in $(seq 300); do
        if "$@" >/dev/null 2>&1; then return; fi
        sleep 0.1
    done
    echo "timed out: $*; see the logs in $folder" >&2
    exit 1
}

configure() {
    mkdir -p /etc/slurm
    for name in slurm.conf gres.conf slurmdbd.conf; do
        if [ -e "/etc/slurm/$name" ] && [ "$(readlink "/etc/slurm/$name")" != "$folder/$name" ]; then
            echo "/etc/slurm/$name exists: this host has a Slurm of its own" >&2
            exit 1
        fi
        ln -sfn "$folder/$name" "/etc/slurm/$name"
    done
    mkdir -p "$folder"/{database,spool,state}
    chmod 755 "$folder"
    if [ ! -s "$folder/munge.key" ]; then
        dd if=/dev/urandom of="$folder/munge.key" bs=1024 count=1 status=none
        chmod 600 "$folder/munge.key"
    fi
    # proctrack/linuxproc loses the children of a process that a signal has ended.
    cat >"$folder/slurm.conf" <<EOF
ClusterName=tests
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$controller
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,bf_interval=1,defer_batch=0
SchedulerType=sched/backfill
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=2
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$accounting
AccountingStoragePass=$folder/munge.socket
AccountingStorageTRES=gres/gpu
GresTypes=gpu
KillWait=2
MinJobAge=300
InactiveLimit=0
ReturnToService=1
SlurmdTimeout=10
SlurmdParameters=config_overrides
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmdPidFile=$folder/spool/%n.pid
SlurmctldPidFile=$folder/state/controller.pid
NodeName=n[1-2] NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=[$first_node-$((first_node + 1))] CPUs=2 RealMemory=6000 Gres=gpu:1
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
EOF
    # A GPU in name only: what is tested is the request.
    echo "NodeName=n[1-2] Name=gpu File=/dev/null" >"$folder/gres.conf"
    cat >"$folder/slurmdbd.conf" <<EOF
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
DbdHost=$(hostname -s)
DbdAddr=127.0.0.1
DbdPort=$accounting
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$database
StorageUser=slurm
StoragePass=tests
StorageLoc=slurm_tests
PidFile=$folder/state/dbd.pid
EOF
    chmod 600 "$folder/slurmdbd.conf"
}

mysql_as_root() { mariadb --no-defaults --socket="$folder/mariadb.socket" -u root "$@"; }

start() {
    configure
    run munged munged --foreground --force --key-file="$folder/munge.key" \
        --socket="$folder/munge.socket" --pid-file="$folder/state/munged.pid" \
        --log-file="$folder/munged.out" --seed-file="$folder/state/munged.seed"
    if [ ! -d "$folder/database/mysql" ]; then
        mariadb-install-db --no-defaults --user=root --datadir="$folder/database" \
            --auth-root-authentication-method=normal >"$folder/install.log" 2>&1
    fi
    run mariadbd mariadbd --no-defaults --user=root --datadir="$folder/database" \
        --socket="$folder/mariadb.socket" --pid-file="$folder/state/mariadbd.pid" \
        --port=$database --bind-address=127.0.0.1 --innodb-flush-log-at-trx-commit=0
    wait_for mysql_as_root -e 'select 1'
    for host in localhost 127.0.0.1; do
        mysql_as_root -e "create or replace user slurm@'$host' identified by 'tests';
            grant all on *.* to slurm@'$host'"
    done
    run slurmdbd slurmdbd -D
    wait_for bash -c "echo >/dev/tcp/127.0.0.1/$accounting"
    run slurmctld slurmctld -D
    wait_for timeout 2 sinfo
    for node in n1 n2; do
        mkdir -p "$folder/spool/$node"
        run "slurmd-$node" slurmd -D -N "$node"
    done
    wait_for bash -c '[ "$(timeout 2 sinfo -h -N -t idle,mix,alloc | wc -l)" = 2 ]'
}

stop() {
    for name in slurmd-n1 slurmd-n2 slurmctld slurmdbd mariadbd munged; do
        if alive "$name"; then
            kill "$(cat "$folder/$name.pid")" 2>/dev/null || true
        fi
    done
    for name in slurmd-n1 slurmd-n2 slurmctld slurmdbd mariadbd munged; do
        for _ in $(seq 50); do
            alive "$name" || break
            sleep 0.1
        done
        alive "$name" && kill -KILL "$(cat "$folder/$name.pid")" 2>/dev/null || true
        rm -f "$folder/$name.pid"
    done
    for name in slurm.conf gres.conf slurmdbd.conf; do
        if [ "$(readlink "/etc/slurm/$name")" = "$folder/$name" ]; then rm "/etc/slurm/$name"; fi
    done
}

"$action"
