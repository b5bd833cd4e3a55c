// Package rdma owns what this node changes for RDMA over Thunderbolt: its
// rdma-change documents, the record by which everything can be put back, and the
// audit log. It reads the network's facts and the other end's documents, and publishes
// its own.
//
// A change of a cable is made at both ends or not at all. Whoever asks for it, on
// any member, has its node lead: both ends plan, both apply, a test over the cable
// proves it, both keep it. Each end checks for itself whether it may and whether
// the cable is one that can do RDMA, and carries out the rules of package change,
// which make the two ends agree whatever dies in between. Nothing is changed
// before the record of it is on the disk.
//
// One change at a time is under way at a node; another waits for it, and then says
// on whom it waited. Ends are asked in the order of their ids, so that two changes
// cannot wait for each other.
//
// Locks: Owner.mu alone. Nothing waits under it, and nothing else is called under it.
package rdma
