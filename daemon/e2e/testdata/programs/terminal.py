"""On a terminal: says its size, what was typed, and each Ctrl-C; ends with 7 at the end of its input."""

import os
import select
import signal
import sys


def say(*words):
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def size(*_):
    columns, lines = os.get_terminal_size()
    say("size", lines, columns, sys.stdin.isatty(), sys.stdout.isatty())


signal.signal(signal.SIGWINCH, size)
signal.signal(signal.SIGINT, lambda *_: say("interrupted"))
size()
# A signal that comes just before a read would be heard after it.
woken, wakes = os.pipe()
os.set_blocking(wakes, False)
signal.set_wakeup_fd(wakes)
while True:
    ready, _, _ = select.select([sys.stdin, woken], [], [])
    if woken in ready:
        os.read(woken, 64)
    elif line := sys.stdin.readline():
        say("typed", line.strip())
    else:
        sys.exit(7)
