// Package linux is the Linux platform: real facts of the machine it runs on, and
// hints from the kernel when they may have changed.
//
// What it reads, and where:
//
//   - identity: /etc/os-release, /etc/machine-info, /etc/machine-id, DMI or the
//     device tree, /proc/cpuinfo and the topology of the cores in sysfs.
//   - memory: /proc/meminfo, zram's own numbers, the limit of the container, and
//     pressure-stall information (PSI).
//   - system: /proc/stat, hwmon, RAPL and power_supply. Rates are made of two
//     readings; nothing is sampled between them.
//   - network: rtnetlink dumps, and from sysfs what rtnetlink does not say (the
//     driver, the speed).
//
// Hints come from rtnetlink's multicast groups, from a PSI trigger, from the
// host name's file in /proc, which can be polled, and from inotify. One watch is
// one goroutine, blocked in poll(2) until the kernel speaks: it costs nothing
// while nothing happens. No process is started and no ticker runs.
//
// # Pressure
//
// [native.PressureWarning] is when some task waited for memory during 15 % of
// the time, [native.PressureCritical] when all of them did during 10 %: either
// over the last 10 s as the kernel averages them, or, while somebody watches,
// over any one second in the last 10. The kernel announces a beginning and no
// end, so each announcement arms one timer, by which a reader is told to look
// again when those 10 s are over.
//
// # Containers
//
// A limit at the top of the control groups that this process can see is the
// container's own: total, used, available and pressure are then those of the
// container. The limit of a group below it is not, because ranks run in others.
//
// Thunderbolt and RDMA are absent with a reason.
package linux
