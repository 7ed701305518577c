"""Cells that misbehave: at epsilon 2 each class of `ALL` does what its function does."""

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
# What the row of epsilon 2 says: by name of the class, its status, and words of its message.
ALL = {}


class Fine(AdditiveMechanism):
    """sigma = 1 / epsilon, after something else at epsilon 2."""

    key, title, paper, theorem, guarantee = "fine", "Fine", "test", "none", "approximate"

    @classmethod
    def act(cls):
        """Nothing."""

    @classmethod
    def noise_for(cls, query, budget):
        if budget.epsilon == 2:
            cls.act()
        return IndependentGaussian(shape=query.shape, sigma=1 / budget.epsilon)


def bad(name, status, words, act):
    """Add a class that calls `act`."""
    body = {"__module__": __name__, "key": name.lower(), "act": staticmethod(act)}
    globals()[name] = type(name, (Fine,), body)
    ALL[name] = status, words


def raising(error):
    def act():
        raise error

    return act


def in_fork(act, waits=0.0):
    """Do something in a child that never comes back."""

    def forks():
        if os.fork() == 0:
            act()
            time.sleep(FOREVER)
        time.sleep(waits)

    return forks


def sleep():
    time.sleep(FOREVER)


def in_daemon(act):
    """Do something in a daemon: two forks and a session of its own."""

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

# Processes
bad("Forks", "ok", "", in_fork(sleep))
bad("ForksAndReturns", "ok", "", forks_and_returns)
bad("ForkSpins", "ok", "", in_fork(spin))
bad("ForkIgnoresTerm", "ok", "", in_fork(lambda: SET(signal.SIGTERM, SIG)))
bad("Session", "ok", "", lambda: subprocess.Popen(["sleep", "4242"], start_new_session=True))
bad("NoHangup", "ok", "", lambda: subprocess.Popen("nohup setsid sleep 4242 &", shell=True))
bad("EmptyEnvironment", "ok", "", lambda: subprocess.Popen(["/bin/sleep", "4242"], env={}))
bad("Daemon", "ok", "", in_daemon(sleep))
bad("DaemonOfDaemon", "ok", "", in_daemon(in_daemon(sleep)))
bad("DaemonSpams", "ok", "", in_daemon(lambda: [os.write(1, b"x" * 4096) for _ in iter(int, 1)]))
bad("DaemonEats", "error", "exceeded the memory limit", lambda: (in_daemon(eat)(), sleep()))
bad("SomeForks", "ok", "", lambda: [in_fork(sleep)() for _ in range(4)])
bad("StoppedFork", "ok", "", in_fork(lambda: os.kill(os.getpid(), signal.SIGSTOP)))
bad("StopsItself", "timeout", "limit of 6 s", lambda: os.kill(os.getpid(), signal.SIGSTOP))
bad("StopsItsParent", "timeout", "6 s", lambda: (os.kill(os.getppid(), signal.SIGSTOP), sleep()))
bad("JoinsItsParent", "timeout", "limit of 6 s", joins_its_parent)
bad("KillsItsParent", "error", "twice", lambda: (os.kill(os.getppid(), 9), sleep()))
bad("KillsItself", "error", "twice", lambda: os.kill(os.getpid(), 9))
bad("TerminatesItself", "error", "twice", lambda: os.kill(os.getpid(), signal.SIGTERM))
bad("KillsItsGroup", "error", "twice", lambda: os.killpg(0, 9))
bad("Aborts", "error", DIES, os.abort)
bad("Segfault", "error", DIES, lambda: ctypes.string_at(0))
bad("Alarm", "error", DIES, lambda: (signal.alarm(1), sleep()))
# Ends
bad("Exit0", "error", "ended with status 0", lambda: os._exit(0))
bad("Exit75", "error", "ended with status 75", lambda: os._exit(75))
bad("SysExit", "error", "ended with status 1", lambda: sys.exit("bye"))
bad("ThreadExits", "error", "status 3", lambda: (in_threads(1, lambda: os._exit(3))(), sleep()))
bad("AtExit", "ok", "", lambda: atexit.register(sleep))
bad("Interrupt", "error", "KeyboardInterrupt", raising(KeyboardInterrupt()))
bad("GeneratorEnds", "error", "GeneratorExit", raising(GeneratorExit()))
bad("Stops", "error", "StopIteration", raising(StopIteration()))
bad("Memory", "error", "MemoryError", raising(MemoryError("mine")))
bad("Recursion", "error", "RecursionError", recursion)
# Time and memory
bad("Hangs", "timeout", "limit of 6 s", sleep)
bad("Spins", "timeout", "limit of 6 s", spin)
bad("Eats", "error", "exceeded the memory limit", eat)
bad("Threads", "ok", "", in_threads(100, sleep))
bad("DaemonThreads", "ok", "", in_threads(100, sleep, daemon=True))
bad("NoCollector", "ok", "", lambda: (gc.disable(), gc.freeze()))
# Words
bad("Surrogate", "error", "ValueError: bad \\udcff", raising(ValueError("bad \udcff text")))
bad("Nul", "error", "a\\x00b", raising(ValueError("a\0b\r\n\x1b[31m \u202e <script>")))
bad("Huge", "error", " [...] ", raising(ValueError("y" * 20_000_000)))
bad("HugeUnsupported", "unsupported", " [...] ", raising(Unsupported("y" * 20_000_000)))
bad("HugeInconsistent", "inconsistent", " [...] ", raising(Inconsistent("\udc80" * 9_000)))
bad("HugeWarning", "ok", " [...] ", warn("\ud800" * 20_000))
bad("NoText", "error", "cannot be read", raising(Odd()))
bad("NumberAsText", "error", "cannot be read", raising(Other()))
bad("WarnsAsErrors", "error", "OutOfRangeWarning", lambda: (
    warnings.simplefilter("error"), warn("w")()))  # fmt: skip
# Output
bad("SpamsOut", "ok", "", spam(1))
bad("SpamsErr", "ok", "", spam(2))
bad("SpamsBytes", "ok", "", lambda: os.write(2, bytes(range(256)) * 40_000))
bad("SpamsOfAChild", "ok", "", lambda: subprocess.run("yes | head -c 90000000", shell=True))
bad("Prints", "ok", "", lambda: print("z" * 5_000_000, "\ud800".encode("utf-8", "replace")))
# Files
bad("LeaksFiles", "error", "Too many open files", leak(DEV_NULL))
bad("LeaksPipes", "error", "Too many open files", leak(os.pipe))
bad("LeaksSockets", "error", "Too many open files", leak(socket.socket))
bad("LowersFiles", "error", "Too many open", limit(resource.RLIMIT_NOFILE, 3, DEV_NULL))
bad("ClosesFiles", "ok", "", every_file(os.close))
bad("ClosesAllFiles", "error", "", lambda: os.closerange(0, 10_000))
bad("ClosesStreams", "ok", "", closes_streams)
bad("ClosesDescriptors", "ok", "", lambda: os.closerange(0, 3))
bad("NoStreams", "ok", "", lambda: (setter(sys, "stdout", None)(), setter(sys, "stderr", None)()))
bad("Chdir", "ok", "", lambda: os.chdir("/"))
bad("ChdirGone", "ok", "", moved)
bad("Umask", "ok", "", lambda: os.umask(0o777))
bad("NoTemporary", "ok", "", setter(tempfile, "tempdir", "/none"))
for place, line in enumerate(LINES):
    bad(f"Forges{place}", "ok", "", every_file(lambda number, line=line: os.write(number, line)))
bad("ReadsTasks", "ok", "", reads_tasks)
bad("Listens", "ok", "", listens)
bad("NoPath", "ok", "", lambda: (os.environ.clear(), sys.path.clear()))
# Errors of the system, and limits
for code in ("ENOSPC", "EIO", "EROFS", "ENFILE"):
    error = OSError(getattr(errno, code), "mine")
    bad(f"Raises{code.capitalize()}", "error", "twice", raising(error))
for code in ("EMFILE", "ENOMEM", "EAGAIN", "EPERM"):
    error = OSError(getattr(errno, code), "mine")
    bad(f"Raises{code.capitalize()}", "error", "mine", raising(error))
bad("NoMemory", "error", "Memory", limit(resource.RLIMIT_AS, 1 << 20, lambda: np.ones(1 << 24)))
bad("NoFileSize", "error", "File too large", limit(resource.RLIMIT_FSIZE, 0))
bad("NoSeconds", "error", "signal", limit(resource.RLIMIT_CPU, 1, spin))
bad("NoCore", "error", DIES, limit(resource.RLIMIT_CORE, 0, os.abort))
# Signals and state
bad("Deaf", "timeout", "6 s", lambda: ([SET(n, SIG) for n in (1, 2, 3, 13, 14, 15, 17)], sleep()))
bad("NoChildSignals", "ok", "", lambda: SET(signal.SIGCHLD, SIG))
bad("Masks", "ok", "", lambda: signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32)))
bad("Faults", "error", DIES, lambda: (faulthandler.enable(), os.kill(os.getpid(), signal.SIGSEGV)))
bad("Seeds", "ok", "", lambda: (random.seed(0), np.random.seed(0)))  # noqa: NPY002
bad("PatchesNumpy", "error", "", setter(np.random, "default_rng", None))
bad("PatchesOpen", "ok", "", setter(builtins, "open", None))
bad("PatchesExit", "error", "", lambda: (setter(os, "_exit", None)(), sys.exit(0)))
bad("Ionice", "ok", "", lambda: os.nice(19))
bad("NoDisk", "ok", "", lambda: shutil.rmtree(tempfile.mkdtemp()))
