// The imitation of Objective-C and of Apple's frameworks, as its own parts see it.
#ifndef SIM_H
#define SIM_H

#include <objc/runtime.h>

struct sim_call;

// struct objc_method is a method, or what a protocol says of one.
struct objc_method {
	SEL name;
	const char *types;
	IMP imp;
	void (*act)(struct sim_call *);
	struct objc_method *next;
};

struct objc_protocol {
	const char *name;
	struct objc_method *methods;
	struct objc_protocol *next;
};

struct objc_class {
	Class isa, super;
	const char *name;
	struct objc_method *methods;
	bool is_meta;
	Class next;
	const char *framework; // of Apple's; NULL: what darwinkit links is enough for it
};

// struct slot is a value of an object by name: that of a property, or an
// associated object by its key.
struct slot {
	const void *key;
	id object; // retained
	double number[4];
	struct slot *next;
};

struct objc_object {
	Class isa;
	Class was; // its class before it ended; an object that ended is kept, to be known
	long count;
	uintptr_t go;    // darwinkit's handle
	const char *text; // of a string
	struct slot *slots;
	id *items; // of an array; of a dictionary keys and values by turns
	size_t length;
};

// struct sim_call is a message to an object of the imitation.
struct sim_call {
	id self;
	const char *selector;
	const char *types;
	void **arguments; // behind self and selector
	void *result;
};

// sim_fail ends the program, as an exception that nobody catches does.
void sim_fail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
// sim_main fails off the main thread, where no object of the system is touched.
void sim_main(const char *what);
// sim_links fails where the program does not link a framework of Apple's.
void sim_links(const char *framework, const char *what);
// sim_alive fails for an object that ended, and for what is none.
void sim_alive(id o, const char *what);
bool sim_is_block(id o);
bool sim_matching(const char *a, const char *b);
bool sim_is_kind(id o, Class c);
IMP sim_find(id o, const char *selector); // NULL: it has no such method
bool sim_has(id o, const char *selector);

id sim_new(const char *class); // retained
id sim_string(const char *text); // these are autoreleased
id sim_array(size_t length, id *items);
id sim_dictionary(size_t length, id *keys, id *values);
const char *sim_text(id string);
struct slot *sim_slot(id o, const void *key);
void sim_set(id o, const char *key, id value);
id sim_get(id o, const char *key);
id sim_lookup(id dictionary, const char *key);

void *sim_pool_push(void);
void sim_pool_pop(void *pool);
void sim_later(void (*f)(uintptr_t), uintptr_t value); // on the main thread, in order
void sim_run(void);
void sim_stop(void);
void sim_say(const char *what, ...) __attribute__((sentinel)); // words, ended by NULL

// What of Go the parts that stand in for darwinkit's Objective-C call, and what of
// systray's the person does.
void sim_systray(void (*selected)(int), void (*opened)(void));

// struct sim_row is a line of the table of Apple's classes: "NSAlert : NSObject",
// "-layout" with its types, "+alloc"; "@NSApplicationDelegate" begins a protocol, and
// "=ServiceManagement" the classes of a framework that the app itself links.
struct sim_row {
	const char *name, *types;
	void (*act)(struct sim_call *);
};
extern const struct sim_row sim_table[];


#endif
