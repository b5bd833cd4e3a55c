"""Adds up with the other ranks again and again, touches its heartbeat each time, and leaves them waiting after as many rounds as it is given."""

import os
import pathlib
import sys
import time

import mlx.core as mx

group = mx.distributed.init(backend="ring", strict=True)
rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 0
done = 0
while True:
    mx.eval(mx.distributed.all_sum(mx.ones(1 << 14), group=group))
    if done == 0:
        print("joined", flush=True)
    if beat := os.environ.get("FULMEN_HEARTBEAT"):
        pathlib.Path(beat).touch()
    done += 1
    if done == rounds and group.rank() == 1:
        time.sleep(10000)
    time.sleep(0.02)
