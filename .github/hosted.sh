#!/bin/bash
# What a machine without cables can show of the first hour (docs/macos-checklist.md): the programs run, the daemon starts,
# says what it knows and agrees with its second sources, and a job computes with MLX, on a Mac on its GPU. What is printed is
# kept in a folder, whatever fails.
set -euo pipefail
keep=${1:?usage: hosted.sh FOLDER}
bin=$PWD/build/bin
mkdir -p "$keep"
FULMEN_HOME=$(mktemp -d /tmp/fulmen.XXXXXX) # sockets need a short path
export FULMEN_HOME
daemon=
finish() {
	status=$?
	if [ -n "$daemon" ]; then
		kill "$daemon" 2>/dev/null || true
		wait "$daemon" || true
	fi
	rm -rf "$FULMEN_HOME"
	[ "$status" = 0 ] || tail -n 50 "$keep/fulmend.log" 2>/dev/null || true
	exit "$status"
}
trap finish EXIT

"$bin/fulmen" version | tee "$keep/version.txt"
"$bin/fulmend" run -version
"$bin/fulmen-rank" info >"$keep/rank.txt" 3>&1
"$bin/fulmend" run >"$keep/fulmend.log" 2>&1 &
daemon=$!
for _ in $(seq 120); do
	"$bin/fulmen" status >/dev/null 2>&1 && break
	kill -0 "$daemon"
	sleep 0.5
done
"$bin/fulmen" status | tee "$keep/status.txt"
"$bin/fulmen" doctor >"$keep/doctor.txt" || echo "fulmen doctor finds something, which is no failure here:"
cat "$keep/doctor.txt"
"$bin/fulmen" nodes --json >"$keep/nodes.json"
# The job first: MLX has to be known, and the GPU to be told of.
"$bin/fulmen" run -n 1 --deadline-placing 3m --env "PYTHONPATH=$PWD/build/mlx/current" -- "$PWD/build/tools/bin/python3" -c '
import platform, sys
import mlx.core as mx
a = mx.random.normal((512, 512))
print("computed on", mx.default_device(), mx.all((a @ a).shape == (512, 512) and mx.isfinite(a @ a)).item())
if platform.system() == "Darwin" and mx.default_device().type != mx.DeviceType.gpu:
    sys.exit("not on the GPU")
' | tee "$keep/job.txt"
grep -q 'computed on .* True' "$keep/job.txt"
"$bin/fulmen" report --out "$keep/report.txt"
"$bin/fulmen" doctor --hardware >"$keep/hardware.txt" || { cat "$keep/hardware.txt"; exit 1; }
tail -n 1 "$keep/hardware.txt"
