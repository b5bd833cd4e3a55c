// Hearing what the system announces, on one thread that runs a CFRunLoop.
//
// Whoever wants to hear makes a watch and gives it a thread, on which
// fulmen_watch_run stays until fulmen_watch_stop. Everything is armed when the
// event "armed" of FULMEN_WATCH has come, and nothing comes once run has returned.
#ifndef FULMEN_DARWIN_WATCH_H
#define FULMEN_DARWIN_WATCH_H

#include <stdint.h>

#include "result.h"

// Who speaks. Each is armed by itself: one that cannot be leaves the others.
enum {
	FULMEN_WATCH,
	FULMEN_IOKIT,
	FULMEN_STORE,
	FULMEN_PREFERENCES,
	FULMEN_POWER,
	FULMEN_POWER_SOURCE,
	FULMEN_PRESSURE,
	FULMEN_SOURCES, // how many there are
};

typedef struct fulmen_watch fulmen_watch;

// fulmen_watch_new makes a watch whose events carry the handle; NULL without memory.
fulmen_watch *fulmen_watch_new(uintptr_t handle);
void fulmen_watch_run(fulmen_watch *w);
// fulmen_watch_stop may be called by any thread, after "armed" and before run has
// returned.
void fulmen_watch_stop(fulmen_watch *w);
void fulmen_watch_free(fulmen_watch *w);

// fulmen_watch_armed is 0, or why the source is silent.
int fulmen_watch_armed(const fulmen_watch *w, int source);

// fulmen_watch_allow lets the system go on to sleep. Any thread may call it while
// run runs.
int fulmen_watch_allow(fulmen_watch *w, intptr_t notice);

// fulmenAnnounce is Go's. It is called on the watch's thread, for memory pressure on
// another; it returns at once. The texts are the caller's. What id and detail
// mean is the event's: a registry id and a message, or the notice to allow.
extern void fulmenAnnounce(uintptr_t handle, int source, char *event, char *subject, int64_t id, int64_t detail);

#endif
