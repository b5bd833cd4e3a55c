//go:build darwinsim && linux && cgo

#include "sim.h"

#include <IOKit/ps/IOPowerSources.h>
#include <IOKit/pwr_mgt/IOPMLib.h>
#include <stdlib.h>

#include "control.h"
#include "ports.h"

// client is one registration for system power.
typedef struct client {
	struct client *next;
	sim_machine *machine;
	IONotificationPortRef port;
	IOServiceInterestCallback callback;
	void *refcon;
	io_object_t notifier;
} client;

typedef sim_connection connection;

io_connect_t IORegisterForSystemPower(void *refcon, IONotificationPortRef *port, IOServiceInterestCallback callback, io_object_t *notifier) {
	sim_machine *m = sim_here();
	client *c = calloc(1, sizeof *c);
	connection *root = calloc(1, sizeof *root);
	root->machine = m;
	*port = IONotificationPortCreate(kIOMainPortDefault);
	io_connect_t handle = sim_handle(SIM_CONNECTION, root);
	// The notifier is a handle like the root's, which only its owner releases.
	connection *token = calloc(1, sizeof *token);
	token->machine = m;
	*notifier = sim_handle(SIM_CONNECTION, token);
	*c = (client){.machine = m, .port = *port, .callback = callback, .refcon = refcon, .notifier = *notifier};
	sim_count(1);
	sim_lock(m);
	c->next = m->power_clients;
	m->power_clients = c;
	sim_unlock(m);
	return handle;
}

IOReturn IODeregisterForSystemPower(io_object_t *notifier) {
	connection *token = sim_lookup(*notifier, SIM_CONNECTION);
	if (token == NULL) {
		return KERN_FAILURE;
	}
	sim_machine *m = token->machine;
	sim_lock(m);
	for (client **at = (client **)&m->power_clients; *at != NULL; at = &(*at)->next) {
		if ((*at)->notifier == *notifier) {
			client *gone = *at;
			*at = gone->next;
			sim_count(-1);
			free(gone);
			break;
		}
	}
	sim_unlock(m);
	return IOObjectRelease(*notifier);
}

void sim_connection_free(void *object) { free(object); }

IOReturn IOAllowPowerChange(io_connect_t root, intptr_t notice) {
	connection *c = sim_lookup(root, SIM_CONNECTION);
	if (c == NULL) {
		return KERN_FAILURE;
	}
	simHook(c->machine->handle, SIM_HOOK_ALLOWED, notice);
	return KERN_SUCCESS;
}

void sim_power_message(sim_machine *m, uint32_t message, intptr_t notice) {
	sim_lock(m);
	for (client *c = m->power_clients; c != NULL; c = c->next) {
		sim_post_interest(c->port, c->callback, c->refcon, message, (void *)notice);
	}
	sim_unlock(m);
}

IOReturn IOPMAssertionCreateWithName(CFStringRef type, IOPMAssertionLevel level, CFStringRef name, IOPMAssertionID *assertion) {
	(void)type;
	(void)level;
	(void)name;
	sim_machine *m = sim_here();
	sim_lock(m);
	*assertion = ++m->next_assertion;
	sim_unlock(m);
	sim_count(1);
	simHook(m->handle, SIM_HOOK_ASSERTION, *assertion);
	return KERN_SUCCESS;
}

IOReturn IOPMAssertionRelease(IOPMAssertionID assertion) {
	sim_count(-1);
	simHook(sim_here()->handle, SIM_HOOK_ASSERTION, -(int64_t)assertion);
	return KERN_SUCCESS;
}

// What the machine runs on: a dictionary with "type" and "sources".
CFTypeRef IOPSCopyPowerSourcesInfo(void) {
	sim_machine *m = sim_here();
	sim_lock(m);
	CFTypeRef info = m->power_info == NULL ? NULL : CFRetain(m->power_info);
	sim_unlock(m);
	return info;
}

CFArrayRef IOPSCopyPowerSourcesList(CFTypeRef info) {
	CFTypeRef sources = CFDictionaryGetValue(info, CFSTR("sources"));
	return sources == NULL ? NULL : CFRetain(sources);
}

CFDictionaryRef IOPSGetPowerSourceDescription(CFTypeRef info, CFTypeRef source) {
	(void)info;
	return source;
}

CFStringRef IOPSGetProvidingPowerSourceType(CFTypeRef info) { return CFDictionaryGetValue(info, CFSTR("type")); }

// listener is a run loop source for changes of the power source. It lives as long
// as the machine's list has it; an invalid source is never signalled.
typedef struct listener {
	struct listener *next;
	IOPowerSourceCallbackType callback;
	void *context;
	CFRunLoopSourceRef source;
} listener;

static void told(void *info) {
	listener *l = info;
	l->callback(l->context);
}

CFRunLoopSourceRef IOPSNotificationCreateRunLoopSource(IOPowerSourceCallbackType callback, void *context) {
	sim_machine *m = sim_here();
	listener *l = calloc(1, sizeof *l);
	*l = (listener){.callback = callback, .context = context, .source = sim_source(l, told)};
	CFRetain(l->source);
	sim_lock(m);
	l->next = m->power_sources;
	m->power_sources = l;
	sim_unlock(m);
	return l->source;
}

// only_ours finds listeners whose source the other side has released.
static void sweep(sim_machine *m) {
	for (listener **at = (listener **)&m->power_sources; *at != NULL;) {
		listener *l = *at;
		if (((const sim_base *)l->source)->references > 1) {
			at = &l->next;
			continue;
		}
		*at = l->next;
		CFRelease(l->source);
		free(l);
	}
}

void sim_power_source_set(sim_machine *m, const uint8_t *value, size_t length) {
	sim_lock(m);
	sweep(m);
	if (value != NULL) {
		sim_drop(m->power_info);
		m->power_info = sim_decode(value, length);
	}
	for (listener *l = m->power_sources; l != NULL; l = l->next) {
		CFRunLoopSourceSignal(l->source);
	}
	sim_unlock(m);
}
