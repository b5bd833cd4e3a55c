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
//     driver, the speed, the Thunderbolt socket behind it).
//   - thunderbolt: /sys/bus/thunderbolt/devices.
//   - rdma: /sys/class/infiniband.
//
// Hints come from rtnetlink's multicast groups, from the kernel's uevents, from
// a PSI trigger, from the host name's file in /proc, which can be polled, and
// from inotify. A watch is a few goroutines that wait until the kernel speaks: it
// costs nothing while nothing happens. No process is started and no ticker runs.
//
// # Uevents
//
// The netlink group of the kernel's own events (NETLINK_KOBJECT_UEVENT, group 1)
// is believed when the sender is number 0; udevd and whoever may send to it are
// not. A device of subsystem thunderbolt is about thunderbolt, one of infiniband
// about rdma, and a network interface below a Thunderbolt service about network
// and thunderbolt; of other interfaces rtnetlink speaks. The kernel sends these
// events to network namespaces of the initial user namespace only, so that in a
// rootless container the source refuses, and the capability says why.
//
// # Thunderbolt
//
// A domain is one controller, with its own router "D-0" and one or more sockets.
// Routers are "D-ROUTE", other computers too (the kernel calls them XDomains),
// and a computer's services are "D-ROUTE.N".
//
//   - Receptacles have no number on Linux. They are counted from 1: controllers
//     by the path of their PCI device, sockets of one by their adapter. The
//     number is the same after every start, as long as no controller is added. A
//     controller before USB4 shows no sockets; those in use are listed, and it
//     counts as two.
//   - The domain UUID is the unique_id of the host's router: by it the kernel
//     answers other computers. All sockets of a controller have the same one. A
//     peer's is the unique_id of the XDomain. Both are written in small letters.
//   - Speeds are per lane, and lanes are counted each way. A router's are those
//     of its upstream adapter, so that its rx leads away from this machine; an
//     XDomain's are those of the near end.
//   - The capability is tb3 for generation 3 and tb4 for USB4 1.0. For USB4 2.0
//     it is tb5 when a link runs at 40 Gb/s a lane; otherwise it is not known,
//     for the kernel does not tell what the lanes support.
//   - The interface is the one below a peer's service, and there only while the
//     peer is. With several peers behind a hub each has its own; the interfaces
//     themselves name the receptacle.
//   - A socket is empty when nothing hangs on it and its port has no link. With
//     a link and nobody there the handshake goes on, and the state is not known
//     yet.
//   - The place is that of the USB-C connector, where the firmware describes it.
//
// The kernel announces what is plugged, pulled, renamed or authorised, and, when
// it manages connections itself, every change of a link; a controller whose
// firmware manages them (most before USB4) announces no retraining.
//
// # RDMA
//
// Devices are of any kind: on InfiniBand, on Ethernet (RoCE), or in software.
// Only the first port is told, the one that JACCL opens, and files are read:
// no device is ever opened. The interface is the one that owns the first GID.
// GIDs of zeros are empty entries. An entry's type (RoCE v1 or v2) is not told:
// two entries of one address differ by it. Linux has no switch for RDMA, and
// tells the active MTU only to who opens the device.
//
// A device that comes or goes is announced by a uevent. One on Ethernet has the
// state of its interface and GIDs of its addresses, so rtnetlink's events are
// hints for it too. It follows them a moment later, which the second reading
// after the last hint sees. A change of a port on InfiniBand itself is not
// announced: with such a device the capability is a no.
//
// # Changes
//
// Linux has no network services. What stands for one is an address with a label
// that only Fulmen gives ("thunderbolt0:f2" for "Fulmen Thunderbolt 2"): one message
// makes it, one takes it away, and it is gone with the interface. Bridges are changed
// in the kernel alone. Only interfaces that are named are touched, and they need
// CAP_NET_ADMIN. No cable of a Linux machine is one that RDMA is enabled on; that the
// transaction is tried against a real kernel is what these are for.
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
package linux
