// Package trips follows what only a person can do for RDMA: the trips to Macs whose
// switch is off, which no document holds, and the requests that wait for them. Both
// outlive the daemon, which may run on the Mac that is visited.
package trips
