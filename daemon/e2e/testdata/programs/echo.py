"""Says again each line that it reads, with its rank, until its input ends."""

import os
import sys

for line in iter(sys.stdin.readline, ""):
    sys.stdout.write(f"rank {os.environ.get('MLX_RANK', '-')} hears {line}")
    sys.stdout.flush()
