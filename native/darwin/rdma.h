// RDMA devices as Apple's library lists them. Nothing here opens a protection
// domain or a queue pair: Apple's driver leaks them.
#ifndef FULMEN_DARWIN_RDMA_H
#define FULMEN_DARWIN_RDMA_H

#include "buffer.h"
#include "result.h"

// fulmen_rdma_read writes an array of maps: "name", "state", "mtu", "width",
// "speed" (the verbs' numbers) and "gids", data of 16 bytes each; of a device that
// could not be asked, "name" and "error". FULMEN_NO_SYMBOL: no library, or one
// without these functions.
int fulmen_rdma_read(fulmen_buffer *out);

#endif
