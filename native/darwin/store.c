//go:build cgo && (darwin || darwinsim)

#include "store.h"

#include "value.h"

// Expressions over whole keys, as POSIX has them.
static const char *const patterns[] = {
	"State:/Network/Interface",
	"State:/Network/Interface/[^/]+/(Link|IPv4|IPv6)",
	"State:/Network/Global/(IPv4|IPv6)",
	"State:/Network/Service/[^/]+/(IPv4|DHCP)",
	"Setup:/Network/Global/IPv4",
	"Setup:/Network/Service/[^/]+(/(Interface|IPv4|IPv6))?",
	"Setup:/Network/HostNames",
	"Setup:/System",
};

enum { PATTERNS = sizeof patterns / sizeof patterns[0] };

// What the system's power settings are at the moment, of the power source that is
// in use (kIOPMDynamicStoreSettingsKey of Apple's published IOPMLibPrivate.h).
static const char *const power_settings[] = {"State:/IOKit/PowerManagement/CurrentSettings"};

static CFArrayRef list(const char *const *texts, int count) {
	CFMutableArrayRef all = CFArrayCreateMutable(kCFAllocatorDefault, count, &kCFTypeArrayCallBacks);
	for (int i = 0; all != NULL && i < count; i++) {
		CFStringRef pattern = fulmen_string(texts[i]);
		if (pattern == NULL) {
			CFRelease(all);
			return NULL;
		}
		CFArrayAppendValue(all, pattern); // which retains it
		CFRelease(pattern);
	}
	return all;
}

CFArrayRef fulmen_store_patterns(void) { return list(patterns, PATTERNS); }

// read_matching writes all keys that match, and releases the expressions.
static int read_matching(CFArrayRef wanted, fulmen_buffer *out) {
	int result = FULMEN_MEMORY;
	CFDictionaryRef values = NULL;
	SCDynamicStoreRef store = NULL;
	if (wanted == NULL) {
		goto out;
	}
	result = FULMEN_REFUSED;
	store = SCDynamicStoreCreate(kCFAllocatorDefault, CFSTR("fulmen"), NULL, NULL);
	if (store == NULL) {
		goto out;
	}
	values = SCDynamicStoreCopyMultiple(store, NULL, wanted); // at one moment
	if (values == NULL) {
		goto out;
	}
	fulmen_put_value(out, values);
	result = out->failed ? FULMEN_MEMORY : FULMEN_OK;
out:
	fulmen_release(values);
	fulmen_release(store);
	fulmen_release(wanted);
	return result;
}

int fulmen_store_read(fulmen_buffer *out) { return read_matching(fulmen_store_patterns(), out); }

int fulmen_power_settings_read(fulmen_buffer *out) { return read_matching(list(power_settings, 1), out); }

// put_stored writes one value of the preferences, which stays theirs.
static uint32_t put_stored(fulmen_buffer *out, SCPreferencesRef preferences, const char *name, CFStringRef key) {
	CFPropertyListRef value = SCPreferencesGetValue(preferences, key);
	if (value == NULL) {
		return 0;
	}
	fulmen_put_text(out, name, SIZE_MAX);
	fulmen_put_value(out, value);
	return 1;
}

int fulmen_stored_put(SCPreferencesRef preferences, fulmen_buffer *out) {
	size_t at = fulmen_put_count(out, 'm');
	uint32_t count = put_stored(out, preferences, "services", CFSTR("NetworkServices"));
	count += put_stored(out, preferences, "current_set", CFSTR("CurrentSet"));
	count += put_stored(out, preferences, "sets", CFSTR("Sets"));
	count += put_stored(out, preferences, "virtual", CFSTR("VirtualNetworkInterfaces"));
	fulmen_set_count(out, at, count);
	return out->failed ? FULMEN_MEMORY : FULMEN_OK;
}

int fulmen_stored_read(fulmen_buffer *out) {
	SCPreferencesRef preferences = SCPreferencesCreate(kCFAllocatorDefault, CFSTR("fulmen"), NULL);
	if (preferences == NULL) {
		return FULMEN_REFUSED;
	}
	int result = fulmen_stored_put(preferences, out);
	CFRelease(preferences);
	return result;
}

int fulmen_interfaces_read(fulmen_buffer *out) {
	CFArrayRef all = SCNetworkInterfaceCopyAll();
	if (all == NULL) {
		return FULMEN_REFUSED;
	}
	CFIndex count = CFArrayGetCount(all);
	size_t at = fulmen_put_count(out, 'a');
	for (CFIndex i = 0; i < count; i++) {
		SCNetworkInterfaceRef interface = CFArrayGetValueAtIndex(all, i);
		size_t fields = fulmen_put_count(out, 'm');
		fulmen_put_text(out, "name", SIZE_MAX);
		fulmen_put_value(out, SCNetworkInterfaceGetBSDName(interface));
		fulmen_put_text(out, "type", SIZE_MAX);
		fulmen_put_value(out, SCNetworkInterfaceGetInterfaceType(interface));
		fulmen_put_text(out, "display_name", SIZE_MAX);
		fulmen_put_value(out, SCNetworkInterfaceGetLocalizedDisplayName(interface));
		fulmen_set_count(out, fields, 3);
	}
	fulmen_set_count(out, at, (uint32_t)count);
	CFRelease(all);
	return out->failed ? FULMEN_MEMORY : FULMEN_OK;
}
