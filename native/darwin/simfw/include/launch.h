// The one function of launchd's that is called, after launch.h.
#ifndef FULMEN_SIM_LAUNCH_H
#define FULMEN_SIM_LAUNCH_H

#include <stddef.h>

int launch_activate_socket(const char *name, int **descriptors, size_t *count);

#endif
