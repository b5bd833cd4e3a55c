//go:build darwinsim && linux && cgo

#include "sim.h"

#include <stdlib.h>
#include <string.h>

// The machine's controller (SMC): its value "smc" maps keys to numbers, which it
// tells as floats, and to data, which it tells with the type "ui8 ".
struct asked {
	char key[4]; // least byte first
	uint8_t other[24];
	uint32_t size;
	char type[4];
	uint8_t attributes[4];
	uint8_t result, status, command, padding;
	uint32_t index;
	uint8_t bytes[32];
};

kern_return_t IOServiceOpen(io_service_t service, mach_port_t task, uint32_t type, io_connect_t *connection) {
	(void)task;
	sim_entry *e = sim_lookup(service, SIM_ENTRY);
	if (e == NULL || type != 0 || strcmp(e->name, "AppleSMCKeysEndpoint") != 0) {
		return KERN_FAILURE;
	}
	sim_connection *c = calloc(1, sizeof *c);
	c->machine = e->machine;
	*connection = sim_handle(SIM_CONNECTION, c);
	return KERN_SUCCESS;
}

static void reversed(char to[4], const char *from) {
	for (int i = 0; i < 4; i++) {
		to[i] = from[3 - i];
	}
}

static void answer(CFDictionaryRef keys, struct asked *a) {
	CFIndex count = keys == NULL ? 0 : CFDictionaryGetCount(keys);
	const void **names = calloc((size_t)count + 1, sizeof *names);
	if (keys != NULL) {
		CFDictionaryGetKeysAndValues(keys, names, NULL);
	}
	char key[5] = "";
	reversed(key, a->key);
	CFStringRef name = sim_text(key);
	CFTypeRef value = keys == NULL ? NULL : CFDictionaryGetValue(keys, name);
	CFRelease(name);
	bool is_number = value != NULL && CFGetTypeID(value) == CFNumberGetTypeID();
	a->result = 0;
	if (a->command == 5 && strcmp(key, "#KEY") == 0) {
		a->bytes[2] = (uint8_t)(count >> 8);
		a->bytes[3] = (uint8_t)count;
	} else if (a->command == 8 && a->index < (uint32_t)count) {
		reversed(a->key, sim_chars(names[a->index]));
	} else if (a->command == 9 && value != NULL) {
		a->size = is_number ? 4 : (uint32_t)CFDataGetLength(value);
		reversed(a->type, is_number ? "flt " : "ui8 ");
	} else if (a->command == 5 && is_number && a->size == 4) {
		double real = 0;
		CFNumberGetValue(value, kCFNumberDoubleType, &real);
		float narrow = (float)real;
		memcpy(a->bytes, &narrow, sizeof narrow);
	} else {
		a->result = 132; // no such key
	}
	free(names);
}

kern_return_t IOConnectCallStructMethod(io_connect_t connection, uint32_t selector, const void *in, size_t in_size, void *out, size_t *out_size) {
	sim_connection *c = sim_lookup(connection, SIM_CONNECTION);
	if (c == NULL || selector != 2 || in_size != sizeof(struct asked) || *out_size != sizeof(struct asked)) {
		return KERN_FAILURE;
	}
	struct asked a;
	memcpy(&a, in, sizeof a);
	sim_lock(c->machine);
	answer(CFDictionaryGetValue(c->machine->values, CFSTR("smc")), &a);
	sim_unlock(c->machine);
	memcpy(out, &a, sizeof a);
	return KERN_SUCCESS;
}
