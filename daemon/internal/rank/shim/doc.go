// Package shim is the program of a shim (`fulmen-shim shim`):
// the process that the system's supervisor runs in place of a rank, and that
// holds the rank.
//
// It reads spec.json, listens on its Unix socket, starts the program in a
// session and process group of its own as the account of the spec, keeps its
// output in capped files, and writes exit.json when all is over. What it says
// over the socket is in package shimproto; how the rank's standard input
// arrives is told at [InputSocket], how its output is read again at [OpenLog].
//
// # Who ends whom
//
// The rank ends when its program does: what the program leaves behind in its
// group is killed at once. It is ended (SIGTERM to the group, the grace,
// SIGKILL) by a stop, by a SIGTERM to the shim, and by a lease that nobody
// renewed; the lease runs on a clock that counts sleep. During the grace the
// whole group has the time, not the program alone. As soon as the program has
// ended the daemon gets a status with the phase ending, before the record is on
// the disk, so that the other ranks need not wait for it.
//
// A killed shim takes its rank along: before the program starts, a tiny guard (a
// shell that waits on a pipe of the shim) is there, which kills the group when
// the pipe ends without a word, and then, on Linux, whatever bears the mark of
// the rank in its environment. On Linux the system also kills the program itself
// (PR_SET_PDEATHSIG), and the shim is a subreaper, so that what leaves the group
// stays below it and is killed with the rest at an ordinary end. Under a shim
// that was itself killed, only a process outlives it that has left the group and
// put off its environment; on macOS, any that has left the group.
//
// A full disk ends nothing: what cannot be kept of the output is dropped and
// counted, and room for exit.json is set aside at the start.
package shim
