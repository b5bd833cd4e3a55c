// Package darwin is the macOS platform.
//
// So far it tells what the kernel's sysctl and Go's own view of the interfaces
// know: identity, memory in part, interfaces with their addresses. There are no
// hints: facts move when they are read. Thunderbolt, RDMA, metrics, services
// and events come from IOKit and SystemConfiguration, through C of our own, and
// are absent with a reason until that is here.
//
// Units are supervised by launchd, through launchctl: their property lists and
// what launchd knows of them are here, the shim that each of them runs is not.
//
// What decides is portable and tested everywhere on recorded values; only
// new_darwin.go and supervisor_darwin.go ask the system.
package darwin
