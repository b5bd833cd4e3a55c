"""Prints a question without an end of line, reads the answer, and ends without one too."""

import os
import sys

sys.stdout.write("your name? ")
sys.stdout.flush()
name = sys.stdin.readline().rstrip("\n")
sys.stdout.write(f"rank {os.environ.get('MLX_RANK', '-')} greets {name or 'nobody'}")
sys.stdout.flush()
