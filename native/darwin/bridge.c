//go:build cgo && (darwin || darwinsim)

#include "bridge.h"

#include <errno.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

// What the kernel's bridge is asked in, as xnu's bsd/net/if.h and if_bridgevar.h
// lay it out (11417.101.15); the SDK has the request's number and not these.
#pragma pack(push, 4)
typedef struct {
	char name[IFNAMSIZ];
	uint32_t flags, spanning_tree_flags, path_cost;
	uint8_t port, priority, protocol, role, state;
	uint32_t addresses, address_limit, addresses_exceeded;
	uint8_t padding[32];
} bridge_member;

typedef struct {
	uint32_t length; // of the members, in bytes
	bridge_member *members;
} bridge_members;
#pragma pack(pop)

typedef struct {
	char name[IFNAMSIZ];
	unsigned long command;
	size_t length;
	void *data;
} driver_request;

enum { COMMAND_ADD = 0, COMMAND_DELETE = 1, COMMAND_MEMBERS = 6, MAX_MEMBERS = 64 };

#define GET_FROM_DRIVER _IOWR('i', 123, driver_request)
#define SET_IN_DRIVER _IOW('i', 123, driver_request)

int fulmen_bridge_read(const char *bridge, fulmen_buffer *out) {
	int result = FULMEN_OK;
	bridge_member *members = calloc(MAX_MEMBERS, sizeof *members);
	int descriptor = socket(AF_INET, SOCK_DGRAM, 0);
	if (members == NULL || descriptor < 0) {
		result = FULMEN_MEMORY;
		goto out;
	}
	bridge_members list = {MAX_MEMBERS * sizeof *members, members};
	driver_request request = {.command = COMMAND_MEMBERS, .length = sizeof list, .data = &list};
	strncpy(request.name, bridge, sizeof request.name - 1);
	if (ioctl(descriptor, GET_FROM_DRIVER, &request) < 0) {
		result = errno == ENXIO ? FULMEN_GONE : FULMEN_REFUSED;
		goto out;
	}
	uint32_t count = list.length / sizeof *members;
	size_t at = fulmen_put_count(out, 'a');
	for (uint32_t i = 0; i < count && i < MAX_MEMBERS; i++) {
		fulmen_put_text(out, members[i].name, sizeof members[i].name);
	}
	fulmen_set_count(out, at, count);
	result = out->failed ? FULMEN_MEMORY : FULMEN_OK;
out:
	if (descriptor >= 0) {
		close(descriptor);
	}
	free(members);
	return result;
}

int fulmen_bridge_change(const char *bridge, const char *interface, int add) {
	int descriptor = socket(AF_INET, SOCK_DGRAM, 0);
	if (descriptor < 0) {
		return FULMEN_MEMORY;
	}
	bridge_member member;
	memset(&member, 0, sizeof member);
	strncpy(member.name, interface, sizeof member.name - 1);
	driver_request request = {.command = add ? COMMAND_ADD : COMMAND_DELETE, .length = sizeof member, .data = &member};
	strncpy(request.name, bridge, sizeof request.name - 1);
	int result = FULMEN_OK;
	// A member that is added twice exists; one that is taken out twice does not.
	if (ioctl(descriptor, SET_IN_DRIVER, &request) < 0 && errno != (add ? EEXIST : ENOENT)) {
		result = errno == ENXIO ? FULMEN_GONE : FULMEN_REFUSED;
	}
	close(descriptor);
	return result;
}
