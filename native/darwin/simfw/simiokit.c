//go:build darwinsim && linux && cgo

#include "sim.h"

#include <stdlib.h>
#include <string.h>

#include "control.h"

// Handles: an index and how often that index was used before, so that one that
// was released is known as such.
typedef struct {
	enum sim_kind kind;
	int references;
	uint16_t generation;
	void *object;
} slot;

static pthread_mutex_t slots_lock = PTHREAD_MUTEX_INITIALIZER;
static slot *slots;
static uint32_t slot_count;

typedef struct {
	sim_entry **entries;
	size_t count, next;
	sim_subscription *subscription; // of a matching notification's iterator
	sim_entry *of;                  // whose children it lists
	uint64_t generation;
	bool fault, invalid;
} iterator;

typedef struct {
	void *interest;
} notification;

io_object_t sim_handle(enum sim_kind kind, void *object) {
	pthread_mutex_lock(&slots_lock);
	uint32_t i = 0;
	while (i < slot_count && slots[i].kind != SIM_FREE) {
		i++;
	}
	if (i == slot_count) {
		uint32_t more = slot_count == 0 ? 256 : 2 * slot_count;
		slots = realloc(slots, more * sizeof *slots);
		memset(slots + slot_count, 0, (more - slot_count) * sizeof *slots);
		slot_count = more;
	}
	slots[i] = (slot){kind, 1, (uint16_t)(slots[i].generation + 1), object};
	io_object_t handle = (io_object_t)slots[i].generation << 16 | (i + 1);
	pthread_mutex_unlock(&slots_lock);
	sim_count(1);
	return handle;
}

static slot *slot_of(io_object_t handle) {
	uint32_t i = (handle & 0xFFFF) - 1;
	if (i >= slot_count || slots[i].kind == SIM_FREE || slots[i].generation != handle >> 16) {
		return NULL;
	}
	return &slots[i];
}

enum sim_kind sim_kind_of(io_object_t handle) {
	pthread_mutex_lock(&slots_lock);
	slot *s = slot_of(handle);
	enum sim_kind kind = s == NULL ? SIM_FREE : s->kind;
	pthread_mutex_unlock(&slots_lock);
	return kind;
}

void *sim_lookup(io_object_t handle, enum sim_kind kind) {
	pthread_mutex_lock(&slots_lock);
	slot *s = slot_of(handle);
	void *object = s != NULL && s->kind == kind ? s->object : NULL;
	pthread_mutex_unlock(&slots_lock);
	if (object == NULL) {
		sim_misused("an I/O object was used that is none, or was released");
	}
	return object;
}

kern_return_t IOObjectRetain(io_object_t object) {
	pthread_mutex_lock(&slots_lock);
	slot *s = slot_of(object);
	if (s != NULL) {
		s->references++;
	}
	pthread_mutex_unlock(&slots_lock);
	return s == NULL ? KERN_FAILURE : KERN_SUCCESS;
}

static void free_iterator(iterator *it) {
	for (size_t i = it->next; i < it->count; i++) {
		sim_entry_release(it->entries[i]);
	}
	free(it->entries);
	if (it->of != NULL) {
		sim_entry_release(it->of);
	}
	if (it->subscription != NULL) {
		sim_subscription_free(it->subscription);
	}
	free(it);
}

kern_return_t IOObjectRelease(io_object_t object) {
	pthread_mutex_lock(&slots_lock);
	slot *s = slot_of(object);
	if (s == NULL) {
		pthread_mutex_unlock(&slots_lock);
		sim_misused("an I/O object was released that is none, or twice");
		return KERN_FAILURE;
	}
	slot last = *s;
	if (--s->references == 0) {
		s->kind = SIM_FREE;
		s->object = NULL;
	}
	pthread_mutex_unlock(&slots_lock);
	if (last.references > 1) {
		return KERN_SUCCESS;
	}
	sim_count(-1);
	switch (last.kind) {
	case SIM_ENTRY:
		sim_entry_release(last.object);
		break;
	case SIM_ITERATOR:
		free_iterator(last.object);
		break;
	case SIM_NOTIFICATION:
		sim_interest_free(last.object);
		break;
	case SIM_CONNECTION:
		sim_connection_free(last.object);
		break;
	case SIM_FREE:
		break;
	}
	return KERN_SUCCESS;
}

kern_return_t IOServiceClose(io_connect_t connection) { return IOObjectRelease(connection); }

static void append(iterator *it, sim_entry *e) {
	it->entries = realloc(it->entries, (it->count + 1) * sizeof *it->entries);
	it->entries[it->count++] = sim_entry_retain(e);
}

static io_iterator_t hand_out(sim_machine *m, iterator *it) {
	it->fault = sim_fault(m, SIM_FAULT_INVALIDATE);
	return sim_handle(SIM_ITERATOR, it);
}

io_iterator_t sim_subscription_iterator(sim_subscription *s) {
	iterator *it = calloc(1, sizeof *it);
	it->subscription = s;
	return sim_handle(SIM_ITERATOR, it);
}

static bool has_changed(iterator *it) { return it->invalid || (it->of != NULL && it->of->generation != it->generation); }

io_object_t IOIteratorNext(io_iterator_t handle) {
	iterator *it = sim_lookup(handle, SIM_ITERATOR);
	if (it == NULL) {
		return IO_OBJECT_NULL;
	}
	if (it->subscription != NULL) {
		sim_entry *e = sim_subscription_next(it->subscription);
		return e == NULL ? IO_OBJECT_NULL : sim_handle(SIM_ENTRY, e);
	}
	if (it->fault && it->next == 1) {
		it->invalid = true;
	}
	if (it->next == it->count || has_changed(it)) {
		return IO_OBJECT_NULL;
	}
	return sim_handle(SIM_ENTRY, it->entries[it->next++]);
}

boolean_t IOIteratorIsValid(io_iterator_t handle) {
	iterator *it = sim_lookup(handle, SIM_ITERATOR);
	return it != NULL && !has_changed(it);
}

static void walk(sim_entry *e, const char *class_name, iterator *into) {
	for (size_t i = 0; i < e->count; i++) {
		if (e->children[i]->parent != e) {
			continue; // a loop
		}
		if (class_name == NULL || sim_conforms(e->children[i]->class_name, class_name)) {
			append(into, e->children[i]);
		}
		walk(e->children[i], class_name, into);
	}
}

CFMutableDictionaryRef IOServiceMatching(const char *name) {
	CFMutableDictionaryRef matching = CFDictionaryCreateMutable(NULL, 0, NULL, NULL);
	CFStringRef class_name = sim_text(name);
	CFDictionarySetValue(matching, CFSTR("IOProviderClass"), class_name);
	CFRelease(class_name);
	return matching;
}

kern_return_t IOServiceGetMatchingServices(mach_port_t port, CFDictionaryRef matching, io_iterator_t *existing) {
	(void)port;
	sim_machine *m = sim_here();
	kern_return_t result = KERN_FAILURE;
	if (!sim_fault(m, SIM_FAULT_MATCH)) {
		iterator *it = calloc(1, sizeof *it);
		sim_lock(m);
		walk(m->service_root, sim_chars(CFDictionaryGetValue(matching, CFSTR("IOProviderClass"))), it);
		sim_unlock(m);
		*existing = hand_out(m, it);
		result = KERN_SUCCESS;
	}
	CFRelease(matching);
	return result;
}

io_service_t IOServiceGetMatchingService(mach_port_t port, CFDictionaryRef matching) {
	io_iterator_t all;
	if (IOServiceGetMatchingServices(port, matching, &all) != KERN_SUCCESS) {
		return IO_OBJECT_NULL;
	}
	io_service_t first = IOIteratorNext(all);
	IOObjectRelease(all);
	return first;
}

kern_return_t IORegistryCreateIterator(mach_port_t port, const io_name_t plane, IOOptionBits options, io_iterator_t *into) {
	(void)port;
	(void)options;
	sim_machine *m = sim_here();
	iterator *it = calloc(1, sizeof *it);
	sim_lock(m);
	walk(strcmp(plane, kIODeviceTreePlane) == 0 ? m->tree_root : m->service_root, NULL, it);
	sim_unlock(m);
	*into = hand_out(m, it);
	return KERN_SUCCESS;
}

kern_return_t IORegistryEntryGetChildIterator(io_registry_entry_t handle, const io_name_t plane, io_iterator_t *into) {
	(void)plane;
	sim_entry *e = sim_lookup(handle, SIM_ENTRY);
	if (e == NULL) {
		return KERN_FAILURE;
	}
	iterator *it = calloc(1, sizeof *it);
	sim_lock(e->machine);
	for (size_t i = 0; i < e->count; i++) {
		append(it, e->children[i]);
	}
	it->of = sim_entry_retain(e);
	it->generation = e->generation;
	sim_unlock(e->machine);
	*into = hand_out(e->machine, it);
	return KERN_SUCCESS;
}
