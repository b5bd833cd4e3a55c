// The part of IOKit's power management that native/darwin calls, declared by
// this project from Apple's documentation (IOKit, IOPMLib.h; technical Q&A
// QA1340 on sleep and wake).
#ifndef FULMEN_APPLE_IOPMLIB_H
#define FULMEN_APPLE_IOPMLIB_H

#include <IOKit/IOKitLib.h>

typedef uint32_t IOPMAssertionID;
typedef uint32_t IOPMAssertionLevel;
enum { kIOPMAssertionLevelOff = 0, kIOPMAssertionLevelOn = 255 };
#define kIOPMAssertionTypePreventUserIdleSystemSleep CFSTR("PreventUserIdleSystemSleep")

io_connect_t IORegisterForSystemPower(void *refcon, IONotificationPortRef *port, IOServiceInterestCallback callback, io_object_t *notifier);
IOReturn IODeregisterForSystemPower(io_object_t *notifier);
IOReturn IOAllowPowerChange(io_connect_t root, intptr_t notification);
IOReturn IOPMAssertionCreateWithName(CFStringRef type, IOPMAssertionLevel level, CFStringRef name, IOPMAssertionID *assertion);
IOReturn IOPMAssertionRelease(IOPMAssertionID assertion);

#endif
