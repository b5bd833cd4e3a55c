//go:build cgo && (darwin || darwinsim)

#include "watch.h"

#include <CoreFoundation/CoreFoundation.h>
#include <stdlib.h>

#include "value.h"
#include "watchparts.h"

struct fulmen_watch {
	uintptr_t handle;
	// The thread's loop and the source that ends it. Both are kept until the watch
	// is freed, because whoever stops it still touches them when run has returned.
	CFRunLoopRef loop;
	CFRunLoopSourceRef end;
	fulmen_iokit_part *iokit;
	fulmen_store_part *store;
	fulmen_store_part *preferences;
	fulmen_power_part *power;
	CFRunLoopSourceRef power_source;
	fulmen_pressure_part *pressure;
	int armed[FULMEN_SOURCES];
};

fulmen_watch *fulmen_watch_new(uintptr_t handle) {
	fulmen_watch *w = calloc(1, sizeof *w);
	if (w != NULL) {
		w->handle = handle;
	}
	return w;
}

void fulmen_watch_free(fulmen_watch *w) {
	fulmen_release(w->end);
	fulmen_release(w->loop);
	free(w);
}

int fulmen_watch_armed(const fulmen_watch *w, int source) {
	return source < 0 || source >= FULMEN_SOURCES ? FULMEN_GONE : w->armed[source];
}

// end_now runs on the loop's thread when the end was signalled.
static void end_now(void *info) {
	fulmen_watch *w = info;
	CFRunLoopStop(w->loop);
}

static void arm(fulmen_watch *w) {
	w->armed[FULMEN_IOKIT] = fulmen_iokit_arm(w->handle, &w->iokit);
	w->armed[FULMEN_STORE] = fulmen_store_arm(w->handle, &w->store);
	w->armed[FULMEN_PREFERENCES] = fulmen_preferences_arm(w->handle, &w->preferences);
	w->armed[FULMEN_POWER] = fulmen_power_arm(w->handle, &w->power);
	w->armed[FULMEN_POWER_SOURCE] = fulmen_power_source_arm(w->handle, &w->power_source);
	w->armed[FULMEN_PRESSURE] = fulmen_pressure_arm(w->handle, &w->pressure);
}

static void disarm(fulmen_watch *w) {
	fulmen_pressure_disarm(w->pressure);
	fulmen_power_source_disarm(w->power_source);
	fulmen_power_disarm(w->power);
	fulmen_preferences_disarm(w->preferences);
	fulmen_store_disarm(w->store);
	fulmen_iokit_disarm(w->iokit);
}

void fulmen_watch_run(fulmen_watch *w) {
	w->loop = (CFRunLoopRef)CFRetain(CFRunLoopGetCurrent());
	CFRunLoopSourceContext context = {.info = w, .perform = end_now};
	w->end = CFRunLoopSourceCreate(kCFAllocatorDefault, 0, &context);
	if (w->end == NULL) {
		w->armed[FULMEN_WATCH] = FULMEN_MEMORY;
		fulmenAnnounce(w->handle, FULMEN_WATCH, "armed", "", 0, FULMEN_MEMORY);
		return;
	}
	CFRunLoopAddSource(w->loop, w->end, kCFRunLoopDefaultMode);
	arm(w);
	fulmenAnnounce(w->handle, FULMEN_WATCH, "armed", "", 0, FULMEN_OK);
	CFRunLoopRun(); // until end_now
	disarm(w);
	CFRunLoopRemoveSource(w->loop, w->end, kCFRunLoopDefaultMode);
}

void fulmen_watch_stop(fulmen_watch *w) {
	CFRunLoopSourceSignal(w->end);
	CFRunLoopWakeUp(w->loop);
}

int fulmen_watch_allow(fulmen_watch *w, intptr_t notice) { return fulmen_power_allow(w->power, notice); }
