//go:build cgo && (darwin || darwinsim)

#include "energy.h"

#include "apple/IOHIDEventSystem.h"
#include <dlfcn.h>
#include <stdlib.h>

#include "value.h"

enum { MAX_SERVICES = 256 };

struct fulmen_temperatures {
	void *handle;
	fulmen_hid_functions hid;
	CFTypeRef client;
	CFArrayRef services;
};

// resolve fills in the functions, all or none.
static bool resolve(void *handle, fulmen_hid_functions *f) {
	const struct {
		void **into;
		const char *name;
	} wanted[] = {
		{(void **)&f->create, "IOHIDEventSystemClientCreate"},
		{(void **)&f->set_matching, "IOHIDEventSystemClientSetMatching"},
		{(void **)&f->copy_services, "IOHIDEventSystemClientCopyServices"},
		{(void **)&f->copy_property, "IOHIDServiceClientCopyProperty"},
		{(void **)&f->copy_event, "IOHIDServiceClientCopyEvent"},
		{(void **)&f->get_float, "IOHIDEventGetFloatValue"},
	};
	for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
		*wanted[i].into = dlsym(handle, wanted[i].name);
		if (*wanted[i].into == NULL) {
			return false;
		}
	}
	return true;
}

// find asks for the sensors of temperature.
static int find(fulmen_temperatures *t) {
	int32_t page = FULMEN_HID_PAGE_VENDOR, usage = FULMEN_HID_USAGE_TEMPERATURE;
	int result = FULMEN_MEMORY;
	CFNumberRef page_number = CFNumberCreate(kCFAllocatorDefault, kCFNumberSInt32Type, &page);
	CFNumberRef usage_number = CFNumberCreate(kCFAllocatorDefault, kCFNumberSInt32Type, &usage);
	CFDictionaryRef matching = NULL;
	if (page_number == NULL || usage_number == NULL) {
		goto out;
	}
	const void *keys[] = {CFSTR("PrimaryUsagePage"), CFSTR("PrimaryUsage")}, *values[] = {page_number, usage_number};
	matching = CFDictionaryCreate(kCFAllocatorDefault, keys, values, 2, &kCFTypeDictionaryKeyCallBacks, &kCFTypeDictionaryValueCallBacks);
	if (matching == NULL) {
		goto out;
	}
	result = FULMEN_REFUSED;
	t->client = t->hid.create(kCFAllocatorDefault);
	if (t->client == NULL) {
		goto out;
	}
	t->hid.set_matching(t->client, matching);
	t->services = t->hid.copy_services(t->client);
	result = t->services == NULL ? FULMEN_GONE : FULMEN_OK;
out:
	fulmen_release(matching);
	fulmen_release(usage_number);
	fulmen_release(page_number);
	return result;
}

int fulmen_temperatures_open(fulmen_temperatures **into) {
	fulmen_temperatures *t = calloc(1, sizeof *t);
	if (t == NULL) {
		return FULMEN_MEMORY;
	}
	int result = FULMEN_NO_SYMBOL;
	t->handle = dlopen("/System/Library/Frameworks/IOKit.framework/Versions/A/IOKit", RTLD_NOW | RTLD_LOCAL);
	if (t->handle != NULL && resolve(t->handle, &t->hid)) {
		result = find(t);
	}
	if (result != FULMEN_OK) {
		fulmen_temperatures_close(t);
		return result;
	}
	*into = t;
	return FULMEN_OK;
}

void fulmen_temperatures_close(fulmen_temperatures *t) {
	if (t == NULL) {
		return;
	}
	fulmen_release(t->services);
	fulmen_release(t->client);
	if (t->handle != NULL) {
		dlclose(t->handle); // after all that is its library's
	}
	free(t);
}

int fulmen_temperatures_read(fulmen_temperatures *t, fulmen_buffer *out) {
	CFIndex count = CFArrayGetCount(t->services);
	uint32_t told = 0;
	size_t at = fulmen_put_count(out, 'a');
	for (CFIndex i = 0; i < count && i < MAX_SERVICES; i++) {
		CFTypeRef service = CFArrayGetValueAtIndex(t->services, i); // the array's
		CFTypeRef event = t->hid.copy_event(service, FULMEN_HID_EVENT_TEMPERATURE, 0, 0);
		if (event == NULL) {
			continue; // asleep, or gone
		}
		CFTypeRef name = t->hid.copy_property(service, CFSTR("Product"));
		size_t fields = fulmen_put_count(out, 'm');
		fulmen_put_text(out, "name", SIZE_MAX);
		fulmen_put_value(out, name); // also where it has none
		fulmen_put_text(out, "celsius", SIZE_MAX);
		fulmen_put_real(out, t->hid.get_float(event, FULMEN_HID_FIELD_LEVEL));
		fulmen_set_count(out, fields, 2);
		told++;
		fulmen_release(name);
		CFRelease(event);
	}
	fulmen_set_count(out, at, told);
	return out->failed ? FULMEN_MEMORY : FULMEN_OK;
}
