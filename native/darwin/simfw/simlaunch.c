//go:build darwinsim && linux && cgo

#include <errno.h>
#include <launch.h>
#include <stdlib.h>
#include <unistd.h>

#include "sim.h"

// The machine's value "launchd" is what the property list of this process names: for
// each socket its descriptors, or the number of the error. Without it the process is
// none of launchd's.
int launch_activate_socket(const char *name, int **descriptors, size_t *count) {
	sim_machine *m = sim_here();
	int failed = 0;
	sim_lock(m);
	CFMutableDictionaryRef job = (CFMutableDictionaryRef)CFDictionaryGetValue(m->values, CFSTR("launchd"));
	CFStringRef key = sim_text(name);
	CFTypeRef of = job == NULL ? NULL : CFDictionaryGetValue(job, key);
	if (of == NULL) {
		failed = job == NULL ? ESRCH : ENOENT;
	} else if (CFGetTypeID(of) == CFNumberGetTypeID()) {
		CFNumberGetValue(of, kCFNumberSInt32Type, &failed);
	} else {
		size_t n = (size_t)CFArrayGetCount(of);
		*descriptors = calloc(n + 1, sizeof **descriptors);
		for (size_t i = 0; i < n; i++) {
			int32_t held = 0;
			CFNumberGetValue(CFArrayGetValueAtIndex(of, (CFIndex)i), kCFNumberSInt32Type, &held);
			(*descriptors)[i] = dup(held); // launchd keeps its own
		}
		*count = n;
		sim_dictionary_remove(job, key); // it is handed over once
	}
	sim_unlock(m);
	CFRelease(key);
	return failed;
}
