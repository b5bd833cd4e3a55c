// What the simulated frameworks share. Nothing of native/darwin includes it.
#ifndef FULMEN_SIM_H
#define FULMEN_SIM_H

#include <CoreFoundation/CoreFoundation.h>
#include <IOKit/IOKitLib.h>
#include <dispatch/dispatch.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Every CoreFoundation object begins so. Objects of other frameworks that are
// CoreFoundation types there are here too.
enum sim_type {
	SIM_NONE,
	SIM_STRING,
	SIM_NUMBER,
	SIM_BOOLEAN,
	SIM_DATA,
	SIM_ARRAY,
	SIM_DICTIONARY,
	SIM_SOURCE,
	SIM_LOOP,
	SIM_STORE,
	SIM_PREFERENCES,
	SIM_NETWORK, // an interface, a service, a protocol, a set
	SIM_REPORT,
	SIM_TYPES,
};

typedef struct {
	enum sim_type type;
	int references; // below 0: lives for ever
} sim_base;

struct __CFString {
	sim_base base;
	char *text;
};

// SIM_CONSTANT defines a string that lives for ever.
#define SIM_CONSTANT(name, content) \
	static const struct __CFString name##_string = {{SIM_STRING, -1}, (char *)content}; \
	const CFStringRef name = &name##_string

// sim_make allocates an object of a type with one reference; what is allocated
// and not yet destroyed is counted. destroy, by type, releases what it holds.
void *sim_make(enum sim_type type, size_t size);
void sim_set_destroy(enum sim_type type, void (*destroy)(void *object));
void sim_drop(const void *object); // CFRelease that takes NULL
CFStringRef sim_text(const char *utf8);
const char *sim_chars(CFStringRef text);

// sim_misused notes a use of what is not there; tests hold that there was none.
void sim_misused(const char *what);

// Values in the form of native/darwin/buffer.h.
CFTypeRef sim_decode(const uint8_t *bytes, size_t length);
// sim_copy copies a property list to its leaves, dictionaries mutable.
CFTypeRef sim_copy(CFTypeRef value);
// sim_number is a whole number of a dictionary, 0 where there is none.
int64_t sim_number(CFDictionaryRef of, CFStringRef key);
void sim_dictionary_remove(CFMutableDictionaryRef dictionary, const void *key);
void sim_array_remove(CFMutableArrayRef array, CFIndex index);

CFStringRef sim_network_name(const void *object);

// A run loop source whose perform runs on the loop's thread once it is signalled.
CFRunLoopSourceRef sim_source(void *info, void (*perform)(void *info));

typedef struct sim_entry sim_entry;
typedef struct sim_machine sim_machine;
typedef struct sim_subscription sim_subscription;

// Faults, each armed for so many times.
enum {
	SIM_FAULT_INVALIDATE, // an iterator is invalid after its first element
	SIM_FAULT_VANISH,     // a property is gone when it is read
	SIM_FAULT_GONE,       // an entry is gone between match and read
	SIM_FAULT_MATCH,      // the matching itself fails
	SIM_FAULT_COMMIT,     // somebody else committed first
	SIM_FAULT_STORE,      // configd does not answer
	SIM_FAULT_EVENTS,     // a stream of events does not start
	SIM_FAULTS,
};

// Hooks call back into who made the machine.
enum { SIM_HOOK_APPLIED, SIM_HOOK_ALLOWED, SIM_HOOK_ASSERTION, SIM_HOOK_BRIDGE };
extern void simHook(uintptr_t handle, int hook, int64_t value);

typedef struct sim_port sim_port;

struct sim_machine {
	pthread_mutex_t lock; // recursive
	uintptr_t handle;
	sim_entry *service_root;
	sim_entry *tree_root;
	sim_subscription *subscriptions;
	int faults[SIM_FAULTS];

	CFMutableDictionaryRef store;
	void *store_sessions;
	CFMutableDictionaryRef stored;
	uint64_t stored_generation;
	bool stored_held; // by one session, or by who stores from outside
	pthread_cond_t stored_free;
	void *preference_sessions;
	CFMutableArrayRef interfaces; // dictionaries: name, type, display_name
	CFMutableDictionaryRef bridges; // name -> array of members, in the kernel

	void *power_clients;
	CFTypeRef power_info; // dictionary: type, sources
	void *power_sources;
	void *pressure_sources;
	void *event_streams;
	CFMutableDictionaryRef missing; // symbols that do not resolve
	CFMutableDictionaryRef values;  // what C asks of the rest of the system
	uint32_t next_assertion;
};

// sim_here is the machine whose thread this is.
sim_machine *sim_here(void);
// sim_fault takes one of the armed faults of a kind.
bool sim_fault(sim_machine *m, int kind);
void sim_lock(sim_machine *m);
void sim_unlock(sim_machine *m);

// Mach ports: what a handle stands for.
enum sim_kind { SIM_FREE, SIM_ENTRY, SIM_ITERATOR, SIM_NOTIFICATION, SIM_CONNECTION };
io_object_t sim_handle(enum sim_kind kind, void *object);
void *sim_lookup(io_object_t handle, enum sim_kind kind); // NULL and noted where there is none
enum sim_kind sim_kind_of(io_object_t handle);

// sim_queue_retain keeps a queue of libdispatch for another.
void sim_queue_retain(dispatch_queue_t queue);

// sim_connection is what a program has opened.
typedef struct {
	sim_machine *machine;
} sim_connection;

struct sim_entry {
	int references;
	uint64_t id;
	char *name, *location, *class_name;
	CFMutableDictionaryRef properties;
	sim_machine *machine;
	sim_entry *parent;
	sim_entry **children;
	size_t count;
	uint64_t generation; // of the list of children
	bool gone;
};

sim_entry *sim_entry_retain(sim_entry *e);
void sim_entry_release(sim_entry *e);
sim_entry *sim_find(sim_entry *root, uint64_t id);
bool sim_conforms(const char *class_name, const char *base);
// sim_publish and sim_terminate tell the subscriptions; the lock is held.
void sim_publish(sim_entry *e);
void sim_terminate(sim_entry *e);
void sim_message(sim_entry *e, uint32_t message);
// The iterator of a subscription, which is armed again once it is empty.
sim_entry *sim_subscription_next(sim_subscription *s);
void sim_subscription_free(sim_subscription *s);
void sim_interest_free(void *interest);
void sim_connection_free(void *connection);

#endif
