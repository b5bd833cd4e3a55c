//go:build darwinsim && linux && cgo

#include "sim.h"

#include <stdio.h>
#include <string.h>

kern_return_t IOObjectGetClass(io_object_t handle, io_name_t name) {
	sim_entry *e = sim_lookup(handle, SIM_ENTRY);
	if (e == NULL) {
		return KERN_FAILURE;
	}
	snprintf(name, sizeof(io_name_t), "%s", e->class_name);
	return KERN_SUCCESS;
}

boolean_t IOObjectConformsTo(io_object_t handle, const io_name_t name) {
	sim_entry *e = sim_lookup(handle, SIM_ENTRY);
	return e != NULL && sim_conforms(e->class_name, name);
}

kern_return_t IORegistryEntryGetRegistryEntryID(io_registry_entry_t handle, uint64_t *id) {
	sim_entry *e = sim_lookup(handle, SIM_ENTRY);
	if (e == NULL || sim_fault(e->machine, SIM_FAULT_GONE)) {
		return KERN_FAILURE;
	}
	*id = e->id;
	return KERN_SUCCESS;
}

kern_return_t IORegistryEntryGetNameInPlane(io_registry_entry_t handle, const io_name_t plane, io_name_t name) {
	(void)plane;
	sim_entry *e = sim_lookup(handle, SIM_ENTRY);
	if (e == NULL) {
		return KERN_FAILURE;
	}
	snprintf(name, sizeof(io_name_t), "%s", e->name);
	return KERN_SUCCESS;
}

kern_return_t IORegistryEntryGetName(io_registry_entry_t handle, io_name_t name) {
	return IORegistryEntryGetNameInPlane(handle, kIOServicePlane, name);
}

kern_return_t IORegistryEntryGetLocationInPlane(io_registry_entry_t handle, const io_name_t plane, io_name_t location) {
	(void)plane;
	sim_entry *e = sim_lookup(handle, SIM_ENTRY);
	if (e == NULL || e->location[0] == 0) {
		return KERN_FAILURE;
	}
	snprintf(location, sizeof(io_name_t), "%s", e->location);
	return KERN_SUCCESS;
}

static CFTypeRef property(sim_entry *e, CFStringRef key) {
	sim_lock(e->machine);
	CFTypeRef value = CFDictionaryGetValue(e->properties, key);
	if (value != NULL) {
		CFRetain(value);
	}
	sim_unlock(e->machine);
	return value;
}

CFTypeRef IORegistryEntryCreateCFProperty(io_registry_entry_t handle, CFStringRef key, CFAllocatorRef allocator, IOOptionBits options) {
	(void)allocator;
	(void)options;
	sim_entry *e = sim_lookup(handle, SIM_ENTRY);
	if (e == NULL || sim_fault(e->machine, SIM_FAULT_VANISH)) {
		return NULL;
	}
	return property(e, key);
}

CFTypeRef IORegistryEntrySearchCFProperty(io_registry_entry_t handle, const io_name_t plane, CFStringRef key,
	CFAllocatorRef allocator, IOOptionBits options) {
	(void)plane;
	(void)allocator;
	sim_entry *e = sim_lookup(handle, SIM_ENTRY);
	if (e == NULL || sim_fault(e->machine, SIM_FAULT_VANISH)) {
		return NULL;
	}
	sim_machine *m = e->machine;
	CFTypeRef value = NULL;
	sim_lock(m);
	for (; e != NULL && value == NULL; e = (options & kIORegistryIterateParents) != 0 ? e->parent : NULL) {
		value = property(e, key);
	}
	sim_unlock(m);
	return value;
}

// descend follows a path of names below an entry; the lock is held.
static sim_entry *descend(sim_entry *e, const char *path) {
	while (e != NULL && *path != 0) {
		size_t length = strcspn(path, "/");
		sim_entry *next = NULL;
		for (size_t i = 0; i < e->count && next == NULL; i++) {
			if (strlen(e->children[i]->name) == length && strncmp(e->children[i]->name, path, length) == 0) {
				next = e->children[i];
			}
		}
		e = next;
		path += length + (path[length] == '/');
	}
	return e;
}

io_registry_entry_t IORegistryEntryFromPath(mach_port_t port, const io_string_t path) {
	(void)port;
	sim_machine *m = sim_here();
	if (strncmp(path, "IODeviceTree:/", 14) != 0) {
		return IO_OBJECT_NULL;
	}
	sim_lock(m);
	sim_entry *e = descend(m->tree_root, path + 14);
	io_registry_entry_t found = e == NULL ? IO_OBJECT_NULL : sim_handle(SIM_ENTRY, sim_entry_retain(e));
	sim_unlock(m);
	return found;
}
