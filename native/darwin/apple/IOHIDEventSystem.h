// The sensors of IOKit's HID event system, which Apple does not document: the
// functions that native/darwin looks for at run time. Names, arguments and types
// are those that several public programs agree on (macmon, stats, mactop); nothing
// links against them. All objects are CoreFoundation's to retain and release.
#ifndef FULMEN_APPLE_IOHIDEVENTSYSTEM_H
#define FULMEN_APPLE_IOHIDEVENTSYSTEM_H

#include <CoreFoundation/CoreFoundation.h>

enum {
	FULMEN_HID_PAGE_VENDOR = 0xff00,     // kHIDPage_AppleVendor
	FULMEN_HID_USAGE_TEMPERATURE = 5,    // kHIDUsage_AppleVendor_TemperatureSensor
	FULMEN_HID_EVENT_TEMPERATURE = 15,   // kIOHIDEventTypeTemperature
	FULMEN_HID_FIELD_LEVEL = 15 << 16,   // its first field, in degrees Celsius
};

typedef struct {
	CFTypeRef (*create)(CFAllocatorRef allocator);
	int (*set_matching)(CFTypeRef client, CFDictionaryRef matching);
	CFArrayRef (*copy_services)(CFTypeRef client);
	CFTypeRef (*copy_property)(CFTypeRef service, CFStringRef key);
	CFTypeRef (*copy_event)(CFTypeRef service, int64_t type, int32_t options, int64_t timestamp);
	double (*get_float)(CFTypeRef event, int32_t field);
} fulmen_hid_functions;

#endif
