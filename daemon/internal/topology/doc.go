// Package topology makes the cluster's graph from the documents of its nodes:
// cables by Thunderbolt domain UUIDs, paths over sockets by addresses that
// verifiably belong to a node, rows for tables, loops of bridged cables, and
// the forms that other tools read. It holds rules only. It does no I/O, takes
// no clock, and gives the same bytes for the same documents in any order, so
// that every node derives the same graph; nothing of it is ever stored.
package topology
