"""flood.py BYTES: prints so many bytes, numbered lines of 100, as fast as it can."""

import sys

left = int(sys.argv[1])
out = sys.stdout.buffer
number = 0
while left > 0:
    block = b"".join(b"%099d\n" % n for n in range(number, number + 10000))[:left]
    out.write(block)
    left -= len(block)
    number += 10000
out.flush()
