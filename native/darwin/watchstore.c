//go:build cgo && (darwin || darwinsim)

#include <SystemConfiguration/SystemConfiguration.h>
#include <stdlib.h>

#include "store.h"
#include "value.h"
#include "watchparts.h"

// fulmen_store_part is a session with configd: of the running configuration, or
// of the stored one.
struct fulmen_store_part {
	uintptr_t handle;
	SCDynamicStoreRef store;
	CFRunLoopSourceRef source;
	SCPreferencesRef preferences;
};

// keys_changed announces each key by its name.
static void keys_changed(SCDynamicStoreRef store, CFArrayRef keys, void *info) {
	(void)store;
	fulmen_store_part *part = info;
	char key[256];
	for (CFIndex i = 0; i < CFArrayGetCount(keys); i++) {
		if (!fulmen_string_copy(CFArrayGetValueAtIndex(keys, i), key, sizeof key)) {
			key[0] = 0; // longer than any key that is watched
		}
		fulmenAnnounce(part->handle, FULMEN_STORE, "changed", key, 0, 0);
	}
}

int fulmen_store_arm(uintptr_t handle, fulmen_store_part **into) {
	fulmen_store_part *part = calloc(1, sizeof *part);
	if (part == NULL) {
		return FULMEN_MEMORY;
	}
	part->handle = handle;
	int result = FULMEN_REFUSED;
	SCDynamicStoreContext context = {.info = part};
	CFArrayRef patterns = fulmen_store_patterns();
	if (patterns == NULL) {
		result = FULMEN_MEMORY;
		goto out;
	}
	part->store = SCDynamicStoreCreate(kCFAllocatorDefault, CFSTR("fulmen"), keys_changed, &context);
	if (part->store == NULL || !SCDynamicStoreSetNotificationKeys(part->store, NULL, patterns)) {
		goto out;
	}
	part->source = SCDynamicStoreCreateRunLoopSource(kCFAllocatorDefault, part->store, 0);
	if (part->source == NULL) {
		goto out;
	}
	CFRunLoopAddSource(CFRunLoopGetCurrent(), part->source, kCFRunLoopDefaultMode);
	*into = part;
	part = NULL; // it is the caller's now
	result = FULMEN_OK;
out:
	fulmen_release(patterns);
	fulmen_store_disarm(part);
	return result;
}

void fulmen_store_disarm(fulmen_store_part *part) {
	if (part == NULL) {
		return;
	}
	if (part->source != NULL) {
		CFRunLoopSourceInvalidate(part->source);
		CFRelease(part->source);
	}
	fulmen_release(part->store);
	free(part);
}

// stored_changed announces that somebody committed or applied the stored
// configuration.
static void stored_changed(SCPreferencesRef preferences, SCPreferencesNotification kinds, void *info) {
	(void)preferences;
	fulmen_store_part *part = info;
	fulmenAnnounce(part->handle, FULMEN_PREFERENCES, (kinds & kSCPreferencesNotificationApply) != 0 ? "applied" : "committed", "", 0, kinds);
}

int fulmen_preferences_arm(uintptr_t handle, fulmen_store_part **into) {
	fulmen_store_part *part = calloc(1, sizeof *part);
	if (part == NULL) {
		return FULMEN_MEMORY;
	}
	part->handle = handle;
	SCPreferencesContext context = {.info = part};
	part->preferences = SCPreferencesCreate(kCFAllocatorDefault, CFSTR("fulmen"), NULL);
	if (part->preferences == NULL || !SCPreferencesSetCallback(part->preferences, stored_changed, &context) ||
		!SCPreferencesScheduleWithRunLoop(part->preferences, CFRunLoopGetCurrent(), kCFRunLoopDefaultMode)) {
		fulmen_release(part->preferences);
		free(part);
		return FULMEN_REFUSED;
	}
	*into = part;
	return FULMEN_OK;
}

void fulmen_preferences_disarm(fulmen_store_part *part) {
	if (part == NULL) {
		return;
	}
	SCPreferencesUnscheduleFromRunLoop(part->preferences, CFRunLoopGetCurrent(), kCFRunLoopDefaultMode);
	CFRelease(part->preferences);
	free(part);
}
