#!/bin/sh
# counts.sh LINES [STATUS RANK]: prints so many lines, 20 a second, and ends with 0, or the one rank with the status.
attempt=${FULMEN_SHIM%/*}
n=0
while [ $n -lt "$1" ]; do
	echo "count $n of rank $FULMEN_RANK at ${attempt##*/}"
	n=$((n + 1))
	sleep 0.05
done
[ "$FULMEN_RANK" = "$3" ] && exit "$2"
exit 0
