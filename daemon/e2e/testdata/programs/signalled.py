"""signalled.py FOLDER RANK: that rank waits for SIGUSR1, notes the time and ends with status 1. The others wait for
SIGTERM, note the time, and end. Times are nanoseconds of the system's clock, in FOLDER/N.RANK."""

import os
import signal
import sys
import time

folder, mortal = sys.argv[1], int(sys.argv[2])
rank = int(os.environ["MLX_RANK"])

wanted = {signal.SIGUSR1 if rank == mortal else signal.SIGTERM}
# A signal that comes just before a pause would be missed.
signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
print("ready", flush=True)
signal.sigwait(wanted)
now = time.time_ns()
with open(os.path.join(folder, f"n.{rank}"), "w") as out:
    out.write(str(now))
os._exit(1 if rank == mortal else 0)
