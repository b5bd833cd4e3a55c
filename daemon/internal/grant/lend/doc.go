// Package lend is the arbiter of package grant at work on a node: it reads what the
// arbiter decides by, answers the homes of jobs, and puts measurements in line, of this
// node and of others. Work goes first: a measurement ends when a job waits for what it
// holds, but for a test over RDMA, which ends in seconds.
package lend
