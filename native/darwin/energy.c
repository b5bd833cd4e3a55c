//go:build cgo && (darwin || darwinsim)

#include "energy.h"

#include "apple/IOReport.h"
#include <dlfcn.h>
#include <stdlib.h>

#include "value.h"

struct fulmen_energy {
	void *handle;
	fulmen_ioreport report;
	IOReportSubscriptionRef subscription;
	CFMutableDictionaryRef channels;
	CFDictionaryRef before;
};

// resolve fills in the functions, all or none.
static bool resolve(void *handle, fulmen_ioreport *r) {
	const struct {
		void **into;
		const char *name;
	} wanted[] = {
		{(void **)&r->copy_channels, "IOReportCopyChannelsInGroup"},
		{(void **)&r->merge_channels, "IOReportMergeChannels"},
		{(void **)&r->create_subscription, "IOReportCreateSubscription"},
		{(void **)&r->create_samples, "IOReportCreateSamples"},
		{(void **)&r->create_delta, "IOReportCreateSamplesDelta"},
		{(void **)&r->get_group, "IOReportChannelGetGroup"},
		{(void **)&r->get_name, "IOReportChannelGetChannelName"},
		{(void **)&r->get_unit, "IOReportChannelGetUnitLabel"},
		{(void **)&r->get_integer, "IOReportSimpleGetIntegerValue"},
		{(void **)&r->state_count, "IOReportStateGetCount"},
		{(void **)&r->state_name, "IOReportStateGetNameForIndex"},
		{(void **)&r->state_residency, "IOReportStateGetResidency"},
	};
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		*wanted[i].into = dlsym(handle, wanted[i].name);
		if (*wanted[i].into == NULL) {
			return false;
		}
	}
	return true;
}

// subscribe asks for the channels of power and of the GPU's states.
static int subscribe(fulmen_energy *e) {
	int result = FULMEN_GONE;
	CFMutableDictionaryRef subscribed = NULL;
	CFDictionaryRef gpu = e->report.copy_channels(CFSTR("GPU Stats"), CFSTR("GPU Performance States"), 0, 0, 0);
	CFDictionaryRef energy = e->report.copy_channels(CFSTR("Energy Model"), NULL, 0, 0, 0);
	if (energy == NULL) {
		goto out;
	}
	if (gpu != NULL) {
		e->report.merge_channels(energy, gpu, NULL);
	}
	e->channels = CFDictionaryCreateMutableCopy(kCFAllocatorDefault, 0, energy);
	if (e->channels == NULL) {
		result = FULMEN_MEMORY;
		goto out;
	}
	e->subscription = e->report.create_subscription(NULL, e->channels, &subscribed, 0, NULL);
	result = e->subscription == NULL ? FULMEN_REFUSED : FULMEN_OK;
out:
	fulmen_release(subscribed);
	fulmen_release(energy);
	fulmen_release(gpu);
	return result;
}

int fulmen_energy_open(fulmen_energy **into) {
	fulmen_energy *e = calloc(1, sizeof *e);
	if (e == NULL) {
		return FULMEN_MEMORY;
	}
	int result = FULMEN_NO_SYMBOL;
	e->handle = dlopen("/usr/lib/libIOReport.dylib", RTLD_NOW | RTLD_LOCAL);
	if (e->handle != NULL && resolve(e->handle, &e->report)) {
		result = subscribe(e);
	}
	if (result == FULMEN_OK) {
		e->before = e->report.create_samples(e->subscription, e->channels, NULL);
		result = e->before == NULL ? FULMEN_REFUSED : FULMEN_OK;
	}
	if (result != FULMEN_OK) {
		fulmen_energy_close(e);
		return result;
	}
	*into = e;
	return FULMEN_OK;
}

void fulmen_energy_close(fulmen_energy *e) {
	if (e == NULL) {
		return;
	}
	fulmen_release(e->before);
	fulmen_release(e->subscription);
	fulmen_release(e->channels);
	if (e->handle != NULL) {
		dlclose(e->handle);
	}
	free(e);
}

// put_states writes how long a channel was in each of its states.
static void put_states(fulmen_buffer *out, const fulmen_ioreport *r, CFDictionaryRef channel, int32_t count) {
	fulmen_put_text(out, "states", SIZE_MAX);
	size_t at = fulmen_put_count(out, 'a');
	for (int32_t i = 0; i < count; i++) {
		size_t fields = fulmen_put_count(out, 'm');
		fulmen_put_text(out, "name", SIZE_MAX);
		fulmen_put_value(out, r->state_name(channel, i)); // the channel's, as are all here
		fulmen_put_text(out, "residency", SIZE_MAX);
		fulmen_put_int(out, r->state_residency(channel, i));
		fulmen_set_count(out, fields, 2);
	}
	fulmen_set_count(out, at, (uint32_t)count);
}

static void put_channel(fulmen_buffer *out, const fulmen_ioreport *r, CFDictionaryRef channel) {
	size_t fields = fulmen_put_count(out, 'm');
	CFStringRef group = r->get_group(channel);
	fulmen_put_text(out, "group", SIZE_MAX);
	fulmen_put_value(out, group);
	fulmen_put_text(out, "name", SIZE_MAX);
	fulmen_put_value(out, r->get_name(channel));
	if (fulmen_string_is(group, "GPU Stats")) {
		int32_t count = r->state_count(channel);
		put_states(out, r, channel, count > 0 && count < 256 ? count : 0);
		fulmen_set_count(out, fields, 3);
		return;
	}
	fulmen_put_text(out, "unit", SIZE_MAX);
	fulmen_put_value(out, r->get_unit(channel));
	fulmen_put_text(out, "value", SIZE_MAX);
	fulmen_put_int(out, r->get_integer(channel, 0));
	fulmen_set_count(out, fields, 4);
}

int fulmen_energy_read(fulmen_energy *e, fulmen_buffer *out) {
	CFDictionaryRef now = e->report.create_samples(e->subscription, e->channels, NULL);
	if (now == NULL) {
		return FULMEN_REFUSED;
	}
	CFDictionaryRef delta = e->report.create_delta(e->before, now, NULL);
	CFRelease(e->before);
	e->before = now; // the next delta begins here
	if (delta == NULL) {
		return FULMEN_REFUSED;
	}
	CFArrayRef channels = CFDictionaryGetValue(delta, CFSTR("IOReportChannels"));
	bool known = channels != NULL && CFGetTypeID(channels) == CFArrayGetTypeID();
	CFIndex count = known ? CFArrayGetCount(channels) : 0;
	size_t at = fulmen_put_count(out, 'a');
	for (CFIndex i = 0; i < count; i++) {
		put_channel(out, &e->report, CFArrayGetValueAtIndex(channels, i));
	}
	fulmen_set_count(out, at, (uint32_t)count);
	CFRelease(delta);
	return out->failed ? FULMEN_MEMORY : FULMEN_OK;
}
