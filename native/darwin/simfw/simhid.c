//go:build darwinsim && linux && cgo

#include "sim.h"

#include "../apple/IOHIDEventSystem.h"
#include "control.h"
#include "simlibraries.h"

// The machine's value "hid" is an array of sensors: maps of "Product" and
// "celsius"; one without the latter sleeps. A service is such a map, and so is the
// event that it gives.
typedef struct {
	sim_base base;
	bool matched;
} client;

static CFTypeRef create(CFAllocatorRef allocator) {
	(void)allocator;
	return sim_make(SIM_REPORT, sizeof(client));
}

static int set_matching(CFTypeRef of, CFDictionaryRef matching) {
	((client *)of)->matched =
		sim_number(matching, CFSTR("PrimaryUsagePage")) == 0xff00 && sim_number(matching, CFSTR("PrimaryUsage")) == 5;
	return 0;
}

static CFArrayRef copy_services(CFTypeRef of) {
	sim_machine *m = sim_here();
	sim_lock(m);
	CFArrayRef all = CFDictionaryGetValue(m->values, CFSTR("hid"));
	if (all != NULL && ((const client *)of)->matched) {
		CFRetain(all);
	} else {
		all = NULL;
	}
	sim_unlock(m);
	return all;
}

static CFTypeRef copy_property(CFTypeRef service, CFStringRef key) {
	CFTypeRef value = CFDictionaryGetValue(service, key);
	return value == NULL ? NULL : CFRetain(value);
}

static CFTypeRef copy_event(CFTypeRef service, int64_t type, int32_t options, int64_t timestamp) {
	(void)options, (void)timestamp;
	return type != 15 || CFDictionaryGetValue(service, CFSTR("celsius")) == NULL ? NULL : CFRetain(service);
}

static double get_float(CFTypeRef event, int32_t field) {
	double celsius = 0;
	if (field != 15 << 16 || !CFNumberGetValue(CFDictionaryGetValue(event, CFSTR("celsius")), kCFNumberDoubleType, &celsius)) {
		sim_misused("a field that the event does not have");
	}
	return celsius;
}

#define HID(symbol, function) {"IOKit.framework/Versions/A/IOKit", "IOHID" symbol, (void *)function}
const sim_symbol sim_hid_symbols[] = {
	HID("EventSystemClientCreate", create), HID("EventSystemClientSetMatching", set_matching),
	HID("EventSystemClientCopyServices", copy_services), HID("ServiceClientCopyProperty", copy_property),
	HID("ServiceClientCopyEvent", copy_event), HID("EventGetFloatValue", get_float), {NULL, NULL, NULL},
};
