// Package darwin is the macOS platform. It owns the C files that ask IOKit,
// SystemConfiguration, power management, the RDMA library and the system's DNS-SD
// responder, and the Go above them.
//
// C reads and Go decides. A C file hands Go bytes (buffer.h), which decode makes
// values of; what they mean is portable Go, tested everywhere, on recorded values
// (Recording) too. Facts are read when they are asked for. What may have changed is
// announced by the system on one thread that runs a CFRunLoop (watch.h), memory
// pressure and what changes in folders (folders.h) on dispatch queues; a slow re-read
// finds what no event announced. Power and heat are sampled only while somebody reads
// them.
//
// On Linux the same C files run over the simulated frameworks of the folder simfw,
// with the tag darwinsim; apple holds our own declarations of Apple's functions,
// for that and for compiling the C files for macOS elsewhere. An ordinary build on
// Linux has none of it.
//
// Units are supervised by launchd, through launchctl: their property lists and
// what launchd knows of them are here, the shim that each of them runs is not.
package darwin
