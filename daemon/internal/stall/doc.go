// Package stall decides whether the ranks of a group get on, from what their nodes see of them
// without their help. It has no clock and no I/O: [Meter] is what a node makes of the readings
// of a rank of its own, and [Judge] what the job's home makes of what the nodes say.
//
// A rank that waits in a collective of MLX's ring has a thread that asks its socket without
// a pause, so half of its time is the kernel's; one over RDMA polls memory, which looks like any
// computing. So CPU alone is no progress, and of a group over RDMA only stacks can tell.
package stall
