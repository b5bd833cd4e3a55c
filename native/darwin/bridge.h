// Software bridges: who is in them, in the kernel, and putting members in and out
// of the stored configuration.
#ifndef FULMEN_DARWIN_BRIDGE_H
#define FULMEN_DARWIN_BRIDGE_H

#include "buffer.h"
#include "result.h"

// fulmen_bridge_read writes the names of a bridge's members in the kernel.
int fulmen_bridge_read(const char *bridge, fulmen_buffer *out);

#endif
