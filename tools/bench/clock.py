"""One run on the clock: its seconds, the most memory until its end, and what came out."""
import gc
import importlib
import importlib.util
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Run:
    "What one run of a contestant gave."
    seconds: float
    memory: int                # bytes: the most that the process has had
    result: Any = None         # must be equal within a row; None is not compared
    cpu: float | None = None   # seconds on all cores


def peak_memory():
    "The most memory that this process has had, in bytes; 0 where it can't be known."
    status = Path("/proc/self/status")   # getrusage would count the parent's memory too
    if status.exists():
        peak = next(x for x in status.read_text().splitlines() if x.startswith("VmHWM"))
        return int(peak.split()[1]) * 1024
    try:
        import resource
    except ImportError:
        return 0
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def load(*names):
    "Import libraries before the clock starts: a program does so once in its life."
    for name in names:
        if importlib.util.find_spec(name.partition(".")[0]): importlib.import_module(name)


def moment():
    "Now, by the clock on the wall and by the processor's."
    return time.perf_counter(), time.process_time()


def clocked(function, times=1, since=None, until=None):
    """The best of some calls; what is older is hidden from the garbage collector.

    Moments that it notes in the lists `since` and `until` are where the clock starts and stops.
    """
    gc.collect()
    gc.freeze()
    found = []
    for _ in range(times):
        result = None   # else two results would share the memory
        start = moment()
        result = function()
        stop = moment()
        found.append([b - a for a, b in zip(since[-1] if since else start,
                                            until[-1] if until else stop)])
    seconds, cpu = map(min, zip(*found))
    return Run(seconds, peak_memory(), result, cpu)
