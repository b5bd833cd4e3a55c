//go:build darwinsim && linux && cgo

#include "simpreferences.h"

#include <stdio.h>
#include <string.h>

#include "control.h"
#include "simlibraries.h"

SIM_CONSTANT(kSCPropNetIPv4ConfigMethod, "ConfigMethod");
SIM_CONSTANT(kSCPropNetIPv4Addresses, "Addresses");
SIM_CONSTANT(kSCPropNetIPv4SubnetMasks, "SubnetMasks");
SIM_CONSTANT(kSCValNetIPv4ConfigMethodManual, "Manual");
SIM_CONSTANT(kSCPropNetIPv6ConfigMethod, "ConfigMethod");
SIM_CONSTANT(kSCValNetIPv6ConfigMethodLinkLocal, "LinkLocal");
SIM_CONSTANT(kSCNetworkProtocolTypeIPv4, "IPv4");
SIM_CONSTANT(kSCNetworkProtocolTypeIPv6, "IPv6");

// object is a service, a protocol of one, a set or a bridge: a place in a
// session's copy.
typedef struct {
	sim_base base;
	SCPreferencesRef preferences;
	CFStringRef name;      // a service's identifier, a bridge's name
	CFStringRef protocol;  // of a protocol
	CFTypeRef members;     // a bridge's, as they were last handed out
} object;

static void destroy(void *made) {
	object *o = made;
	sim_drop(o->preferences);
	sim_drop(o->name);
	sim_drop(o->protocol);
	sim_drop(o->members);
}

static object *make(SCPreferencesRef preferences, CFStringRef name) {
	sim_set_destroy(SIM_NETWORK, destroy);
	object *o = sim_make(SIM_NETWORK, sizeof *o);
	o->preferences = CFRetain(preferences);
	o->name = name == NULL ? NULL : CFRetain(name);
	return o;
}

// below gives a dictionary in a dictionary, making it where it is missing.
static CFMutableDictionaryRef below(CFMutableDictionaryRef in, CFStringRef key) {
	CFTypeRef have = CFDictionaryGetValue(in, key);
	if (have == NULL) {
		have = CFDictionaryCreateMutable(NULL, 0, NULL, NULL);
		CFDictionarySetValue(in, key, have);
		CFRelease(have);
	}
	return (CFMutableDictionaryRef)have;
}

static CFMutableDictionaryRef copy_of(const object *o) { return sim_preferences_copy(o->preferences); }
static CFMutableDictionaryRef services(const object *o) { return below(copy_of(o), CFSTR("NetworkServices")); }

static bool in_a_bridge(CFMutableDictionaryRef copy, CFStringRef name) {
	CFDictionaryRef bridges = below(below(copy, CFSTR("VirtualNetworkInterfaces")), CFSTR("Bridge"));
	CFIndex count = CFDictionaryGetCount(bridges);
	const void *all[64];
	if (count > 64) {
		return false;
	}
	CFDictionaryGetKeysAndValues(bridges, NULL, all);
	for (CFIndex i = 0; i < count; i++) {
		CFArrayRef members = CFDictionaryGetValue(all[i], CFSTR("Interfaces"));
		for (CFIndex k = 0; members != NULL && k < CFArrayGetCount(members); k++) {
			if (CFEqual(CFArrayGetValueAtIndex(members, k), name)) {
				return true;
			}
		}
	}
	return false;
}

SCNetworkServiceRef SCNetworkServiceCreate(SCPreferencesRef preferences, SCNetworkInterfaceRef interface) {
	static int next;
	CFStringRef device = SCNetworkInterfaceGetBSDName(interface);
	if (in_a_bridge(sim_preferences_copy(preferences), device)) {
		sim_set_error(kSCStatusFailed);
		return NULL;
	}
	char id[64];
	snprintf(id, sizeof id, "00000000-0000-0000-0000-%012d", __atomic_add_fetch(&next, 1, __ATOMIC_SEQ_CST));
	CFStringRef name = sim_text(id);
	object *o = make(preferences, name);
	CFRelease(name);
	CFDictionarySetValue(below(below(services(o), o->name), CFSTR("Interface")), CFSTR("DeviceName"), device);
	return (SCNetworkServiceRef)o;
}

SCNetworkServiceRef SCNetworkServiceCopy(SCPreferencesRef preferences, CFStringRef id) {
	object *o = make(preferences, id);
	if (CFDictionaryGetValue(services(o), id) == NULL) {
		CFRelease(o);
		return NULL;
	}
	return (SCNetworkServiceRef)o;
}

static CFMutableDictionaryRef of(SCNetworkServiceRef service) {
	const object *o = (const object *)service;
	return below(services(o), o->name);
}

Boolean SCNetworkServiceEstablishDefaultConfiguration(SCNetworkServiceRef service) {
	CFDictionarySetValue(below(of(service), CFSTR("IPv4")), CFSTR("ConfigMethod"), CFSTR("DHCP"));
	return true;
}

Boolean SCNetworkServiceSetName(SCNetworkServiceRef service, CFStringRef name) {
	CFDictionarySetValue(of(service), CFSTR("UserDefinedName"), name);
	return true;
}

Boolean SCNetworkServiceSetEnabled(SCNetworkServiceRef service, Boolean enabled) {
	if (enabled) {
		sim_dictionary_remove(of(service), CFSTR("__INACTIVE__"));
	} else {
		CFDictionarySetValue(of(service), CFSTR("__INACTIVE__"), kCFBooleanTrue);
	}
	return true;
}

CFStringRef SCNetworkServiceGetServiceID(SCNetworkServiceRef service) { return ((const object *)service)->name; }

SCNetworkProtocolRef SCNetworkServiceCopyProtocol(SCNetworkServiceRef service, CFStringRef type) {
	const object *s = (const object *)service;
	object *o = make(s->preferences, s->name);
	o->protocol = CFRetain(type);
	return (SCNetworkProtocolRef)o;
}

Boolean SCNetworkProtocolSetConfiguration(SCNetworkProtocolRef protocol, CFDictionaryRef configuration) {
	const object *o = (const object *)protocol;
	CFTypeRef copy = sim_copy(configuration);
	CFDictionarySetValue(below(services(o), o->name), o->protocol, copy);
	CFRelease(copy);
	return true;
}

SCNetworkSetRef SCNetworkSetCopyCurrent(SCPreferencesRef preferences) { return (SCNetworkSetRef)make(preferences, NULL); }

// network is the current set's dictionary of that name.
static CFMutableDictionaryRef network(const object *o) {
	CFMutableDictionaryRef copy = copy_of(o);
	CFStringRef current = CFDictionaryGetValue(copy, CFSTR("CurrentSet"));
	CFStringRef id = sim_text(current == NULL ? "none" : sim_chars(current) + strlen("/Sets/"));
	CFMutableDictionaryRef found = below(below(below(copy, CFSTR("Sets")), id), CFSTR("Network"));
	CFRelease(id);
	return found;
}

Boolean SCNetworkSetAddService(SCNetworkSetRef set, SCNetworkServiceRef service) {
	const object *s = (const object *)service;
	below(below(network((const object *)set), CFSTR("Service")), s->name);
	return true;
}

Boolean SCNetworkServiceRemove(SCNetworkServiceRef service) {
	const object *s = (const object *)service;
	sim_dictionary_remove(below(network(s), CFSTR("Service")), s->name);
	sim_dictionary_remove(services(s), s->name);
	return true;
}

CFStringRef sim_network_name(const void *o) { return ((const object *)o)->name; }

// Bridges, by functions that are found at run time.
static CFArrayRef copy_bridges(SCPreferencesRef preferences) {
	CFDictionaryRef bridges = below(below(sim_preferences_copy(preferences), CFSTR("VirtualNetworkInterfaces")), CFSTR("Bridge"));
	CFMutableArrayRef all = CFArrayCreateMutable(NULL, 0, NULL);
	const void *names[64];
	CFIndex count = CFDictionaryGetCount(bridges);
	CFDictionaryGetKeysAndValues(bridges, names, NULL);
	for (CFIndex i = 0; i < count; i++) {
		object *o = make(preferences, names[i]);
		CFArrayAppendValue(all, o);
		CFRelease(o);
	}
	return all;
}

static CFMutableDictionaryRef bridge_of(const object *o) {
	return below(below(below(copy_of(o), CFSTR("VirtualNetworkInterfaces")), CFSTR("Bridge")), o->name);
}

static CFArrayRef get_members(SCNetworkInterfaceRef bridge) {
	object *o = (object *)bridge;
	CFArrayRef names = CFDictionaryGetValue(bridge_of(o), CFSTR("Interfaces"));
	CFMutableArrayRef members = CFArrayCreateMutable(NULL, 0, NULL);
	for (CFIndex i = 0; names != NULL && i < CFArrayGetCount(names); i++) {
		const void *keys[] = {CFSTR("name")}, *values[] = {CFArrayGetValueAtIndex(names, i)};
		CFDictionaryRef member = CFDictionaryCreate(NULL, keys, values, 1, NULL, NULL);
		CFArrayAppendValue(members, member);
		CFRelease(member);
	}
	sim_drop(o->members);
	o->members = members;
	return members;
}

static Boolean set_members(SCNetworkInterfaceRef bridge, CFArrayRef members) {
	CFMutableArrayRef names = CFArrayCreateMutable(NULL, 0, NULL);
	for (CFIndex i = 0; i < CFArrayGetCount(members); i++) {
		CFArrayAppendValue(names, SCNetworkInterfaceGetBSDName(CFArrayGetValueAtIndex(members, i)));
	}
	CFDictionarySetValue(bridge_of((const object *)bridge), CFSTR("Interfaces"), names);
	CFRelease(names);
	return true;
}

const sim_symbol sim_bridge_symbols[] = {
	{"/SystemConfiguration", "SCBridgeInterfaceCopyAll", (void *)copy_bridges},
	{"/SystemConfiguration", "SCBridgeInterfaceGetMemberInterfaces", (void *)get_members},
	{"/SystemConfiguration", "SCBridgeInterfaceSetMemberInterfaces", (void *)set_members},
	{NULL, NULL, NULL},
};
