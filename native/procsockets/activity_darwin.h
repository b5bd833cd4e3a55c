#ifndef FULMEN_ACTIVITY_H
#define FULMEN_ACTIVITY_H

#include <stdint.h>

// fulmen_thread is the CPU time of a thread, in nanoseconds.
typedef struct {
	uint64_t id;
	uint64_t user;
	uint64_t system;
} fulmen_thread;

// fulmen_activity is what a process has done besides.
typedef struct {
	int32_t is_stopped; // by a signal
	int32_t is_traced;  // by a debugger
	int32_t waits;      // a thread waits where no signal reaches it, and none runs
	uint64_t file_bytes;
	uint64_t faults;
} fulmen_activity;

// fulmen_threads writes the threads of a process and gives their number, or an errno as
// a negative number. It writes at most max; a number above that says that there are more.
int fulmen_threads(int32_t pid, fulmen_thread *out, int max, fulmen_activity *activity);

// fulmen_interface_bytes adds what the interface has carried that has an address, given
// in network order; 0 where none has.
uint64_t fulmen_interface_bytes(const uint8_t address[16], int is_v6);

#endif
