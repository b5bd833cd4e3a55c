#!/bin/sh
# Prints, waits for a file, and prints the rest.
echo "waiting $$"
while [ ! -e "$1" ]; do sleep 0.1; done
for n in 1 2 3 4 5 6 7 8; do echo "rest $n of $FULMEN_RANK"; done
