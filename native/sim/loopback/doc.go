// Package loopback carries the connections of a simulated Mac as TCP on the
// loopback interface of this machine, behind [native.Sockets]. Addresses,
// interfaces and ports are simulated ones; an [Exchange], which knows the cluster,
// says who answers where, and when the path of a connection goes and comes.
//
// Both ends connect directly. What was sent while the path is away waits in the
// kernel and at the receiving end, as it would on its way; speed and latency are
// those of loopback. Nothing here leaves the machine.
//
// Sockets owns the listeners and connections of one Mac until it is closed. It reads
// nothing of the cluster but what the Exchange answers.
package loopback
