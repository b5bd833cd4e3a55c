// Package procsockets tells which processes hold the TCP sockets of this machine:
// on Linux from the kernel's table of sockets and the descriptors of processes, on
// macOS from libproc. It reads and connects to nothing.
//
// Whoever asks must be root or the account of the processes that are asked about:
// of the sockets of others neither system tells whose they are.
package procsockets
