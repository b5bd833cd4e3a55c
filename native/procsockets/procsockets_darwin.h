#ifndef FULMEN_PROCSOCKETS_H
#define FULMEN_PROCSOCKETS_H

#include <stddef.h>
#include <stdint.h>

// fulmen_socket is one TCP socket of a process. Addresses are in network order,
// the first four bytes for IPv4; ports are in this machine's.
typedef struct {
	int32_t listens;
	int32_t room; // of a listener, for connections that wait to be accepted; 0 where it is full
	int32_t is_v6;
	int32_t local_port;
	int32_t remote_port;
	uint8_t local[16];
	uint8_t remote[16];
} fulmen_socket;

// fulmen_processes writes the ids of all processes and gives their number, or an
// errno as a negative number. It writes at most max; a number above that says
// that there are more.
int fulmen_processes(int32_t *out, int max);

// fulmen_in_group reports whether a process is in the process group or session
// of that number.
int fulmen_in_group(int32_t pid, int32_t group);

// fulmen_uid gives the effective uid of a process, or -1 where it is gone.
int64_t fulmen_uid(int32_t pid);

// fulmen_program writes the name of what a process runs, cut off to 16 bytes and ended
// by a zero; -1 where it is gone.
int fulmen_program(int32_t pid, char out[17]);

// fulmen_sockets writes the TCP sockets that a process has open, in the same way.
int fulmen_sockets(int32_t pid, fulmen_socket *out, int max);

#endif
