//go:build darwinsim && linux && cgo

#include "sim.h"

#include <stdlib.h>

#include "../apple/IOReport.h"
#include "control.h"
#include "simlibraries.h"

// The machine's value "report" is an array of channels: maps of "group", "name",
// "unit", "value" and "states" (maps of "name" and "residency"), which are what is
// counted between two samples. A sample is a dictionary of them.
static CFMutableArrayRef channels_of(CFStringRef group) {
	sim_machine *m = sim_here();
	CFMutableArrayRef found = CFArrayCreateMutable(NULL, 0, NULL);
	sim_lock(m);
	CFArrayRef all = CFDictionaryGetValue(m->values, CFSTR("report"));
	for (CFIndex i = 0; all != NULL && i < CFArrayGetCount(all); i++) {
		CFDictionaryRef channel = CFArrayGetValueAtIndex(all, i);
		if (group == NULL || CFEqual(CFDictionaryGetValue(channel, CFSTR("group")), group)) {
			CFArrayAppendValue(found, channel);
		}
	}
	sim_unlock(m);
	return found;
}

static CFDictionaryRef wrapped(CFMutableArrayRef channels) {
	const void *keys[] = {CFSTR("IOReportChannels")}, *values[] = {channels};
	CFDictionaryRef made = CFDictionaryCreate(NULL, keys, values, 1, NULL, NULL);
	CFRelease(channels);
	return made;
}

static CFDictionaryRef copy_channels(CFStringRef group, CFStringRef subgroup, uint64_t a, uint64_t b, uint64_t c) {
	(void)subgroup, (void)a, (void)b, (void)c;
	CFMutableArrayRef channels = channels_of(group);
	if (CFArrayGetCount(channels) == 0) {
		CFRelease(channels);
		return NULL;
	}
	return wrapped(channels);
}

static void merge_channels(CFDictionaryRef into, CFDictionaryRef from, CFTypeRef unused) {
	(void)unused;
	CFMutableArrayRef all = (CFMutableArrayRef)CFDictionaryGetValue(into, CFSTR("IOReportChannels"));
	CFArrayRef more = CFDictionaryGetValue(from, CFSTR("IOReportChannels"));
	for (CFIndex i = 0; i < CFArrayGetCount(more); i++) {
		CFArrayAppendValue(all, CFArrayGetValueAtIndex(more, i));
	}
}

static IOReportSubscriptionRef create_subscription(void *a, CFMutableDictionaryRef channels, CFMutableDictionaryRef *subscribed,
	uint64_t b, CFTypeRef c) {
	(void)a, (void)b, (void)c;
	*subscribed = CFDictionaryCreateMutableCopy(NULL, 0, channels);
	return sim_make(SIM_REPORT, sizeof(sim_base));
}

static CFDictionaryRef create_samples(IOReportSubscriptionRef subscription, CFMutableDictionaryRef channels, CFTypeRef unused) {
	(void)subscription, (void)channels, (void)unused;
	return wrapped(channels_of(NULL));
}

static CFDictionaryRef create_delta(CFDictionaryRef before, CFDictionaryRef now, CFTypeRef unused) {
	(void)before, (void)unused;
	return CFRetain(now);
}

static CFTypeRef get(CFDictionaryRef channel, CFStringRef key) { return CFDictionaryGetValue(channel, key); }
static CFStringRef get_group(CFDictionaryRef channel) { return get(channel, CFSTR("group")); }
static CFStringRef get_name(CFDictionaryRef channel) { return get(channel, CFSTR("name")); }
static CFStringRef get_unit(CFDictionaryRef channel) { return get(channel, CFSTR("unit")); }

static int64_t get_integer(CFDictionaryRef channel, int32_t unused) {
	(void)unused;
	return sim_number(channel, CFSTR("value"));
}

static int32_t state_count(CFDictionaryRef channel) {
	CFArrayRef states = get(channel, CFSTR("states"));
	return states == NULL ? 0 : (int32_t)CFArrayGetCount(states);
}

static CFDictionaryRef state(CFDictionaryRef channel, int32_t i) { return CFArrayGetValueAtIndex(get(channel, CFSTR("states")), i); }
static CFStringRef state_name(CFDictionaryRef channel, int32_t i) { return get(state(channel, i), CFSTR("name")); }
static int64_t state_residency(CFDictionaryRef channel, int32_t i) { return sim_number(state(channel, i), CFSTR("residency")); }

#define REPORT(symbol, function) {"/libIOReport.dylib", "IOReport" symbol, (void *)function}
const sim_symbol sim_report_symbols[] = {
	REPORT("CopyChannelsInGroup", copy_channels), REPORT("MergeChannels", merge_channels),
	REPORT("CreateSubscription", create_subscription), REPORT("CreateSamples", create_samples),
	REPORT("CreateSamplesDelta", create_delta), REPORT("ChannelGetGroup", get_group),
	REPORT("ChannelGetChannelName", get_name), REPORT("ChannelGetUnitLabel", get_unit),
	REPORT("SimpleGetIntegerValue", get_integer), REPORT("StateGetCount", state_count),
	REPORT("StateGetNameForIndex", state_name), REPORT("StateGetResidency", state_residency), {NULL, NULL, NULL},
};
