// Package user actions owns two lists of what only a person can do for RDMA: the user actions at Macs
// whose switch is off, which no document holds, and the requests that wait for them. It
// reads the graph's cables and their readiness, and publishes nothing. Both lists outlive
// the daemon, which may run on the Mac that is visited.
package useractions
