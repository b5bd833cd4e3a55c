//go:build darwinsim && linux && cgo

#include "simpreferences.h"

#include <stdlib.h>

#include "control.h"

static void destroy(void *object) {
	struct __SCPreferences *p = object;
	if (p->locked) {
		sim_misused("preferences were released while they were locked");
		sim_stored_let(p->machine);
	}
	sim_lock(p->machine);
	for (struct __SCPreferences **at = (struct __SCPreferences **)&p->machine->preference_sessions; *at != NULL; at = &(*at)->next) {
		if (*at == p) {
			*at = p->next;
			break;
		}
	}
	sim_unlock(p->machine);
	sim_drop(p->copy);
	sim_drop(p->source);
}

SCPreferencesRef SCPreferencesCreate(CFAllocatorRef allocator, CFStringRef name, CFStringRef file) {
	(void)allocator;
	(void)name;
	(void)file;
	sim_machine *m = sim_here();
	if (sim_fault(m, SIM_FAULT_STORE)) {
		sim_set_error(kSCStatusFailed);
		return NULL;
	}
	sim_set_destroy(SIM_PREFERENCES, destroy);
	struct __SCPreferences *p = sim_make(SIM_PREFERENCES, sizeof *p);
	p->machine = m;
	sim_lock(m);
	p->next = m->preference_sessions;
	m->preference_sessions = p;
	sim_unlock(m);
	return p;
}

// sim_preferences_copy is the session's own copy, which is made when it is first
// looked at, and again when the session takes the lock.
CFMutableDictionaryRef sim_preferences_copy(SCPreferencesRef preferences) {
	struct __SCPreferences *p = (struct __SCPreferences *)preferences;
	if (p->copy == NULL) {
		sim_lock(p->machine);
		p->copy = (CFMutableDictionaryRef)sim_copy(p->machine->stored);
		p->generation = p->machine->stored_generation;
		sim_unlock(p->machine);
	}
	return p->copy;
}

CFPropertyListRef SCPreferencesGetValue(SCPreferencesRef preferences, CFStringRef key) {
	return CFDictionaryGetValue(sim_preferences_copy(preferences), key);
}

// sim_stored_hold waits until no session has the lock, and takes it.
void sim_stored_hold(sim_machine *m) {
	sim_lock(m);
	while (m->stored_held) {
		pthread_cond_wait(&m->stored_free, &m->lock);
	}
	m->stored_held = true;
	sim_unlock(m);
}

void sim_stored_let(sim_machine *m) {
	sim_lock(m);
	m->stored_held = false;
	pthread_cond_signal(&m->stored_free);
	sim_unlock(m);
}

Boolean SCPreferencesLock(SCPreferencesRef preferences, Boolean wait) {
	struct __SCPreferences *p = (struct __SCPreferences *)preferences;
	if (p->locked || !wait) { // nobody here tries without waiting
		sim_misused("preferences were locked twice, or without waiting");
		sim_set_error(kSCStatusFailed);
		return false;
	}
	sim_stored_hold(p->machine);
	if (p->copy != NULL && p->generation != p->machine->stored_generation) {
		sim_stored_let(p->machine);
		sim_set_error(kSCStatusStale);
		return false;
	}
	p->locked = true;
	return true;
}

Boolean SCPreferencesUnlock(SCPreferencesRef preferences) {
	struct __SCPreferences *p = (struct __SCPreferences *)preferences;
	bool locked = p->locked;
	p->locked = false;
	if (locked) {
		sim_stored_let(p->machine);
	}
	return locked;
}

static void tell(sim_machine *m, uint32_t kinds) {
	for (struct __SCPreferences *p = m->preference_sessions; p != NULL; p = p->next) {
		if (p->source != NULL) {
			p->pending |= kinds;
			CFRunLoopSourceSignal(p->source);
		}
	}
}

Boolean SCPreferencesCommitChanges(SCPreferencesRef preferences) {
	struct __SCPreferences *p = (struct __SCPreferences *)preferences;
	sim_machine *m = p->machine;
	if (!p->locked) {
		sim_misused("preferences were committed without their lock");
	}
	sim_lock(m);
	CFMutableDictionaryRef copy = sim_preferences_copy(preferences);
	if (sim_fault(m, SIM_FAULT_COMMIT) || p->generation != m->stored_generation) {
		sim_unlock(m);
		sim_set_error(kSCStatusStale);
		return false;
	}
	CFRelease(m->stored);
	m->stored = (CFMutableDictionaryRef)sim_copy(copy);
	p->generation = ++m->stored_generation;
	tell(m, kSCPreferencesNotificationCommit);
	sim_unlock(m);
	return true;
}

Boolean SCPreferencesApplyChanges(SCPreferencesRef preferences) {
	sim_machine *m = preferences->machine;
	sim_lock(m);
	tell(m, kSCPreferencesNotificationApply);
	sim_unlock(m);
	simHook(m->handle, SIM_HOOK_APPLIED, 0);
	return true;
}

Boolean SCPreferencesSetCallback(SCPreferencesRef preferences, SCPreferencesCallBack callback, SCPreferencesContext *context) {
	struct __SCPreferences *p = (struct __SCPreferences *)preferences;
	p->callback = callback;
	p->context = *context;
	return true;
}

static void perform(void *info) {
	struct __SCPreferences *p = info;
	sim_lock(p->machine);
	uint32_t kinds = p->pending;
	p->pending = 0;
	sim_unlock(p->machine);
	if (kinds != 0) {
		p->callback(p, kinds, p->context.info);
	}
}

Boolean SCPreferencesScheduleWithRunLoop(SCPreferencesRef preferences, CFRunLoopRef loop, CFStringRef mode) {
	struct __SCPreferences *p = (struct __SCPreferences *)preferences;
	p->source = sim_source(p, perform);
	CFRunLoopAddSource(loop, p->source, mode);
	return true;
}

Boolean SCPreferencesUnscheduleFromRunLoop(SCPreferencesRef preferences, CFRunLoopRef loop, CFStringRef mode) {
	struct __SCPreferences *p = (struct __SCPreferences *)preferences;
	sim_lock(p->machine);
	CFRunLoopSourceRef source = p->source;
	p->source = NULL;
	sim_unlock(p->machine);
	CFRunLoopRemoveSource(loop, source, mode);
	CFRelease(source);
	return true;
}

void sim_stored_set(sim_machine *m, const char *key, const uint8_t *value, size_t length) {
	CFStringRef name = sim_text(key);
	sim_lock(m);
	if (value == NULL) {
		sim_dictionary_remove(m->stored, name);
	} else {
		CFTypeRef made = sim_decode(value, length);
		CFDictionarySetValue(m->stored, name, made);
		CFRelease(made);
	}
	m->stored_generation++;
	tell(m, kSCPreferencesNotificationCommit | kSCPreferencesNotificationApply);
	sim_unlock(m);
	CFRelease(name);
}

void sim_stored_tell(sim_machine *m, uint32_t kinds) {
	sim_lock(m);
	tell(m, kinds);
	sim_unlock(m);
}
