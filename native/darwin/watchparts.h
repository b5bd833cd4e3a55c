// The parts of a watch, one file each. An arm function runs on the watch's
// thread, whose run loop it adds to, and returns 0 or why it could not; its disarm
// releases all that it made, on the same thread, and does nothing where arming
// had failed.
#ifndef FULMEN_DARWIN_WATCHPARTS_H
#define FULMEN_DARWIN_WATCHPARTS_H

#include <CoreFoundation/CoreFoundation.h>
#include <stdbool.h>

#include "watch.h"

typedef struct fulmen_iokit_part fulmen_iokit_part;
typedef struct fulmen_power_part fulmen_power_part;
typedef struct fulmen_pressure_part fulmen_pressure_part;
typedef struct fulmen_store_part fulmen_store_part;

int fulmen_iokit_arm(uintptr_t handle, fulmen_iokit_part **part);
void fulmen_iokit_disarm(fulmen_iokit_part *part);

int fulmen_power_arm(uintptr_t handle, fulmen_power_part **part);
int fulmen_power_allow(fulmen_power_part *part, intptr_t notice);
void fulmen_power_disarm(fulmen_power_part *part);
int fulmen_power_source_arm(uintptr_t handle, CFRunLoopSourceRef *source);
void fulmen_power_source_disarm(CFRunLoopSourceRef source);

int fulmen_pressure_arm(uintptr_t handle, fulmen_pressure_part **part);
void fulmen_pressure_disarm(fulmen_pressure_part *part);

int fulmen_store_arm(uintptr_t handle, fulmen_store_part **part);
void fulmen_store_disarm(fulmen_store_part *part);
int fulmen_preferences_arm(uintptr_t handle, fulmen_store_part **part);
void fulmen_preferences_disarm(fulmen_store_part *part);

#endif
