// Package placement decides on which nodes a job's ranks run and over what
// they talk, and says why not where there is no place. It holds rules only: it
// does no I/O, takes no clock and draws nothing by lot, and it gives the same
// plan for the same state in any order, so that every node plans alike.
//
// Backends are tried in a fixed order (see tiersOf). Within one, the fewest
// nodes win, then the fastest slowest link in classes of 10 %, then the fastest
// slowest GPU, then the most free memory on the node that has least, then the
// lower node ids. Up to [api.MaxExactNodes] nodes that qualify this is exact;
// above, a plan is valid and not proven best.
//
// It reads what a caller gives it and publishes nothing.
package placement
