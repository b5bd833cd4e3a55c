//go:build darwinsim && linux && cgo

#include "sim.h"

#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "simlibraries.h"

// A device is a map of "name", "state", "mtu", "width", "speed" and "gids" in the
// machine's value "verbs".
typedef struct {
	CFDictionaryRef of;
} device;

static device **get_device_list(int *count) {
	sim_machine *m = sim_here();
	sim_lock(m);
	CFArrayRef all = CFDictionaryGetValue(m->values, CFSTR("verbs"));
	*count = all == NULL ? 0 : (int)CFArrayGetCount(all);
	device **list = calloc((size_t)*count + 1, sizeof *list);
	for (int i = 0; i < *count; i++) {
		list[i] = calloc(1, sizeof **list);
		list[i]->of = CFRetain(CFArrayGetValueAtIndex(all, i));
	}
	sim_unlock(m);
	sim_count(1);
	return list;
}

static void free_device_list(device **list) {
	for (device **d = list; *d != NULL; d++) {
		CFRelease((*d)->of);
		free(*d);
	}
	sim_count(-1);
	free(list);
}

static const char *get_device_name(device *d) { return sim_chars(CFDictionaryGetValue(d->of, CFSTR("name"))); }

static device *open_device(device *d) {
	if (CFDictionaryGetValue(d->of, CFSTR("broken")) != NULL) {
		return NULL;
	}
	device *context = calloc(1, sizeof *context);
	context->of = CFRetain(d->of);
	sim_count(1);
	return context;
}

static int close_device(device *context) {
	CFRelease(context->of);
	sim_count(-1);
	free(context);
	return 0;
}

// attributes are laid out as rdma-core's struct ibv_port_attr, a second time.
struct attributes {
	uint32_t state, max_mtu, active_mtu;
	int gid_tbl_len;
	uint32_t port_cap_flags, max_msg_sz, bad_pkey_cntr, qkey_viol_cntr;
	uint16_t pkey_tbl_len, lid, sm_lid;
	uint8_t lmc, max_vl_num, sm_sl, subnet_timeout, init_type_reply, active_width, active_speed, phys_state, link_layer, flags;
	uint16_t port_cap_flags2;
};

static int query_port(device *context, uint8_t port, struct attributes *into) {
	if (port != 1) {
		return 22;
	}
	CFArrayRef gids = CFDictionaryGetValue(context->of, CFSTR("gids"));
	into->state = (uint32_t)sim_number(context->of, CFSTR("state"));
	into->active_mtu = (uint32_t)sim_number(context->of, CFSTR("mtu"));
	into->gid_tbl_len = gids == NULL ? 0 : (int)CFArrayGetCount(gids);
	into->active_width = (uint8_t)sim_number(context->of, CFSTR("width"));
	into->active_speed = (uint8_t)sim_number(context->of, CFSTR("speed"));
	return 0;
}

static int query_gid(device *context, uint8_t port, int index, uint8_t *gid) {
	CFArrayRef gids = CFDictionaryGetValue(context->of, CFSTR("gids"));
	if (port != 1 || index < 0 || index >= CFArrayGetCount(gids)) {
		return -1;
	}
	CFDataRef data = CFArrayGetValueAtIndex(gids, index);
	memcpy(gid, CFDataGetBytePtr(data), 16);
	return 0;
}

#define VERB(name) {"librdma.dylib", "ibv_" #name, (void *)name}
const sim_symbol sim_verbs_symbols[] = {
	VERB(get_device_list), VERB(free_device_list), VERB(get_device_name), VERB(open_device), VERB(close_device),
	VERB(query_port), VERB(query_gid), {NULL, NULL, NULL},
};
