// A session with the stored configuration.
#ifndef FULMEN_SIM_PREFERENCES_H
#define FULMEN_SIM_PREFERENCES_H

#include <SystemConfiguration/SystemConfiguration.h>

#include "sim.h"

struct __SCPreferences {
	sim_base base;
	struct __SCPreferences *next;
	sim_machine *machine;
	CFMutableDictionaryRef copy; // NULL until it is looked at
	uint64_t generation;         // of what copy was made of
	bool locked;
	SCPreferencesCallBack callback;
	SCPreferencesContext context;
	CFRunLoopSourceRef source;
	uint32_t pending;
};

CFMutableDictionaryRef sim_preferences_copy(SCPreferencesRef preferences);
void sim_set_error(int error);

#endif
