//go:build cgo && (darwin || darwinsim)

#include <IOKit/IOKitLib.h>
#include <IOKit/IOMessage.h>
#include <stdlib.h>
#include <string.h>

#include "value.h"
#include "watchparts.h"

// watched is a base class whose services are announced when they come and go. Of
// those with interest, changes of the service itself are announced too.
typedef struct {
	const char *class_name;
	bool interest;
} watched;

static const watched classes[] = {
	{"IOThunderboltController", false},
	{"IOThunderboltSwitch", false},
	{"IOThunderboltXDomainLink", false},
	{"IOThunderboltXDomainService", false},
	{"IOThunderboltPort", true}, // whether a lane announces its retraining is not documented
	{"AppleThunderboltIPPort", true},
	{"IOEthernetInterface", false},
	{"AppleThunderboltRDMAInterface", true},
	{"AppleThunderboltRDMAPeerInterface", false},
};

enum { CLASSES = sizeof classes / sizeof classes[0] };

typedef struct {
	fulmen_iokit_part *part;
	const watched *of;
	bool coming; // else going
	io_iterator_t iterator;
} subscription;

// interest is a service that was asked to announce its changes.
typedef struct interest {
	struct interest *next;
	uint64_t id;
	const char *class_name;
	io_object_t notification;
} interest;

struct fulmen_iokit_part {
	uintptr_t handle;
	bool armed; // what is there when arming is no news
	IONotificationPortRef port;
	subscription subscriptions[2 * CLASSES];
	interest *interests;
};

static interest **find(fulmen_iokit_part *part, uint64_t id) {
	interest **at = &part->interests;
	while (*at != NULL && (*at)->id != id) {
		at = &(*at)->next;
	}
	return at;
}

static void drop(fulmen_iokit_part *part, uint64_t id) {
	interest **at = find(part, id);
	interest *gone = *at;
	if (gone != NULL) {
		*at = gone->next;
		IOObjectRelease(gone->notification);
		free(gone);
	}
}

// announced gets the part and looks the service up, because a message may still
// be on its way when its interest has been dropped.
static void announced(void *refcon, io_service_t service, uint32_t message, void *argument) {
	(void)argument;
	fulmen_iokit_part *part = refcon;
	uint64_t id;
	if (IORegistryEntryGetRegistryEntryID(service, &id) != KERN_SUCCESS) {
		return;
	}
	interest *of = *find(part, id);
	if (of == NULL) {
		return;
	}
	const char *class_name = of->class_name;
	if (message == kIOMessageServiceIsTerminated) {
		drop(part, id); // its class announces that it went
		return;
	}
	fulmenAnnounce(part->handle, FULMEN_IOKIT, "interest", (char *)class_name, (int64_t)id, message);
}

static void be_interested(fulmen_iokit_part *part, const char *class_name, io_service_t service, uint64_t id) {
	interest *added = calloc(1, sizeof *added);
	if (added == NULL) {
		return; // the slow re-read stands in
	}
	added->id = id;
	added->class_name = class_name;
	if (IOServiceAddInterestNotification(part->port, service, kIOGeneralInterest, announced, part, &added->notification) != KERN_SUCCESS) {
		free(added);
		return;
	}
	added->next = part->interests;
	part->interests = added;
}

// is_lane reports whether a port of a router is one end of a cable's lane and not
// an adapter for PCIe, USB or displays, of which there are ten times as many.
static bool is_lane(io_service_t port) {
	bool lane = false;
	CFTypeRef value = IORegistryEntryCreateCFProperty(port, CFSTR("Adapter Type"), kCFAllocatorDefault, 0);
	int64_t type = 0;
	if (value != NULL && CFGetTypeID(value) == CFNumberGetTypeID() && CFNumberGetValue(value, kCFNumberSInt64Type, &type)) {
		lane = type == 1;
	}
	fulmen_release(value);
	if (!lane) {
		value = IORegistryEntryCreateCFProperty(port, CFSTR("Description"), kCFAllocatorDefault, 0);
		lane = fulmen_string_is(value, "Thunderbolt Port");
		fulmen_release(value);
	}
	return lane;
}

// drain takes all that an iterator holds: it is silent from then on until it was
// emptied again.
static void drain(void *refcon, io_iterator_t iterator) {
	subscription *s = refcon;
	io_service_t service;
	while ((service = IOIteratorNext(iterator)) != IO_OBJECT_NULL) {
		uint64_t id = 0;
		bool known = IORegistryEntryGetRegistryEntryID(service, &id) == KERN_SUCCESS;
		if (known && s->of->interest) {
			drop(s->part, id);
			if (s->coming && (strcmp(s->of->class_name, "IOThunderboltPort") != 0 || is_lane(service))) {
				be_interested(s->part, s->of->class_name, service, id);
			}
		}
		if (s->part->armed) {
			fulmenAnnounce(s->part->handle, FULMEN_IOKIT, s->coming ? "matched" : "terminated", (char *)s->of->class_name, (int64_t)id, 0);
		}
		IOObjectRelease(service);
	}
}

static int subscribe(subscription *s) {
	CFMutableDictionaryRef wanted = IOServiceMatching(s->of->class_name);
	if (wanted == NULL) {
		return FULMEN_MEMORY;
	}
	int result = IOServiceAddMatchingNotification(s->part->port, s->coming ? kIOFirstMatchNotification : kIOTerminatedNotification,
		wanted, drain, s, &s->iterator); // it consumes wanted
	if (result == FULMEN_OK) {
		drain(s, s->iterator);
	}
	return result;
}

// watch_switch listens to the firmware's variables, one of which is the switch
// for RDMA.
static void watch_switch(fulmen_iokit_part *part) {
	io_registry_entry_t options = IORegistryEntryFromPath(kIOMainPortDefault, "IODeviceTree:/options");
	uint64_t id;
	if (options == IO_OBJECT_NULL) {
		return;
	}
	if (IORegistryEntryGetRegistryEntryID(options, &id) == KERN_SUCCESS) {
		be_interested(part, "IODTNVRAM", options, id);
	}
	IOObjectRelease(options);
}

int fulmen_iokit_arm(uintptr_t handle, fulmen_iokit_part **into) {
	fulmen_iokit_part *part = calloc(1, sizeof *part);
	if (part == NULL) {
		return FULMEN_MEMORY;
	}
	part->handle = handle;
	part->port = IONotificationPortCreate(kIOMainPortDefault);
	if (part->port == NULL) {
		free(part);
		return FULMEN_MEMORY;
	}
	CFRunLoopAddSource(CFRunLoopGetCurrent(), IONotificationPortGetRunLoopSource(part->port), kCFRunLoopDefaultMode);
	int result = FULMEN_OK;
	for (int i = 0; i < 2 * CLASSES && result == FULMEN_OK; i++) {
		part->subscriptions[i] = (subscription){.part = part, .of = &classes[i / 2], .coming = i % 2 == 0};
		result = subscribe(&part->subscriptions[i]);
	}
	if (result != FULMEN_OK) {
		fulmen_iokit_disarm(part);
		return result;
	}
	watch_switch(part);
	part->armed = true;
	*into = part;
	return FULMEN_OK;
}

void fulmen_iokit_disarm(fulmen_iokit_part *part) {
	if (part == NULL) {
		return;
	}
	while (part->interests != NULL) {
		drop(part, part->interests->id);
	}
	for (int i = 0; i < 2 * CLASSES; i++) {
		if (part->subscriptions[i].iterator != IO_OBJECT_NULL) {
			IOObjectRelease(part->subscriptions[i].iterator);
		}
	}
	// With the port goes its run loop source, and what it still held.
	IONotificationPortDestroy(part->port);
	free(part);
}
