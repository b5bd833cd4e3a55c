//go:build cgo && (darwin || darwinsim)

#include "rdma.h"

#include <dlfcn.h>
#include <string.h>

// The verbs, as far as they are called; the shapes are those of rdma-core's
// <infiniband/verbs.h>, whose ABI Apple's library has (its header is in SDKs from
// 26.2 on, the library is looked for at run time).
typedef struct ibv_device ibv_device;
typedef struct ibv_context ibv_context;

// port_attributes begins as struct ibv_port_attr does. What later versions added
// comes after, and has room.
typedef struct {
	int32_t state, max_mtu, active_mtu, gid_count;
	uint32_t capabilities, max_message, bad_keys, key_violations;
	uint16_t key_count, lid, sm_lid;
	uint8_t lmc, lanes, sm_sl, timeout, init_reply, active_width, active_speed, phys_state, link_layer, flags;
	uint8_t room[128];
} port_attributes;

// device_attributes begins as struct ibv_device_attr does, up to what is told here.
typedef struct {
	char firmware[64];
	uint64_t node_guid, system_guid, max_region_size, page_sizes;
	uint32_t vendor, part, hardware;
	int32_t max_qp, max_qp_wr;
	uint32_t capabilities;
	int32_t max_sge, max_sge_rd, max_cq, max_cqe, max_mr, max_pd;
	uint8_t room[256];
} device_attributes;

typedef struct {
	ibv_device **(*get_device_list)(int *count);
	void (*free_device_list)(ibv_device **list);
	const char *(*get_device_name)(ibv_device *device);
	ibv_context *(*open_device)(ibv_device *device);
	int (*close_device)(ibv_context *context);
	int (*query_port)(ibv_context *context, uint8_t port, port_attributes *into);
	int (*query_gid)(ibv_context *context, uint8_t port, int index, uint8_t gid[16]);
	int (*query_device)(ibv_context *context, device_attributes *into); // NULL: limits are not told
} library;

enum { PORT = 1, MAX_GIDS = 32 };

// The full path comes first: a bare name is looked for in other folders before.
static const char *const names[] = {"/usr/lib/librdma.dylib", "librdma.dylib", "/usr/lib/rdma/libibverbs.dylib"};

// resolve fills in the functions, all or none.
static bool resolve(void *handle, library *l) {
	*(void **)&l->get_device_list = dlsym(handle, "ibv_get_device_list");
	*(void **)&l->free_device_list = dlsym(handle, "ibv_free_device_list");
	*(void **)&l->get_device_name = dlsym(handle, "ibv_get_device_name");
	*(void **)&l->open_device = dlsym(handle, "ibv_open_device");
	*(void **)&l->close_device = dlsym(handle, "ibv_close_device");
	*(void **)&l->query_port = dlsym(handle, "ibv_query_port");
	*(void **)&l->query_gid = dlsym(handle, "ibv_query_gid");
	*(void **)&l->query_device = dlsym(handle, "ibv_query_device");
	return l->get_device_list != NULL && l->free_device_list != NULL && l->get_device_name != NULL && l->open_device != NULL &&
		l->close_device != NULL && l->query_port != NULL && l->query_gid != NULL;
}

static void put_number(fulmen_buffer *out, const char *name, int64_t value) {
	fulmen_put_text(out, name, SIZE_MAX);
	fulmen_put_int(out, value);
}

// put_error writes why a device could not be asked.
static void put_error(fulmen_buffer *out, size_t fields, const char *why) {
	fulmen_put_text(out, "error", SIZE_MAX);
	fulmen_put_text(out, why, SIZE_MAX);
	fulmen_set_count(out, fields, 2);
}

// put_device opens a context, which holds no resources of the device, asks and
// closes it.
static void put_device(fulmen_buffer *out, const library *l, ibv_device *device) {
	size_t fields = fulmen_put_count(out, 'm');
	const char *name = l->get_device_name(device);
	fulmen_put_text(out, "name", SIZE_MAX);
	fulmen_put_text(out, name == NULL ? "" : name, 64);
	ibv_context *context = l->open_device(device);
	if (context == NULL) {
		put_error(out, fields, "ibv_open_device");
		return;
	}
	port_attributes port;
	memset(&port, 0, sizeof port);
	if (l->query_port(context, PORT, &port) != 0) {
		put_error(out, fields, "ibv_query_port");
		l->close_device(context);
		return;
	}
	put_number(out, "state", port.state);
	put_number(out, "mtu", port.active_mtu);
	put_number(out, "width", port.active_width);
	put_number(out, "speed", port.active_speed);
	fulmen_put_text(out, "gids", SIZE_MAX);
	size_t at = fulmen_put_count(out, 'a');
	uint32_t count = 0;
	for (int i = 0; i < port.gid_count && i < MAX_GIDS; i++) {
		uint8_t gid[16] = {0};
		if (l->query_gid(context, PORT, i, gid) != 0) {
			break; // the rest of the table is empty
		}
		fulmen_put_data(out, 'd', gid, sizeof gid);
		count++;
	}
	fulmen_set_count(out, at, count);
	uint32_t told = 6;
	device_attributes limits;
	memset(&limits, 0, sizeof limits);
	if (l->query_device != NULL && l->query_device(context, &limits) == 0) {
		put_number(out, "max_qp", limits.max_qp);
		put_number(out, "max_cq", limits.max_cq);
		put_number(out, "max_mr", limits.max_mr);
		put_number(out, "max_pd", limits.max_pd);
		told += 4;
	}
	fulmen_set_count(out, fields, told);
	l->close_device(context);
}

int fulmen_rdma_read(fulmen_buffer *out) {
	void *handle = NULL;
	for (size_t i = 0; i < sizeof names / sizeof names[0] && handle == NULL; i++) {
		handle = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
	}
	if (handle == NULL) {
		return FULMEN_NO_SYMBOL;
	}
	library l;
	ibv_device **list = NULL;
	int count = 0;
	int result = FULMEN_NO_SYMBOL;
	if (!resolve(handle, &l)) {
		goto out;
	}
	result = FULMEN_REFUSED;
	list = l.get_device_list(&count);
	if (list == NULL) {
		goto out;
	}
	size_t at = fulmen_put_count(out, 'a');
	for (int i = 0; i < count; i++) {
		put_device(out, &l, list[i]);
	}
	fulmen_set_count(out, at, (uint32_t)(count > 0 ? count : 0));
	result = out->failed ? FULMEN_MEMORY : FULMEN_OK;
out:
	if (list != NULL) {
		l.free_device_list(list);
	}
	dlclose(handle);
	return result;
}
