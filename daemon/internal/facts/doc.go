// Package facts owns the documents about this machine: identity, memory,
// system, network, and one thunderbolt and one rdma document a receptacle. It
// reads them from the platform and publishes them; it reads no documents.
//
// An area that falls silent keeps its documents, so that nothing flickers; each
// then says why under the name of its kind in its unknown fields. Documents of
// receptacles that are gone are deleted.
//
// An event of the platform is a hint. At the first one the area is read at
// once, and once more [Settle] after the last, so that a flapping cable costs
// two reads and the final state is never missed. Memory and system move by
// themselves only while somebody watches them; memory also when the system
// reports pressure.
package facts
