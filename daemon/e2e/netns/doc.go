// Package netns makes machines that share a processor and no network: network
// namespaces with a host name each, and bridges that join some of them and can be
// cut. Tests and benchmarks of clusters run daemons there. It needs Linux, and
// root.
package netns
