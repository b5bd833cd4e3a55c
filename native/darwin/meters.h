// Readings of load, power and heat, taken only while somebody watches.
#ifndef FULMEN_DARWIN_METERS_H
#define FULMEN_DARWIN_METERS_H

#include "buffer.h"
#include "result.h"

// fulmen_pages_read writes a map of the kernel's pages by state, with "page_size";
// fulmen_ticks_read one of the processors' ticks since the start.
int fulmen_pages_read(fulmen_buffer *out);
int fulmen_ticks_read(fulmen_buffer *out);

// fulmen_power_source_read writes a map: "type", and "sources", an array of what
// the system knows of each.
int fulmen_power_source_read(fulmen_buffer *out);

// Thermal pressure and low-power mode are states of libnotify, announced through a
// descriptor; a name that nobody has ever set has the state 0. fulmen_state_open
// gives a copy of the descriptor, which is the caller's to close, and a token;
// fulmen_state_read needs the token alone.
#define FULMEN_THERMAL_PRESSURE "com.apple.system.thermalpressurelevel"
#define FULMEN_LOW_POWER "com.apple.system.lowpowermode"
int fulmen_state_open(const char *name, int *descriptor, int *token);
int fulmen_state_read(int token, uint64_t *state);
void fulmen_state_close(int token);

// Power assertions: idle sleep is held off from take to release.
int fulmen_assertion_take(const char *reason, uint32_t *assertion);
int fulmen_assertion_release(uint32_t assertion);

#endif
