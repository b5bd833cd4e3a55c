//go:build darwinsim && linux && cgo

#include "sim.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control.h"
#include "simlibraries.h"

// A device is a map of "name", "state", "mtu", "width", "speed" and "gids" in the
// machine's value "verbs"; "max_qp", "max_cq", "max_mr" and "max_pd" in it are what it can have at once.
typedef struct {
	CFDictionaryRef of;
} device;

// called hangs or crashes in the call that the machine's value "verbs_fault" names, as
// "hang ibv_query_port" does.
static void called(const char *name) {
	sim_machine *m = sim_here();
	sim_lock(m);
	CFStringRef fault = CFDictionaryGetValue(m->values, CFSTR("verbs_fault"));
	char text[64] = "";
	strncpy(text, fault == NULL ? "" : sim_chars(fault), sizeof text - 1);
	sim_unlock(m);
	char *of = strchr(text, ' ');
	if (of == NULL || strcmp(of + 1, name) != 0) {
		return;
	}
	if (text[0] == 'c') {
		raise(SIGSEGV);
	}
	for (;;) {
		pause();
	}
}

static device **get_device_list(int *count) {
	called("ibv_get_device_list");
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
	called("ibv_free_device_list");
	for (device **d = list; *d != NULL; d++) {
		CFRelease((*d)->of);
		free(*d);
	}
	sim_count(-1);
	free(list);
}

static const char *get_device_name(device *d) {
	called("ibv_get_device_name");
	return sim_chars(CFDictionaryGetValue(d->of, CFSTR("name")));
}

static device *open_device(device *d) {
	called("ibv_open_device");
	if (CFDictionaryGetValue(d->of, CFSTR("broken")) != NULL) {
		return NULL;
	}
	device *context = calloc(1, sizeof *context);
	context->of = CFRetain(d->of);
	sim_count(1);
	return context;
}

static int close_device(device *context) {
	called("ibv_close_device");
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
	called("ibv_query_port");
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
	called("ibv_query_gid");
	CFArrayRef gids = CFDictionaryGetValue(context->of, CFSTR("gids"));
	if (port != 1 || index < 0 || index >= CFArrayGetCount(gids)) {
		return -1;
	}
	CFDataRef data = CFArrayGetValueAtIndex(gids, index);
	memcpy(gid, CFDataGetBytePtr(data), 16);
	return 0;
}

// limits are laid out as rdma-core's struct ibv_device_attr, a second time.
struct limits {
	char fw_ver[64];
	uint64_t node_guid, sys_image_guid, max_mr_size, page_size_cap;
	uint32_t vendor_id, vendor_part_id, hw_ver;
	int max_qp, max_qp_wr;
	unsigned int device_cap_flags;
	int max_sge, max_sge_rd, max_cq, max_cqe, max_mr, max_pd;
};

static int limit(device *context, CFStringRef key, int otherwise) {
	return CFDictionaryGetValue(context->of, key) == NULL ? otherwise : (int)sim_number(context->of, key);
}

// query_device tells what TN3205 and field notes say of Thunderbolt's devices.
static int query_device(device *context, struct limits *into) {
	called("ibv_query_device");
	into->max_qp = limit(context, CFSTR("max_qp"), 11);
	into->max_cq = limit(context, CFSTR("max_cq"), 11);
	into->max_mr = limit(context, CFSTR("max_mr"), 100);
	into->max_pd = limit(context, CFSTR("max_pd"), 11);
	return 0;
}

#define VERB(name) {"librdma.dylib", "ibv_" #name, (void *)name}
const sim_symbol sim_verbs_symbols[] = {
	VERB(get_device_list), VERB(free_device_list), VERB(get_device_name), VERB(open_device), VERB(close_device),
	VERB(query_port), VERB(query_gid), VERB(query_device), {NULL, NULL, NULL},
};
