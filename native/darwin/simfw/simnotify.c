//go:build darwinsim && linux && cgo

#include "sim.h"

#include <IOKit/IOMessage.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "ports.h"

// message is what waits to be told on a port's run loop.
typedef struct message {
	struct message *next;
	IOServiceMatchingCallback matched;
	IOServiceInterestCallback announced;
	void *refcon;
	io_iterator_t iterator;
	sim_entry *entry;
	uint32_t type;
	void *argument;
} message;

struct IONotificationPort {
	sim_machine *machine;
	CFRunLoopSourceRef source;
	message *first, **last;
};

struct sim_subscription {
	sim_subscription *next;
	IONotificationPortRef port;
	char *class_name;
	bool coming, armed;
	IOServiceMatchingCallback callback;
	void *refcon;
	io_iterator_t iterator;
	sim_entry **queue;
	size_t count;
};

typedef struct interest {
	struct interest *next;
	IONotificationPortRef port;
	sim_entry *entry;
	IOServiceInterestCallback callback;
	void *refcon;
} interest;

static void deliver(message *told) {
	if (told->matched != NULL) {
		told->matched(told->refcon, told->iterator);
		return;
	}
	io_service_t service = told->entry == NULL ? IO_OBJECT_NULL : sim_handle(SIM_ENTRY, sim_entry_retain(told->entry));
	told->announced(told->refcon, service, told->type, told->argument);
	if (service != IO_OBJECT_NULL) {
		IOObjectRelease(service);
	}
}

static void free_message(message *told) {
	if (told->entry != NULL) {
		sim_entry_release(told->entry);
	}
	sim_count(-1);
	free(told);
}

// perform tells all that waits, on the loop's thread and without the lock.
static void perform(void *info) {
	IONotificationPortRef port = info;
	for (;;) {
		sim_lock(port->machine);
		message *told = port->first;
		if (told != NULL && (port->first = told->next) == NULL) {
			port->last = &port->first;
		}
		sim_unlock(port->machine);
		if (told == NULL) {
			return;
		}
		deliver(told);
		free_message(told);
	}
}

static void post(IONotificationPortRef port, message what) {
	message *told = malloc(sizeof *told);
	*told = what;
	told->next = NULL;
	sim_count(1);
	*port->last = told;
	port->last = &told->next;
	CFRunLoopSourceSignal(port->source);
}

void sim_post_interest(IONotificationPortRef port, IOServiceInterestCallback callback, void *refcon, uint32_t type, void *argument) {
	post(port, (message){.announced = callback, .refcon = refcon, .type = type, .argument = argument});
}

IONotificationPortRef IONotificationPortCreate(mach_port_t main) {
	(void)main;
	IONotificationPortRef port = calloc(1, sizeof *port);
	port->machine = sim_here();
	port->last = &port->first;
	port->source = sim_source(port, perform);
	sim_count(1);
	return port;
}

CFRunLoopSourceRef IONotificationPortGetRunLoopSource(IONotificationPortRef port) { return port->source; }

void IONotificationPortDestroy(IONotificationPortRef port) {
	CFRunLoopSourceInvalidate(port->source);
	CFRelease(port->source);
	sim_lock(port->machine);
	for (sim_subscription *s = port->machine->subscriptions; s != NULL; s = s->next) {
		if (s->port == port) {
			sim_misused("a notification port was destroyed before its iterators were released");
		}
	}
	while (port->first != NULL) {
		message *told = port->first;
		port->first = told->next;
		free_message(told);
	}
	sim_unlock(port->machine);
	sim_count(-1);
	free(port);
}

static void enqueue(sim_subscription *s, sim_entry *e) {
	s->queue = realloc(s->queue, (s->count + 1) * sizeof *s->queue);
	s->queue[s->count++] = sim_entry_retain(e);
	if (s->armed) {
		s->armed = false; // until its iterator is empty again
		post(s->port, (message){.matched = s->callback, .refcon = s->refcon, .iterator = s->iterator});
	}
}

sim_entry *sim_subscription_next(sim_subscription *s) {
	sim_machine *m = s->port->machine;
	sim_entry *e = NULL;
	sim_lock(m);
	if (s->count > 0) {
		e = s->queue[0];
		memmove(s->queue, s->queue + 1, --s->count * sizeof *s->queue);
	} else {
		s->armed = true;
	}
	sim_unlock(m);
	return e;
}

void sim_subscription_free(sim_subscription *s) {
	sim_machine *m = s->port->machine;
	sim_lock(m);
	for (sim_subscription **at = &m->subscriptions; *at != NULL; at = &(*at)->next) {
		if (*at == s) {
			*at = s->next;
			break;
		}
	}
	for (size_t i = 0; i < s->count; i++) {
		sim_entry_release(s->queue[i]);
	}
	sim_unlock(m);
	free(s->queue);
	free(s->class_name);
	sim_count(-1);
	free(s);
}

static void enqueue_all(sim_subscription *s, sim_entry *below) {
	for (size_t i = 0; i < below->count; i++) {
		sim_entry *e = below->children[i];
		if (e->parent != below) {
			continue;
		}
		if (sim_conforms(e->class_name, s->class_name)) {
			enqueue(s, e);
		}
		enqueue_all(s, e);
	}
}

kern_return_t IOServiceAddMatchingNotification(IONotificationPortRef port, const io_name_t type, CFDictionaryRef matching,
	IOServiceMatchingCallback callback, void *refcon, io_iterator_t *into) {
	if (strcmp(type, kIOFirstMatchNotification) != 0 && strcmp(type, kIOTerminatedNotification) != 0) {
		sim_misused("a notification of another type than first match and terminate");
	}
	sim_subscription *s = calloc(1, sizeof *s);
	sim_count(1);
	s->port = port;
	s->class_name = strdup(sim_chars(CFDictionaryGetValue(matching, CFSTR("IOProviderClass"))));
	s->coming = strcmp(type, kIOTerminatedNotification) != 0;
	s->callback = callback;
	s->refcon = refcon;
	CFRelease(matching);
	sim_lock(port->machine);
	if (s->coming) {
		enqueue_all(s, port->machine->service_root);
	}
	s->next = port->machine->subscriptions;
	port->machine->subscriptions = s;
	s->iterator = *into = sim_subscription_iterator(s);
	sim_unlock(port->machine);
	return KERN_SUCCESS;
}

static void tell(sim_entry *e, bool coming) {
	for (sim_subscription *s = e->machine->subscriptions; s != NULL; s = s->next) {
		if (s->coming == coming && sim_conforms(e->class_name, s->class_name)) {
			enqueue(s, e);
		}
	}
}

void sim_publish(sim_entry *e) { tell(e, true); }

void sim_terminate(sim_entry *e) {
	sim_message(e, kIOMessageServiceIsTerminated);
	tell(e, false);
}

// Interests of all machines; each knows its entry, and so its machine.
static interest *interests;
static pthread_mutex_t interests_lock = PTHREAD_MUTEX_INITIALIZER;

kern_return_t IOServiceAddInterestNotification(IONotificationPortRef port, io_service_t service, const io_name_t type,
	IOServiceInterestCallback callback, void *refcon, io_object_t *into) {
	sim_entry *e = sim_lookup(service, SIM_ENTRY);
	if (strcmp(type, kIOGeneralInterest) != 0) {
		sim_misused("an interest of another type than the general one");
	}
	if (e == NULL || e->gone) {
		return KERN_FAILURE;
	}
	interest *i = calloc(1, sizeof *i);
	*i = (interest){.port = port, .entry = sim_entry_retain(e), .callback = callback, .refcon = refcon};
	pthread_mutex_lock(&interests_lock);
	i->next = interests;
	interests = i;
	pthread_mutex_unlock(&interests_lock);
	*into = sim_handle(SIM_NOTIFICATION, i);
	return KERN_SUCCESS;
}

void sim_interest_free(void *object) {
	interest *gone = object;
	pthread_mutex_lock(&interests_lock);
	for (interest **at = &interests; *at != NULL; at = &(*at)->next) {
		if (*at == gone) {
			*at = gone->next;
			break;
		}
	}
	pthread_mutex_unlock(&interests_lock);
	sim_entry_release(gone->entry);
	free(gone);
}

void sim_message(sim_entry *e, uint32_t type) {
	pthread_mutex_lock(&interests_lock);
	for (interest *i = interests; i != NULL; i = i->next) {
		if (i->entry == e) {
			post(i->port, (message){.announced = i->callback, .refcon = i->refcon, .entry = sim_entry_retain(e), .type = type});
		}
	}
	pthread_mutex_unlock(&interests_lock);
}
