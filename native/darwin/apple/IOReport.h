// IOReport, a library of macOS that Apple does not publish: the functions that
// native/darwin looks for at run time. Names, arguments and types are those that
// several public programs agree on (macmon, mactop); nothing links against it.
#ifndef FULMEN_APPLE_IOREPORT_H
#define FULMEN_APPLE_IOREPORT_H

#include <CoreFoundation/CoreFoundation.h>

typedef struct IOReportSubscription *IOReportSubscriptionRef;

typedef struct {
	CFDictionaryRef (*copy_channels)(CFStringRef group, CFStringRef subgroup, uint64_t a, uint64_t b, uint64_t c);
	void (*merge_channels)(CFDictionaryRef into, CFDictionaryRef from, CFTypeRef unused);
	IOReportSubscriptionRef (*create_subscription)(void *a, CFMutableDictionaryRef channels, CFMutableDictionaryRef *subscribed, uint64_t b, CFTypeRef c);
	CFDictionaryRef (*create_samples)(IOReportSubscriptionRef subscription, CFMutableDictionaryRef channels, CFTypeRef unused);
	CFDictionaryRef (*create_delta)(CFDictionaryRef before, CFDictionaryRef now, CFTypeRef unused);
	CFStringRef (*get_group)(CFDictionaryRef channel);
	CFStringRef (*get_name)(CFDictionaryRef channel);
	CFStringRef (*get_unit)(CFDictionaryRef channel);
	int64_t (*get_integer)(CFDictionaryRef channel, int32_t unused);
	int32_t (*state_count)(CFDictionaryRef channel);
	CFStringRef (*state_name)(CFDictionaryRef channel, int32_t index);
	int64_t (*state_residency)(CFDictionaryRef channel, int32_t index);
} fulmen_ioreport;

#endif
