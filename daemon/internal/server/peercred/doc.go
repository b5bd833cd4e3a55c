// Package peercred asks the kernel as which user the process at the other end
// of a Unix socket connected. The answer is that of the moment of connecting:
// a process cannot change it, nor pass it on except with the open connection.
package peercred
