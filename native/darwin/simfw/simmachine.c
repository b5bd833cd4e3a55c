//go:build darwinsim && linux && cgo

#include "sim.h"

#include <stdlib.h>
#include <string.h>

#include "control.h"

static __thread sim_machine *here;

sim_machine *sim_here(void) {
	if (here == NULL) {
		sim_misused("a call from a thread that is of no machine");
		abort();
	}
	return here;
}

void sim_enter(sim_machine *m) { here = m; }

void sim_lock(sim_machine *m) { pthread_mutex_lock(&m->lock); }
void sim_unlock(sim_machine *m) { pthread_mutex_unlock(&m->lock); }

bool sim_fault(sim_machine *m, int kind) {
	sim_lock(m);
	bool fault = m->faults[kind] > 0;
	m->faults[kind] -= fault;
	sim_unlock(m);
	return fault;
}

void sim_arm_fault(sim_machine *m, int kind, int times) {
	sim_lock(m);
	m->faults[kind] = times;
	sim_unlock(m);
}

static sim_entry *new_entry(sim_machine *m, uint64_t id, const char *name, const char *location, const char *class_name,
	CFTypeRef properties) {
	sim_entry *e = calloc(1, sizeof *e);
	e->references = 1;
	e->id = id;
	e->machine = m;
	e->name = strdup(name);
	e->location = strdup(location);
	e->class_name = strdup(class_name);
	e->properties = (CFMutableDictionaryRef)properties;
	sim_count(1);
	return e;
}

sim_machine *sim_machine_new(uintptr_t handle) {
	sim_machine *m = calloc(1, sizeof *m);
	pthread_mutexattr_t recursive;
	pthread_mutexattr_init(&recursive);
	pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&m->lock, &recursive);
	pthread_mutexattr_destroy(&recursive);
	pthread_cond_init(&m->stored_free, NULL);
	m->handle = handle;
	CFMutableDictionaryRef none = CFDictionaryCreateMutable(NULL, 0, NULL, NULL);
	m->service_root = new_entry(m, 0, "Root", "", "IORegistryEntry", none);
	m->tree_root = new_entry(m, 0, "device-tree", "", "IORegistryEntry", CFRetain(none));
	m->store = CFDictionaryCreateMutable(NULL, 0, NULL, NULL);
	m->stored = CFDictionaryCreateMutable(NULL, 0, NULL, NULL);
	m->bridges = CFDictionaryCreateMutable(NULL, 0, NULL, NULL);
	m->missing = CFDictionaryCreateMutable(NULL, 0, NULL, NULL);
	m->values = CFDictionaryCreateMutable(NULL, 0, NULL, NULL);
	m->interfaces = CFArrayCreateMutable(NULL, 0, NULL);
	return m;
}

static void detach_all(sim_entry *e) {
	while (e->count > 0) {
		sim_entry *child = e->children[--e->count];
		detach_all(child);
		child->parent = NULL;
		sim_entry_release(child);
	}
}

void sim_machine_free(sim_machine *m) {
	detach_all(m->service_root);
	detach_all(m->tree_root);
	sim_entry_release(m->service_root);
	sim_entry_release(m->tree_root);
	sim_drop(m->store);
	sim_drop(m->stored);
	sim_drop(m->bridges);
	sim_drop(m->missing);
	sim_drop(m->values);
	sim_drop(m->interfaces);
	sim_drop(m->power_info);
	pthread_cond_destroy(&m->stored_free);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

sim_entry *sim_entry_retain(sim_entry *e) {
	__atomic_add_fetch(&e->references, 1, __ATOMIC_SEQ_CST);
	return e;
}

void sim_entry_release(sim_entry *e) {
	if (__atomic_sub_fetch(&e->references, 1, __ATOMIC_SEQ_CST) > 0) {
		return;
	}
	free(e->name);
	free(e->location);
	free(e->class_name);
	free(e->children);
	CFRelease(e->properties);
	sim_count(-1);
	free(e);
}

sim_entry *sim_find(sim_entry *root, uint64_t id) {
	if (root->id == id) {
		return root;
	}
	for (size_t i = 0; i < root->count; i++) {
		sim_entry *found = sim_find(root->children[i], id);
		if (found != NULL) {
			return found;
		}
	}
	return NULL;
}

static sim_entry *root_of(sim_machine *m, bool device_tree) { return device_tree ? m->tree_root : m->service_root; }

int sim_entry_add(sim_machine *m, bool device_tree, uint64_t parent, uint64_t id, const char *name, const char *location,
	const char *class_name, const uint8_t *properties, size_t length) {
	sim_lock(m);
	sim_entry *above = sim_find(root_of(m, device_tree), parent);
	if (above == NULL) {
		sim_unlock(m);
		return -1;
	}
	sim_entry *e = new_entry(m, id, name, location, class_name, sim_decode(properties, length));
	e->parent = above;
	above->children = realloc(above->children, (above->count + 1) * sizeof(sim_entry *));
	above->children[above->count++] = e;
	above->generation++;
	sim_publish(e);
	sim_unlock(m);
	return 0;
}

// terminate takes what hangs on an entry away first, as the kernel does.
static void terminate(sim_entry *e) {
	while (e->count > 0) {
		terminate(e->children[e->count - 1]);
	}
	sim_entry *above = e->parent;
	for (size_t i = 0; i < above->count; i++) {
		if (above->children[i] == e) {
			memmove(above->children + i, above->children + i + 1, (--above->count - i) * sizeof(sim_entry *));
			break;
		}
	}
	above->generation++;
	e->gone = true;
	sim_terminate(e);
	e->parent = NULL;
	sim_entry_release(e);
}

int sim_entry_remove(sim_machine *m, bool device_tree, uint64_t id) {
	sim_lock(m);
	sim_entry *e = id == 0 ? NULL : sim_find(root_of(m, device_tree), id);
	if (e != NULL) {
		terminate(e);
	}
	sim_unlock(m);
	return e == NULL ? -1 : 0;
}

int sim_entry_set(sim_machine *m, bool device_tree, uint64_t id, const uint8_t *properties, size_t length, uint32_t message) {
	sim_lock(m);
	sim_entry *e = sim_find(root_of(m, device_tree), id);
	if (e != NULL) {
		CFRelease(e->properties);
		e->properties = (CFMutableDictionaryRef)sim_decode(properties, length);
		if (message != 0) {
			sim_message(e, message);
		}
	}
	sim_unlock(m);
	return e == NULL ? -1 : 0;
}

// sim_loop lets an entry be its own grandchild, as no registry should.
int sim_loop(sim_machine *m, uint64_t parent, uint64_t child) {
	sim_lock(m);
	sim_entry *above = sim_find(m->service_root, parent), *e = sim_find(m->service_root, child);
	if (above != NULL && e != NULL) {
		above->children = realloc(above->children, (above->count + 1) * sizeof(sim_entry *));
		above->children[above->count++] = e;
	}
	sim_unlock(m);
	return above == NULL || e == NULL ? -1 : 0;
}

void sim_unloop(sim_machine *m, uint64_t parent) {
	sim_lock(m);
	sim_entry *above = sim_find(m->service_root, parent);
	if (above != NULL && above->count > 0) {
		above->count--;
	}
	sim_unlock(m);
}

bool sim_conforms(const char *class_name, const char *base) {
	size_t length = strlen(base);
	if (strcmp(base, "IOService") == 0 || strcmp(class_name, base) == 0) {
		return true;
	}
	// IOThunderboltSwitchType7, ...IntelJHL9580, AGXAcceleratorG16X.
	const char *rest = class_name + length;
	return strncmp(class_name, base, length) == 0 &&
		(strncmp(rest, "Type", 4) == 0 || strncmp(rest, "Intel", 5) == 0 || (rest[0] == 'G' && strcmp(base, "AGXAccelerator") == 0));
}
