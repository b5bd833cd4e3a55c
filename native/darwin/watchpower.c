//go:build cgo && (darwin || darwinsim)

#include <IOKit/IOKitLib.h>
#include <IOKit/IOMessage.h>
#include <IOKit/ps/IOPowerSources.h>
#include <IOKit/pwr_mgt/IOPMLib.h>
#include <stdlib.h>

#include "value.h"
#include "watchparts.h"

struct fulmen_power_part {
	uintptr_t handle;
	io_connect_t root;
	IONotificationPortRef port;
	io_object_t notifier;
};

// announced runs for every message of the power management's root. The system
// waits up to 30 s for the answer to "will sleep"; Go gives it.
static void announced(void *refcon, io_service_t service, uint32_t message, void *argument) {
	(void)service;
	fulmen_power_part *part = refcon;
	intptr_t notice = (intptr_t)argument;
	switch (message) {
	case kIOMessageCanSystemSleep:
		// Only idle sleep asks. Who wants to prevent it holds an assertion.
		IOAllowPowerChange(part->root, notice);
		break;
	case kIOMessageSystemWillSleep:
		fulmenAnnounce(part->handle, FULMEN_POWER, "will_sleep", "", notice, message);
		break;
	case kIOMessageSystemWillPowerOff:
	case kIOMessageSystemWillRestart:
		fulmenAnnounce(part->handle, FULMEN_POWER, "will_power_off", "", notice, message);
		break;
	case kIOMessageSystemHasPoweredOn:
		fulmenAnnounce(part->handle, FULMEN_POWER, "awake", "", 0, message);
		break;
	}
}

int fulmen_power_arm(uintptr_t handle, fulmen_power_part **into) {
	fulmen_power_part *part = calloc(1, sizeof *part);
	if (part == NULL) {
		return FULMEN_MEMORY;
	}
	part->handle = handle;
	part->root = IORegisterForSystemPower(part, &part->port, announced, &part->notifier);
	if (part->root == IO_OBJECT_NULL) {
		free(part);
		return FULMEN_REFUSED;
	}
	CFRunLoopAddSource(CFRunLoopGetCurrent(), IONotificationPortGetRunLoopSource(part->port), kCFRunLoopDefaultMode);
	*into = part;
	return FULMEN_OK;
}

int fulmen_power_allow(fulmen_power_part *part, intptr_t notice) {
	return part == NULL ? FULMEN_GONE : IOAllowPowerChange(part->root, notice);
}

void fulmen_power_disarm(fulmen_power_part *part) {
	if (part == NULL) {
		return;
	}
	IODeregisterForSystemPower(&part->notifier);
	IOServiceClose(part->root);
	IONotificationPortDestroy(part->port); // and its run loop source
	free(part);
}

// source_changed has no place for anything but the handle, which is a number.
static void source_changed(void *context) {
	fulmenAnnounce((uintptr_t)context, FULMEN_POWER_SOURCE, "changed", "", 0, 0);
}

int fulmen_power_source_arm(uintptr_t handle, CFRunLoopSourceRef *into) {
	CFRunLoopSourceRef source = IOPSNotificationCreateRunLoopSource(source_changed, (void *)handle);
	if (source == NULL) {
		return FULMEN_REFUSED;
	}
	CFRunLoopAddSource(CFRunLoopGetCurrent(), source, kCFRunLoopDefaultMode);
	*into = source;
	return FULMEN_OK;
}

void fulmen_power_source_disarm(CFRunLoopSourceRef source) {
	if (source == NULL) {
		return;
	}
	CFRunLoopSourceInvalidate(source); // which takes it out of its loop
	CFRelease(source);
}
