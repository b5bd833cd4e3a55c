"""On a terminal: says its size, what was typed, and each Ctrl-C; ends with 7 at the end of its input."""

import os
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
for line in iter(sys.stdin.readline, ""):
    say("typed", line.strip())
sys.exit(7)
