# What happens to the daemon, and how systemd sees it after each. Called in the namespaces of boot.sh.
fulmen=/opt/fulmen/build/bin/fulmen
show() { systemctl show -p "$1" --value fulmend; }
# awaits PROPERTY VALUE: until it is so, for a minute at most.
awaits() {
	for _ in $(seq 600); do
		case $(show "$1") in "$2"*) return ;; esac
		sleep 0.1
	done
	echo "fulmend has $1=$(show "$1"), not $2"
	exit 1
}
# anew PID: until another process than this one serves.
anew() {
	for _ in $(seq 600); do
		[ "$(show MainPID)" != 0 ] && [ "$(show MainPID)" != "$1" ] && break
		sleep 0.1
	done
	awaits SubState running
	awaits StatusText serves
}
for _ in $(seq 600); do # until systemd is up
	systemctl is-system-running >/dev/null 2>&1 && break
	sleep 0.1
done
set -e
systemctl start fulmend.socket fulmend-api.socket
systemctl start fulmend # returns once it serves
echo "started: $(show SubState), $(show StatusText)"
before=$(show MainPID)
$fulmen restart >/dev/null
anew "$before"
echo "restarted: $(show ActiveState), $(show NRestarts)"
before=$(show MainPID)
systemctl kill -s KILL fulmend
anew "$before"
echo "killed: $(show ActiveState), $(show NRestarts)"
$fulmen stop >/dev/null
awaits ActiveState inactive
echo "stopped: $(show Result)"
echo "said: $($fulmen status 2>&1 | head -n 1 | sed 's/.*: //')"
awaits StatusText stopped
echo "woken: $(show StatusText)"
$fulmen start >/dev/null
awaits StatusText serves
echo "goes on: $(show SubState)"
systemctl stop fulmend 2>/dev/null # which warns that the sockets would start it again
awaits ActiveState inactive
echo "ended: $(show Result)"
mkdir -p /run/units/fulmend.service.d
printf '[Service]\nWatchdogSec=4\n' >/run/units/fulmend.service.d/watchdog.conf
systemctl daemon-reload
systemctl start fulmend
before=$(show MainPID)
kill -STOP "$before"
anew "$before"
echo "hung: $(show ActiveState), $(show NRestarts)"
systemctl stop fulmend.service fulmend.socket fulmend-api.socket 2>/dev/null
