// Which entries of the registry count, and which of their properties are read.
#ifndef FULMEN_DARWIN_REGISTRYKINDS_H
#define FULMEN_DARWIN_REGISTRYKINDS_H

#include <stddef.h>

enum { FULMEN_MAX_KEYS = 16 };

typedef struct {
	const char *class_name; // a base class, so that next year's subclass counts too
	const char *keys[FULMEN_MAX_KEYS]; // ended by NULL
} fulmen_kind;

// fulmen_thunderbolt_kinds is ended by one without a class name, which has the keys
// of all other entries.
extern const fulmen_kind fulmen_thunderbolt_kinds[];

#endif
