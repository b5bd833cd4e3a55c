// Package profile owns this node's gpu-profile and link-profile documents: what
// its GPU and the paths to its peers were measured to give, what they gave
// earlier, and why something is not measured now. It reads the graph, the peers'
// documents and who watches what, and publishes those documents.
//
// [Profiler.Run] measures what is due by itself, as function judge says: what
// somebody watches and is old, and what has become another. It takes the grants of
// this node for each measurement, of a path also the peer's, and never more than
// one at once. What people ask for goes the same way; who asks for what is being
// measured joins it. A subject of another node is that node's to measure: it is
// asked to (peer.profile), and its answers are passed on.
//
// A measurement has a watcher for each client; whatever pace they have, each
// sees exactly one end. GPUs are measured by a worker process under supervision,
// paths by the function Probe of the configuration. A simulated Mac's numbers are
// its scenario's.
//
// Package history holds the rules of earlier results, package probe the measurement of a path
// over sockets.
package profile
