// Reading the I/O Registry. Every function writes into the buffer an array of
// entries, each of them
//
//	[id, parent's id or 0, kind, class, name, location, {key: value}]
//
// The kind is the first of the base classes looked for that the entry conforms
// to, "" for one that is there only to hold others together. Keys that the entry
// lacks are left out. A key that begins with '^' is looked for in the entry and in
// all that it hangs from, nearest first.
#ifndef FULMEN_DARWIN_REGISTRY_H
#define FULMEN_DARWIN_REGISTRY_H

#include "buffer.h"
#include "result.h"

// fulmen_registry_thunderbolt walks each Thunderbolt controller with all below
// it.
int fulmen_registry_thunderbolt(fulmen_buffer *out);

// fulmen_registry_interfaces walks the network ports of the receptacles alone,
// with their interfaces and RDMA devices.
int fulmen_registry_interfaces(fulmen_buffer *out);

// fulmen_registry_places finds the nodes of the device tree that say where a
// receptacle is on the case.
int fulmen_registry_places(fulmen_buffer *out);

// fulmen_registry_services reads every service of a class, fulmen_registry_path
// the entry at one path. Keys are separated by line breaks.
int fulmen_registry_services(const char *class_name, const char *keys, fulmen_buffer *out);
int fulmen_registry_path(const char *path, const char *keys, fulmen_buffer *out);

#endif
