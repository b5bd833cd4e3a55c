#!/bin/sh
# launch.sh HOSTFILE RANKS COMMAND...: starts the ranks of a ring on this machine and waits for them, and does nothing
# else. What a launcher adds to a job's time is measured against it. It ends with the first rank's status that is not 0.
export MLX_HOSTFILE="$1"
ranks=$2
shift 2
rank=0
pids=
while [ "$rank" -lt "$ranks" ]; do
	MLX_RANK=$rank "$@" &
	pids="$pids $!"
	rank=$((rank + 1))
done
status=0
for pid in $pids; do
	wait "$pid" || { ended=$?; [ "$status" -ne 0 ] || status=$ended; }
done
exit "$status"
