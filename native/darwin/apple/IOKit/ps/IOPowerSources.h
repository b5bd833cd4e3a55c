// The part of IOKit's power sources that native/darwin calls, declared by this
// project from Apple's documentation (IOKit, IOPowerSources.h and IOPSKeys.h).
#ifndef FULMEN_APPLE_IOPOWERSOURCES_H
#define FULMEN_APPLE_IOPOWERSOURCES_H

#include <CoreFoundation/CoreFoundation.h>

typedef void (*IOPowerSourceCallbackType)(void *context);

CFTypeRef IOPSCopyPowerSourcesInfo(void);
CFArrayRef IOPSCopyPowerSourcesList(CFTypeRef info);
CFDictionaryRef IOPSGetPowerSourceDescription(CFTypeRef info, CFTypeRef source);
CFStringRef IOPSGetProvidingPowerSourceType(CFTypeRef info);
CFRunLoopSourceRef IOPSNotificationCreateRunLoopSource(IOPowerSourceCallbackType callback, void *context);

#endif
