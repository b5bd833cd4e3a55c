"""dies.py RANK STATUS: that rank ends with the status, or by the signal where it is negative, while the others add up
for ever."""

import os
import sys

import mlx.core as mx

mortal, status = int(sys.argv[1]), int(sys.argv[2])
group = mx.distributed.init(backend="ring", strict=True)
mx.eval(mx.distributed.all_sum(mx.ones(1), group=group))
if group.rank() == mortal:
    print(f"rank {mortal} ends", flush=True)
    if status < 0:
        os.kill(os.getpid(), -status)
    os._exit(status)
while True:
    mx.eval(mx.distributed.all_sum(mx.ones(1), group=group))
