//go:build darwinsim && linux && cgo

#include "sim.h"

#include <errno.h>
#include <mach/mach.h>
#include <net/if.h>
#include <string.h>

static _Thread_local int hosts; // ports of the host that are not yet given back

mach_port_t mach_host_self(void) {
	hosts++;
	return 7;
}

mach_port_t mach_task_self(void) { return 1; }

kern_return_t mach_port_deallocate(mach_port_t task, mach_port_t name) {
	(void)task;
	if (name != 7 || --hosts < 0) {
		sim_misused("a port was given back that was not taken");
	}
	return KERN_SUCCESS;
}

// value is a number that the machine was given, by a map's name and key.
static bool value(const char *name, const char *key, natural_t *into) {
	sim_machine *m = sim_here();
	CFStringRef n = sim_text(name), k = sim_text(key);
	sim_lock(m);
	CFDictionaryRef map = CFDictionaryGetValue(m->values, n);
	CFNumberRef number = map == NULL ? NULL : CFDictionaryGetValue(map, k);
	int64_t whole = 0;
	bool there = number != NULL && CFNumberGetValue(number, kCFNumberSInt64Type, &whole);
	sim_unlock(m);
	CFRelease(n);
	CFRelease(k);
	*into = (natural_t)whole;
	return there;
}

kern_return_t host_statistics64(mach_port_t host, int flavor, host_info64_t info, mach_msg_type_number_t *count) {
	(void)host;
	vm_statistics64_data_t pages = {0};
	if (flavor != HOST_VM_INFO64 || *count < HOST_VM_INFO64_COUNT || !value("pages", "active", &pages.active_count)) {
		return KERN_FAILURE;
	}
	value("pages", "inactive", &pages.inactive_count);
	value("pages", "wired", &pages.wire_count);
	value("pages", "speculative", &pages.speculative_count);
	value("pages", "compressor", &pages.compressor_page_count);
	value("pages", "purgeable", &pages.purgeable_count);
	value("pages", "external", &pages.external_page_count);
	memcpy(info, &pages, sizeof pages);
	return KERN_SUCCESS;
}

kern_return_t host_page_size(mach_port_t host, vm_size_t *size) {
	(void)host;
	*size = 16384;
	return KERN_SUCCESS;
}

kern_return_t host_statistics(mach_port_t host, int flavor, host_info_t info, mach_msg_type_number_t *count) {
	(void)host;
	host_cpu_load_info_data_t load;
	if (flavor != HOST_CPU_LOAD_INFO || *count < HOST_CPU_LOAD_INFO_COUNT || !value("ticks", "user", &load.cpu_ticks[CPU_STATE_USER])) {
		return KERN_FAILURE;
	}
	value("ticks", "system", &load.cpu_ticks[CPU_STATE_SYSTEM]);
	value("ticks", "idle", &load.cpu_ticks[CPU_STATE_IDLE]);
	value("ticks", "nice", &load.cpu_ticks[CPU_STATE_NICE]);
	memcpy(info, &load, sizeof load);
	return KERN_SUCCESS;
}

// The bridge's requests, laid out as xnu has them, written a second time on
// purpose: what native/darwin asks has to agree with it.
#pragma pack(push, 4)
struct request_member {
	char name[16];
	char rest[64];
};
struct request_list {
	uint32_t length;
	struct request_member *members;
};
#pragma pack(pop)
struct request {
	char name[16];
	unsigned long command;
	size_t length;
	void *data;
};

static int change_bridge(sim_machine *m, const char *bridge, const char *member, bool add) {
	CFStringRef key = sim_text(bridge), name = sim_text(member);
	sim_lock(m);
	CFMutableArrayRef members = (CFMutableArrayRef)CFDictionaryGetValue(m->bridges, key);
	errno = members == NULL ? ENXIO : 0;
	CFIndex at = -1;
	for (CFIndex i = 0; members != NULL && i < CFArrayGetCount(members); i++) {
		if (CFEqual(CFArrayGetValueAtIndex(members, i), name)) {
			at = i;
		}
	}
	if (members != NULL && add == (at >= 0)) {
		errno = add ? EEXIST : ENOENT;
	} else if (members != NULL && add) {
		CFArrayAppendValue(members, name);
	} else if (members != NULL) {
		sim_array_remove(members, at);
	}
	int result = errno == 0 ? 0 : -1;
	sim_unlock(m);
	CFRelease(key);
	CFRelease(name);
	if (result == 0) {
		simHook(m->handle, SIM_HOOK_BRIDGE, 0);
	}
	return result;
}

int sim_ioctl(int descriptor, unsigned long number, void *argument) {
	(void)descriptor;
	struct request *asked = argument;
	sim_machine *m = sim_here();
	if (number == (1ul << 30 | 40ul << 16 | 'i' << 8 | 123) && asked->command <= 1 && asked->length == sizeof(struct request_member)) {
		return change_bridge(m, asked->name, ((struct request_member *)asked->data)->name, asked->command == 0);
	}
	// _IOWR('i', 123, 40 bytes)
	if (number != (3ul << 30 | 40ul << 16 | 'i' << 8 | 123) || asked->command != 6 || asked->length != sizeof(struct request_list)) {
		errno = EINVAL;
		return -1;
	}
	struct request_list *list = asked->data;
	CFStringRef name = sim_text(asked->name);
	sim_lock(m);
	CFArrayRef members = CFDictionaryGetValue(m->bridges, name);
	CFIndex count = members == NULL ? 0 : CFArrayGetCount(members);
	CFRelease(name);
	for (CFIndex i = 0; i < count; i++) {
		if ((size_t)(i + 1) * sizeof(struct request_member) > list->length) {
			count = i;
			break;
		}
		strncpy(list->members[i].name, sim_chars(CFArrayGetValueAtIndex(members, i)), 15);
	}
	list->length = (uint32_t)((size_t)count * sizeof(struct request_member));
	sim_unlock(m);
	if (members == NULL) {
		errno = ENXIO;
		return -1;
	}
	return 0;
}
