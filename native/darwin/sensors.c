//go:build cgo && (darwin || darwinsim)

#include "energy.h"

#include <IOKit/IOKitLib.h>
#include <stdlib.h>
#include <string.h>

// What the controller is asked in: 80 bytes, as several public programs have it
// (macmon, stats, mactop).
typedef struct {
	uint32_t key;
	uint8_t version[6];
	uint16_t padding;
	uint8_t limits[16];
	uint32_t size, type;
	uint8_t attributes, more_padding[3];
	uint8_t result, status, command, yet_more_padding;
	uint32_t index;
	uint8_t bytes[32];
} request;

_Static_assert(sizeof(request) == 80, "the controller's request");

enum {
	SELECTOR = 2,
	COMMAND_READ = 5,
	COMMAND_KEY = 8,
	COMMAND_INFO = 9,
	MAX_KEYS = 160,
	MAX_INDEX = 8192,
};

typedef struct {
	uint32_t key, size;
} sensor;

struct fulmen_sensors {
	io_connect_t connection;
	sensor sensors[MAX_KEYS];
	int count;
};

static uint32_t code(const char *name) {
	return (uint32_t)(uint8_t)name[0] << 24 | (uint32_t)(uint8_t)name[1] << 16 | (uint32_t)(uint8_t)name[2] << 8 | (uint8_t)name[3];
}

static void name_of(uint32_t key, char name[5]) {
	for (int i = 0; i < 4; i++) {
		name[i] = (char)(key >> (24 - 8 * i));
	}
	name[4] = 0;
}

static bool ask(const fulmen_sensors *s, request *in, request *out) {
	size_t size = sizeof *out;
	memset(out, 0, sizeof *out);
	return IOConnectCallStructMethod(s->connection, SELECTOR, in, sizeof *in, out, &size) == KERN_SUCCESS && out->result == 0;
}

// counts reports whether a key is one that is shown: temperatures of processors
// and GPUs, fans, the power of the whole machine.
static bool counts(const char *name) {
	static const char *const prefixes[] = {"Tp", "Te", "Ts", "Tg", "Tf"};
	for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
		if (strncmp(name, prefixes[i], 2) == 0) {
			return true;
		}
	}
	return strcmp(name, "PSTR") == 0 || (name[0] == 'F' && (strcmp(name + 2, "Ac") == 0 || strcmp(name + 2, "Mx") == 0));
}

static void add(fulmen_sensors *s, uint32_t key) {
	request in = {.key = key, .command = COMMAND_INFO}, out;
	if (s->count < MAX_KEYS && ask(s, &in, &out) && out.type == code("flt ") && out.size == 4) {
		s->sensors[s->count++] = (sensor){key, out.size};
	}
}

// find goes through all keys once; a Mac has some two thousand.
static void find(fulmen_sensors *s) {
	request in = {.key = code("#KEY"), .size = 4, .command = COMMAND_READ}, out;
	if (!ask(s, &in, &out)) {
		return;
	}
	uint32_t count = (uint32_t)out.bytes[0] << 24 | (uint32_t)out.bytes[1] << 16 | (uint32_t)out.bytes[2] << 8 | out.bytes[3];
	for (uint32_t i = 0; i < count && i < MAX_INDEX; i++) {
		request by_index = {.command = COMMAND_KEY, .index = i};
		char name[5];
		if (ask(s, &by_index, &out)) {
			name_of(out.key, name);
			if (counts(name)) {
				add(s, out.key);
			}
		}
	}
}

// connect opens the controller's service of that name, of several that match.
static int connect(io_connect_t *connection) {
	CFMutableDictionaryRef wanted = IOServiceMatching("AppleSMC");
	io_iterator_t found = IO_OBJECT_NULL;
	if (wanted == NULL) {
		return FULMEN_MEMORY;
	}
	int result = IOServiceGetMatchingServices(kIOMainPortDefault, wanted, &found); // it consumes wanted
	if (result != FULMEN_OK) {
		return result;
	}
	result = FULMEN_GONE;
	io_service_t service;
	while ((service = IOIteratorNext(found)) != IO_OBJECT_NULL) {
		io_name_t name = "";
		if (result == FULMEN_GONE && IORegistryEntryGetName(service, name) == KERN_SUCCESS && strcmp(name, "AppleSMCKeysEndpoint") == 0) {
			result = IOServiceOpen(service, mach_task_self(), 0, connection);
		}
		IOObjectRelease(service);
	}
	IOObjectRelease(found);
	return result;
}

int fulmen_sensors_open(fulmen_sensors **into) {
	fulmen_sensors *s = calloc(1, sizeof *s);
	if (s == NULL) {
		return FULMEN_MEMORY;
	}
	int result = connect(&s->connection);
	if (result != FULMEN_OK) {
		free(s);
		return result;
	}
	find(s);
	*into = s;
	return FULMEN_OK;
}

void fulmen_sensors_close(fulmen_sensors *s) {
	if (s != NULL) {
		IOServiceClose(s->connection);
		free(s);
	}
}

int fulmen_sensors_read(fulmen_sensors *s, fulmen_buffer *out) {
	size_t outer = fulmen_put_count(out, 'm');
	fulmen_put_text(out, "values", SIZE_MAX);
	size_t at = fulmen_put_count(out, 'm');
	uint32_t count = 0;
	for (int i = 0; i < s->count; i++) {
		request in = {.key = s->sensors[i].key, .size = s->sensors[i].size, .command = COMMAND_READ}, answer;
		if (!ask(s, &in, &answer)) {
			continue; // asleep, or gone
		}
		float value;
		char name[5];
		memcpy(&value, answer.bytes, sizeof value);
		name_of(s->sensors[i].key, name);
		fulmen_put_text(out, name, 4);
		fulmen_put_real(out, (double)value);
		count++;
	}
	fulmen_set_count(out, at, count);
	fulmen_set_count(out, outer, 1);
	return out->failed ? FULMEN_MEMORY : FULMEN_OK;
}
