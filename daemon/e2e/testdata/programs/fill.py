"""fill.py FILE [LIMIT]: writes until no more can be written, then says why and ends with status 28. LIMIT is the most
bytes that the system lets it write, where the disk is not to be filled."""

import errno
import os
import resource
import signal
import sys

if len(sys.argv) > 2:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
block = b"\0" * (1 << 16)
written = 0
out = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
try:
    while True:
        written += os.write(out, block)
except OSError as problem:
    print(f"full after {written}: {errno.errorcode[problem.errno]}", flush=True)
    os._exit(28)
