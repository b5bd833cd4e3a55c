// Command fulmen-rank is Fulmen's MLX worker: the only program that links MLX.
// It does one thing, tells its progress and its result on descriptor 3 as
// daemon/api/worker says, and ends.
//
//	fulmen-rank info       what MLX finds on this machine
//	fulmen-rank gpu        matrix products and memory bandwidth of the device
//	fulmen-rank hello      who is in the group
//	fulmen-rank allreduce  all_sum over the group, by size of message
//	fulmen-rank sendrecv   messages between ranks 0 and 1, by size
//
// Run by hand, without a descriptor 3, it prints the result as JSON. As a rank of
// a job nobody opens that descriptor: -messages stdout has the messages go where
// ranks print.
package main
