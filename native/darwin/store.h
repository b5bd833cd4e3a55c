// Reading SystemConfiguration: what runs (the dynamic store) and what is stored
// (the preferences).
#ifndef FULMEN_DARWIN_STORE_H
#define FULMEN_DARWIN_STORE_H

#include <SystemConfiguration/SystemConfiguration.h>

#include "buffer.h"
#include "result.h"

// fulmen_store_patterns makes the expressions of the keys that are read and
// watched. The caller releases it.
CFArrayRef fulmen_store_patterns(void);

// fulmen_store_read writes a map of every such key to its value.
int fulmen_store_read(fulmen_buffer *out);

// fulmen_power_settings_read writes a map with the key of the power settings, where
// the system keeps them there.
int fulmen_power_settings_read(fulmen_buffer *out);

// fulmen_stored_read writes a map: "services", "sets", "current_set" and
// "virtual" (interfaces, bridges among them) of the stored configuration, as far as they are there.
int fulmen_stored_read(fulmen_buffer *out);
// fulmen_stored_put writes the same of a session that is open.
int fulmen_stored_put(SCPreferencesRef preferences, fulmen_buffer *out);

// fulmen_interfaces_read writes an array of what the system knows of its
// interfaces beyond the kernel: maps of "name", "type", "display_name".
int fulmen_interfaces_read(fulmen_buffer *out);

#endif
