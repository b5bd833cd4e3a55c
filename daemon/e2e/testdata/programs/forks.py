"""Forks a child, a grandchild, and one that leaves the process group, and waits for ever. The argument is how the
program itself ends: wait (never), or leave (at once, with status 0)."""

import os
import signal
import sys


def linger():
    while True:
        signal.pause()


report, write = os.pipe()


def say():
    os.write(write, f"{os.getpid()}\n".encode())


if os.fork() == 0:
    if os.fork() == 0:
        say()
        linger()
    say()
    linger()
if os.fork() == 0:
    os.setsid()
    say()
    linger()
pids = []
lines = os.fdopen(report)
while len(pids) < 3:
    pids.append(lines.readline().strip())
print("forked", *pids, flush=True)
if sys.argv[1] == "wait":
    linger()
os._exit(0)
