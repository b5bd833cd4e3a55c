// Package darwin is the macOS platform.
//
// So far it tells what the kernel's sysctl and Go's own view of the interfaces
// know: identity, memory in part, interfaces with their addresses. There are no
// hints: facts move when they are read. Thunderbolt, RDMA, metrics, services
// and events come from IOKit and SystemConfiguration, through C of our own, and
// are absent with a reason until that is here.
//
// What decides is portable and tested everywhere on recorded values; only
// new_darwin.go asks the kernel.
package darwin
