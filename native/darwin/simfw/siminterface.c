//go:build darwinsim && linux && cgo

#include "sim.h"

#include <SystemConfiguration/SystemConfiguration.h>

#include "control.h"

// An interface is the dictionary that describes it.
CFArrayRef SCNetworkInterfaceCopyAll(void) {
	sim_machine *m = sim_here();
	sim_lock(m);
	CFArrayRef all = sim_copy(m->interfaces);
	sim_unlock(m);
	return all;
}

static CFStringRef field(SCNetworkInterfaceRef interface, CFStringRef name) {
	return CFDictionaryGetValue((CFDictionaryRef)interface, name);
}

// A bridge is an interface too.
CFStringRef SCNetworkInterfaceGetBSDName(SCNetworkInterfaceRef interface) {
	return CFGetTypeID(interface) == SIM_NETWORK ? sim_network_name(interface) : field(interface, CFSTR("name"));
}
CFStringRef SCNetworkInterfaceGetInterfaceType(SCNetworkInterfaceRef interface) { return field(interface, CFSTR("type")); }
CFStringRef SCNetworkInterfaceGetLocalizedDisplayName(SCNetworkInterfaceRef interface) {
	return field(interface, CFSTR("display_name"));
}

void sim_interfaces_set(sim_machine *m, const uint8_t *value, size_t length) {
	sim_lock(m);
	CFRelease(m->interfaces);
	m->interfaces = (CFMutableArrayRef)sim_decode(value, length);
	sim_unlock(m);
}

static void set(sim_machine *m, CFMutableDictionaryRef in, const char *name, const uint8_t *value, size_t length) {
	CFStringRef key = sim_text(name);
	sim_lock(m);
	if (value == NULL) {
		sim_dictionary_remove(in, key);
	} else {
		CFTypeRef made = sim_decode(value, length);
		CFDictionarySetValue(in, key, made);
		CFRelease(made);
	}
	sim_unlock(m);
	CFRelease(key);
}

void sim_bridge_set(sim_machine *m, const char *name, const uint8_t *members, size_t length) { set(m, m->bridges, name, members, length); }
void sim_value_set(sim_machine *m, const char *name, const uint8_t *value, size_t length) { set(m, m->values, name, value, length); }

void sim_symbol_missing(sim_machine *m, const char *name, bool missing) {
	const uint8_t yes = 't';
	set(m, m->missing, name, missing ? &yes : NULL, missing ? 1 : 0);
}
