// Software bridges in the kernel: who is in them, and changing that.
#ifndef FULMEN_DARWIN_BRIDGE_H
#define FULMEN_DARWIN_BRIDGE_H

#include "buffer.h"
#include "result.h"

// fulmen_bridge_read writes the names of a bridge's members in the kernel.
int fulmen_bridge_read(const char *bridge, fulmen_buffer *out);

// fulmen_bridge_change adds a member to a bridge in the kernel or takes it out.
// Being so already is FULMEN_OK; the kernel refuses a member that has an address.
int fulmen_bridge_change(const char *bridge, const char *interface, int member);

#endif
