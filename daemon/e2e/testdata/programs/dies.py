"""dies.py RANK STATUS: that rank ends with the status, or by the signal where it is negative, while the others add up
for ever.

MLX tells them within a millisecond that a peer is gone. They end some seconds after it, so that nobody who hears of both
ends, by different ways, hears of theirs first.
"""

import os
import sys
import time

import mlx.core as mx

mortal, status = int(sys.argv[1]), int(sys.argv[2])
group = mx.distributed.init(backend="ring", strict=True)
mx.eval(mx.distributed.all_sum(mx.ones(1), group=group))
if group.rank() == mortal:
    print(f"rank {mortal} ends", flush=True)
    if status < 0:
        os.kill(os.getpid(), -status)
    os._exit(status)
try:
    while True:
        mx.eval(mx.distributed.all_sum(mx.ones(1), group=group))
except RuntimeError:
    time.sleep(4)
    raise
