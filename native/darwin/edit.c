//go:build cgo && (darwin || darwinsim)

#define FULMEN_EDIT_INTERNAL
#include "edit.h"

#include <stdlib.h>

#include "store.h"
#include "value.h"

struct fulmen_edit {
	SCPreferencesRef preferences;
	bool locked;
};

SCPreferencesRef fulmen_edit_preferences(fulmen_edit *edit) { return edit->preferences; }

// failure is the result of a call that has just failed.
static int failure(void) { return SCError() == kSCStatusStale ? FULMEN_STALE : FULMEN_REFUSED; }

int fulmen_edit_begin(fulmen_edit **into) {
	fulmen_edit *edit = calloc(1, sizeof *edit);
	if (edit == NULL) {
		return FULMEN_MEMORY;
	}
	int result = FULMEN_OK;
	edit->preferences = SCPreferencesCreate(kCFAllocatorDefault, CFSTR("fulmen"), NULL);
	if (edit->preferences == NULL) {
		result = failure();
	} else if (SCPreferencesLock(edit->preferences, true)) {
		edit->locked = true;
		*into = edit;
		return FULMEN_OK;
	} else {
		result = failure();
	}
	fulmen_edit_end(edit);
	return result;
}

int fulmen_edit_read(fulmen_edit *edit, fulmen_buffer *out) { return fulmen_stored_put(edit->preferences, out); }

int fulmen_edit_commit(fulmen_edit *edit) {
	if (!SCPreferencesCommitChanges(edit->preferences)) {
		return failure();
	}
	return SCPreferencesApplyChanges(edit->preferences) ? FULMEN_OK : failure();
}

void fulmen_edit_end(fulmen_edit *edit) {
	if (edit == NULL) {
		return;
	}
	if (edit->locked) {
		SCPreferencesUnlock(edit->preferences);
	}
	fulmen_release(edit->preferences);
	free(edit);
}

SCNetworkInterfaceRef fulmen_copy_interface(const char *name) {
	CFArrayRef all = SCNetworkInterfaceCopyAll();
	SCNetworkInterfaceRef found = NULL;
	for (CFIndex i = 0; all != NULL && found == NULL && i < CFArrayGetCount(all); i++) {
		SCNetworkInterfaceRef interface = CFArrayGetValueAtIndex(all, i);
		if (fulmen_string_is(SCNetworkInterfaceGetBSDName(interface), name)) {
			found = CFRetain(interface);
		}
	}
	fulmen_release(all);
	return found;
}

// configure gives a protocol of a service a configuration, one level of keys.
static bool configure(SCNetworkServiceRef service, CFStringRef type, const void **keys, const void **values, CFIndex count) {
	SCNetworkProtocolRef protocol = SCNetworkServiceCopyProtocol(service, type);
	CFDictionaryRef configuration = CFDictionaryCreate(kCFAllocatorDefault, keys, values, count,
		&kCFTypeDictionaryKeyCallBacks, &kCFTypeDictionaryValueCallBacks);
	bool done = protocol != NULL && configuration != NULL && SCNetworkProtocolSetConfiguration(protocol, configuration);
	fulmen_release(configuration);
	fulmen_release(protocol);
	return done;
}

// single makes an array of one text.
static CFArrayRef single(const char *text) {
	CFStringRef value = fulmen_string(text);
	if (value == NULL) {
		return NULL;
	}
	const void *values[] = {value};
	CFArrayRef array = CFArrayCreate(kCFAllocatorDefault, values, 1, &kCFTypeArrayCallBacks);
	CFRelease(value);
	return array;
}

static bool configure_ipv4(SCNetworkServiceRef service, const char *address, const char *mask) {
	CFArrayRef addresses = single(address), masks = single(mask);
	const void *keys[] = {kSCPropNetIPv4ConfigMethod, kSCPropNetIPv4Addresses, kSCPropNetIPv4SubnetMasks};
	const void *values[] = {kSCValNetIPv4ConfigMethodManual, addresses, masks};
	bool done = addresses != NULL && masks != NULL && configure(service, kSCNetworkProtocolTypeIPv4, keys, values, 3);
	fulmen_release(addresses);
	fulmen_release(masks);
	return done;
}

static bool configure_ipv6(SCNetworkServiceRef service) {
	const void *keys[] = {kSCPropNetIPv6ConfigMethod};
	const void *values[] = {kSCValNetIPv6ConfigMethodLinkLocal};
	return configure(service, kSCNetworkProtocolTypeIPv6, keys, values, 1);
}

int fulmen_edit_add_service(fulmen_edit *edit, const char *interface_name, const char *name, const char *address, const char *mask,
	fulmen_buffer *out) {
	int result = FULMEN_OK;
	SCNetworkSetRef set = NULL;
	SCNetworkServiceRef service = NULL;
	CFStringRef title = fulmen_string(name);
	SCNetworkInterfaceRef interface = fulmen_copy_interface(interface_name);
	if (interface == NULL) {
		result = FULMEN_GONE;
		goto out;
	}
	set = SCNetworkSetCopyCurrent(edit->preferences);
	service = SCNetworkServiceCreate(edit->preferences, interface);
	// The order is one that was proven on real Macs.
	if (title == NULL || set == NULL || service == NULL || !SCNetworkServiceEstablishDefaultConfiguration(service) ||
		!SCNetworkServiceSetName(service, title) || !configure_ipv4(service, address, mask) || !configure_ipv6(service) ||
		!SCNetworkServiceSetEnabled(service, true) || !SCNetworkSetAddService(set, service)) {
		result = failure();
		goto out;
	}
	fulmen_put_value(out, SCNetworkServiceGetServiceID(service)); // the service's
	result = out->failed ? FULMEN_MEMORY : FULMEN_OK;
out:
	fulmen_release(service);
	fulmen_release(set);
	fulmen_release(interface);
	fulmen_release(title);
	return result;
}

int fulmen_edit_remove_service(fulmen_edit *edit, const char *identifier) {
	CFStringRef id = fulmen_string(identifier);
	SCNetworkServiceRef service = id == NULL ? NULL : SCNetworkServiceCopy(edit->preferences, id);
	int result = FULMEN_GONE;
	if (service != NULL) {
		result = SCNetworkServiceRemove(service) ? FULMEN_OK : failure();
	}
	fulmen_release(service);
	fulmen_release(id);
	return result;
}
