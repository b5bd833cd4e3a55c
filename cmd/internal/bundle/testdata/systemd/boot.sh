# Runs systemd with Fulmen's units alone, as the first process of namespaces of its own; what it writes goes with them.
# Called in new namespaces of mounts, processes, names, IPC, network and control groups: boot.sh UNITS PROGRAMS
set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/systemd /run/lock /run/units /run/above
for folder in /etc /var /opt; do
	mkdir -p "/run/above$folder" "/run/work$folder"
	mount -t overlay overlay -o "lowerdir=$folder,upperdir=/run/above$folder,workdir=/run/work$folder" "$folder"
done
umount -R -l /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mkdir -p /opt/fulmen/build/bin
cp "$2"/* /opt/fulmen/build/bin/
cp "$1"/fulmend* /run/units/
for unit in basic sysinit sockets shutdown network multi-user; do
	printf '[Unit]\nDescription=stands in\nDefaultDependencies=no\n' >"/run/units/$unit.target"
done
export container=lxc SYSTEMD_UNIT_PATH=/run/units
exec /lib/systemd/systemd --system --unit=basic.target --log-target=null
