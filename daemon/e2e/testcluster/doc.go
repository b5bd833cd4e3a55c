// Package testcluster runs a cluster on one machine for tests and benchmarks of jobs:
// real daemons in processes of their own, each on a simulated Mac of one shared
// world, paired with each other. They may run as another account than the one
// that tests them, since jobs never run as root.
package testcluster
