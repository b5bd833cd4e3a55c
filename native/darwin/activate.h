// The sockets that launchd holds for this process (launch.h).
#ifndef FULMEN_DARWIN_ACTIVATE_H
#define FULMEN_DARWIN_ACTIVATE_H

#include <stddef.h>

// fulmen_activate gives the descriptors of a socket by its name in the job's
// property list, at most room of them; those for which there is no room are closed.
// No job of launchd's, none of that name, or taken before: 0 and a count of 0.
// Anything else is launchd's error number.
int fulmen_activate(const char *name, int *descriptors, size_t room, size_t *count);

#endif
