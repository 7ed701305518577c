"""Cells that misbehave: at epsilon 2 each class of `ALL` calls its function."""

import atexit
import builtins
import ctypes
import errno
import faulthandler
import gc
import os
import random
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import warnings

import numpy as np

from mechanisms import AdditiveMechanism, Inconsistent, OutOfRangeWarning, Unsupported
from mechanisms.noise.gaussian_noise import IndependentGaussian

FOREVER = 10**6
KEPT = []


class Fine(AdditiveMechanism):
    """Noise of sigma = 1 / epsilon, with a side effect at epsilon 2."""

    key, title, paper, theorem, guarantee = "fine", "Fine", "test", "none", "approximate"

    @classmethod
    def act(cls):
        """Do nothing."""

    @classmethod
    def noise_for(cls, query, budget):
        if budget.epsilon == 2:
            cls.act()
        return IndependentGaussian(shape=query.shape, sigma=1 / budget.epsilon)


def raising(error):
    def act():
        raise error

    return act


def failing(code):
    return raising(OSError(code, "mine"))


def forge(line):
    return every_file(lambda number: os.write(number, LINES[line]))


def in_fork(act, waits=0.0):
    """Do something in a child that never returns."""

    def forks():
        if os.fork() == 0:
            act()
            time.sleep(FOREVER)
        time.sleep(waits)

    return forks


def sleep():
    time.sleep(FOREVER)


def in_daemon(act):
    """Do something in a daemon, after two forks in a new session."""

    def daemon():
        os.setsid()
        if os.fork() == 0:
            act()
            time.sleep(FOREVER)
        os._exit(0)

    return in_fork(daemon, waits=0.2)


def spam(descriptor, mebibytes=200):
    def act():
        for _ in range(mebibytes):
            os.write(descriptor, b"x" * (1 << 20))

    return act


def eat():
    while True:
        KEPT.append(np.ones(1 << 22))
        time.sleep(0.01)


def leak(opened):
    def act():
        while True:
            KEPT.append(opened())

    return act


def every_file(act, last=100):
    def acts():
        for number in range(3, last):
            try:
                act(number)
            except OSError:
                continue

    return acts


def limit(kind, value, then=lambda: None):
    def act():
        resource.setrlimit(kind, (value, value))
        then()

    return act


def in_threads(count, work, daemon=False):
    def act():
        for _ in range(count):
            threading.Thread(target=work, daemon=daemon).start()

    return act


def setter(place, name, value):
    return lambda: setattr(place, name, value)


def spin():
    while True:
        pass


def recursion():
    return recursion()


class Odd(Exception):
    def __str__(self):
        raise RuntimeError("no text")


class Other(Exception):
    def __str__(self):
        return 7


def warn(text):
    return lambda: warnings.warn(text, OutOfRangeWarning, stacklevel=2)


def moved():
    place = tempfile.mkdtemp()
    os.chdir(place)
    os.rmdir(place)


def joins_its_parent():
    os.setpgid(0, os.getpgid(os.getppid()))
    sleep()


def forks_and_returns():
    os.fork()


def closes_streams():
    sys.stdout.close()
    sys.stderr.close()


def reads_tasks():
    for number in range(3, 100):
        try:
            os.set_blocking(number, False)
            os.read(number, 1)
        except OSError:
            continue


def listens():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    KEPT.append(listener)


LINES = [b'{"ended": 0}\n', b'{"pid": 1}\n', b'{"machine": "mine"}\n', b'{"pid"', b"\xff" * 100]
DEV_NULL = lambda: open("/dev/null")  # noqa: E731, SIM115
SET, SIG = signal.signal, signal.SIG_IGN
DIES = "the process died of signal"
# By name of the class: the status of the row at epsilon 2, part of its message, and the action.
ACTS = {
    # Processes
    "Forks": ("ok", "", in_fork(sleep)),
    "ForksAndReturns": ("ok", "", forks_and_returns),
    "ForkSpins": ("ok", "", in_fork(spin)),
    "ForkIgnoresTerm": ("ok", "", in_fork(lambda: SET(signal.SIGTERM, SIG))),
    "Session": ("ok", "", lambda: subprocess.Popen(["sleep", "4242"], start_new_session=True)),
    "NoHangup": ("ok", "", lambda: subprocess.Popen("nohup setsid sleep 4242 &", shell=True)),
    "EmptyEnvironment": ("ok", "", lambda: subprocess.Popen(["/bin/sleep", "4242"], env={})),
    "Daemon": ("ok", "", in_daemon(sleep)),
    "DaemonOfDaemon": ("ok", "", in_daemon(in_daemon(sleep))),
    "DaemonSpams": ("ok", "", in_daemon(lambda: [os.write(1, b"x" * 4096) for _ in iter(int, 1)])),
    "DaemonEats": ("error", "exceeded the memory limit", lambda: (in_daemon(eat)(), sleep())),
    "SomeForks": ("ok", "", lambda: [in_fork(sleep)() for _ in range(4)]),
    "StoppedFork": ("ok", "", in_fork(lambda: os.kill(os.getpid(), signal.SIGSTOP))),
    "StopsItself": ("timeout", "limit of 6 s", lambda: os.kill(os.getpid(), signal.SIGSTOP)),
    "StopsItsParent": ("timeout", "6 s", lambda: (os.kill(os.getppid(), signal.SIGSTOP), sleep())),
    "JoinsItsParent": ("timeout", "limit of 6 s", joins_its_parent),
    "KillsItsParent": ("error", "twice", lambda: (os.kill(os.getppid(), 9), sleep())),
    "HelperIsKilled": (
        "error",
        "SIGKILL",
        lambda: subprocess.run(["sh", "-c", "kill -9 $$"], check=True),
    ),
    "KillsItself": ("error", "twice", lambda: os.kill(os.getpid(), 9)),
    "TerminatesItself": ("error", "twice", lambda: os.kill(os.getpid(), signal.SIGTERM)),
    "KillsItsGroup": ("error", "twice", lambda: os.killpg(0, 9)),
    "Aborts": ("error", DIES, os.abort),
    "Segfault": ("error", DIES, lambda: ctypes.string_at(0)),
    "Alarm": ("error", DIES, lambda: (signal.alarm(1), sleep())),
    # Ends
    "Exit0": ("error", "ended with status 0", lambda: os._exit(0)),
    "Exit75": ("error", "ended with status 75", lambda: os._exit(75)),
    "SysExit": ("error", "ended with status 1", lambda: sys.exit("bye")),
    "ThreadExits": ("error", "status 3", lambda: (in_threads(1, lambda: os._exit(3))(), sleep())),
    "AtExit": ("ok", "", lambda: atexit.register(sleep)),
    "Interrupt": ("error", "KeyboardInterrupt", raising(KeyboardInterrupt())),
    "GeneratorEnds": ("error", "GeneratorExit", raising(GeneratorExit())),
    "Stops": ("error", "StopIteration", raising(StopIteration())),
    "Memory": ("error", "MemoryError", raising(MemoryError("mine"))),
    "Recursion": ("error", "RecursionError", recursion),
    # Time and memory
    "Hangs": ("timeout", "limit of 6 s", sleep),
    "Spins": ("timeout", "limit of 6 s", spin),
    "Eats": ("error", "exceeded the memory limit", eat),
    "Threads": ("ok", "", in_threads(100, sleep)),
    "DaemonThreads": ("ok", "", in_threads(100, sleep, daemon=True)),
    "NoCollector": ("ok", "", lambda: (gc.disable(), gc.freeze())),
    # Words
    "Surrogate": ("error", "ValueError: bad \\udcff", raising(ValueError("bad \udcff text"))),
    "Nul": ("error", "a\\x00b", raising(ValueError("a\0b\r\n\x1b[31m \u202e <script>"))),
    "Huge": ("error", " [...] ", raising(ValueError("y" * 20_000_000))),
    "HugeUnsupported": ("unsupported", " [...] ", raising(Unsupported("y" * 20_000_000))),
    "HugeInconsistent": ("inconsistent", " [...] ", raising(Inconsistent("\udc80" * 9_000))),
    "HugeWarning": ("ok", " [...] ", warn("\ud800" * 20_000)),
    "NoText": ("error", "cannot be read", raising(Odd())),
    "NumberAsText": ("error", "cannot be read", raising(Other())),
    "WarnsAsErrors": (
        "error",
        "OutOfRangeWarning",
        lambda: (warnings.simplefilter("error"), warn("w")()),
    ),
    # Output
    "SpamsOut": ("ok", "", spam(1)),
    "SpamsErr": ("ok", "", spam(2)),
    "SpamsBytes": ("ok", "", lambda: os.write(2, bytes(range(256)) * 40_000)),
    "SpamsOfAChild": ("ok", "", lambda: subprocess.run("yes | head -c 90000000", shell=True)),
    "Prints": ("ok", "", lambda: print("z" * 5_000_000, "\ud800".encode("utf-8", "replace"))),
    # Files
    "LeaksFiles": ("error", "Too many open files", leak(DEV_NULL)),
    "LeaksPipes": ("error", "Too many open files", leak(os.pipe)),
    "LeaksSockets": ("error", "Too many open files", leak(socket.socket)),
    "LowersFiles": ("error", "Too many open", limit(resource.RLIMIT_NOFILE, 3, DEV_NULL)),
    "ClosesFiles": ("ok", "", every_file(os.close)),
    "ClosesAllFiles": ("ok", "", lambda: os.closerange(0, 10_000)),
    "ClosesStreams": ("ok", "", closes_streams),
    "ClosesDescriptors": ("ok", "", lambda: os.closerange(0, 3)),
    "NoStreams": ("ok", "", lambda: (setter(sys, "stdout", None)(), setter(sys, "stderr", None)())),
    "Chdir": ("ok", "", lambda: os.chdir("/")),
    "ChdirGone": ("ok", "", moved),
    "Umask": ("ok", "", lambda: os.umask(0o777)),
    "NoTemporary": ("ok", "", setter(tempfile, "tempdir", "/none")),
    "Forges0": ("ok", "", forge(0)),
    "Forges1": ("ok", "", forge(1)),
    "Forges2": ("ok", "", forge(2)),
    "Forges3": ("ok", "", forge(3)),
    "Forges4": ("ok", "", forge(4)),
    "ReadsTasks": ("ok", "", reads_tasks),
    "Listens": ("ok", "", listens),
    "NoPath": ("ok", "", lambda: (os.environ.clear(), sys.path.clear())),
    # Errors of the system, and limits
    "RaisesEnospc": ("error", "twice", failing(errno.ENOSPC)),
    "RaisesEio": ("error", "twice", failing(errno.EIO)),
    "RaisesErofs": ("error", "twice", failing(errno.EROFS)),
    "RaisesEnfile": ("error", "twice", failing(errno.ENFILE)),
    "RaisesEmfile": ("error", "mine", failing(errno.EMFILE)),
    "RaisesEnomem": ("error", "mine", failing(errno.ENOMEM)),
    "RaisesEagain": ("error", "mine", failing(errno.EAGAIN)),
    "RaisesEperm": ("error", "mine", failing(errno.EPERM)),
    "NoMemory": ("error", "Memory", limit(resource.RLIMIT_AS, 1 << 20, lambda: np.ones(1 << 24))),
    "NoFileSize": ("error", "File too large", limit(resource.RLIMIT_FSIZE, 0)),
    "NoSeconds": ("error", "signal", limit(resource.RLIMIT_CPU, 1, spin)),
    "NoCore": ("error", DIES, limit(resource.RLIMIT_CORE, 0, os.abort)),
    # Signals and state
    "Deaf": ("timeout", "6 s", lambda: ([SET(n, SIG) for n in (1, 2, 3, 13, 14, 15, 17)], sleep())),
    "NoChildSignals": ("ok", "", lambda: SET(signal.SIGCHLD, SIG)),
    "Masks": ("ok", "", lambda: signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))),
    "Faults": (
        "error",
        DIES,
        lambda: (faulthandler.enable(), os.kill(os.getpid(), signal.SIGSEGV)),
    ),
    "Seeds": ("ok", "", lambda: (random.seed(0), np.random.seed(0))),  # noqa: NPY002
    "PatchesNumpy": ("error", "", setter(np.random, "default_rng", None)),
    "PatchesOpen": ("ok", "", setter(builtins, "open", None)),
    "PatchesExit": ("error", "", lambda: (setter(os, "_exit", None)(), sys.exit(0))),
    "Ionice": ("ok", "", lambda: os.nice(19)),
    "NoDisk": ("ok", "", lambda: shutil.rmtree(tempfile.mkdtemp())),
}
ALL = {name: said[:2] for name, said in ACTS.items()}
for name, (_, _, act) in ACTS.items():
    body = {"__module__": __name__, "key": name.lower(), "act": staticmethod(act)}
    globals()[name] = type(name, (Fine,), body)
