//go:build darwinsim && linux && cgo

#include "sim.h"

#include <SystemConfiguration/SystemConfiguration.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

#include "control.h"

enum { MAX_PATTERNS = 32 };

struct __SCDynamicStore {
	sim_base base;
	struct __SCDynamicStore *next;
	sim_machine *machine;
	SCDynamicStoreCallBack callback;
	SCDynamicStoreContext context;
	regex_t patterns[MAX_PATTERNS];
	int count;
	CFRunLoopSourceRef source;
	CFMutableArrayRef changed;
};

static __thread int last_error;
int SCError(void) { return last_error; }
void sim_set_error(int error) { last_error = error; }

const char *SCErrorString(int status) {
	switch (status) {
	case kSCStatusFailed:
		return "Failed!";
	case kSCStatusAccessError:
		return "Permission denied";
	case kSCStatusStale:
		return "Write attempted on stale version of object";
	}
	return "Success!";
}

static bool compile(CFStringRef pattern, regex_t *into) {
	char whole[512];
	snprintf(whole, sizeof whole, "^%s$", sim_chars(pattern));
	return regcomp(into, whole, REG_EXTENDED | REG_NOSUB) == 0;
}

static void destroy(void *object) {
	struct __SCDynamicStore *s = object;
	sim_lock(s->machine);
	for (struct __SCDynamicStore **at = (struct __SCDynamicStore **)&s->machine->store_sessions; *at != NULL; at = &(*at)->next) {
		if (*at == s) {
			*at = s->next;
			break;
		}
	}
	sim_unlock(s->machine);
	for (int i = 0; i < s->count; i++) {
		regfree(&s->patterns[i]);
	}
	sim_drop(s->source);
	sim_drop(s->changed);
}

SCDynamicStoreRef SCDynamicStoreCreate(CFAllocatorRef allocator, CFStringRef name, SCDynamicStoreCallBack callback, SCDynamicStoreContext *context) {
	(void)allocator;
	(void)name;
	sim_machine *m = sim_here();
	if (sim_fault(m, SIM_FAULT_STORE)) {
		sim_set_error(kSCStatusFailed);
		return NULL;
	}
	sim_set_destroy(SIM_STORE, destroy);
	struct __SCDynamicStore *s = sim_make(SIM_STORE, sizeof *s);
	s->machine = m;
	s->callback = callback;
	if (context != NULL) {
		s->context = *context;
	}
	s->changed = CFArrayCreateMutable(NULL, 0, NULL);
	sim_lock(m);
	s->next = m->store_sessions;
	m->store_sessions = s;
	sim_unlock(m);
	return s;
}

Boolean SCDynamicStoreSetNotificationKeys(SCDynamicStoreRef store, CFArrayRef keys, CFArrayRef patterns) {
	(void)keys;
	struct __SCDynamicStore *s = (struct __SCDynamicStore *)store;
	for (CFIndex i = 0; i < CFArrayGetCount(patterns); i++) {
		if (s->count == MAX_PATTERNS || !compile(CFArrayGetValueAtIndex(patterns, i), &s->patterns[s->count])) {
			return false;
		}
		s->count++;
	}
	return true;
}

static void perform(void *info) {
	struct __SCDynamicStore *s = info;
	sim_lock(s->machine);
	CFMutableArrayRef changed = s->changed;
	s->changed = CFArrayCreateMutable(NULL, 0, NULL);
	sim_unlock(s->machine);
	if (CFArrayGetCount(changed) > 0) {
		s->callback(s, changed, s->context.info);
	}
	CFRelease(changed);
}

CFRunLoopSourceRef SCDynamicStoreCreateRunLoopSource(CFAllocatorRef allocator, SCDynamicStoreRef store, CFIndex order) {
	(void)allocator;
	(void)order;
	struct __SCDynamicStore *s = (struct __SCDynamicStore *)store;
	if (s->source == NULL) {
		s->source = sim_source(s, perform);
	}
	return (CFRunLoopSourceRef)CFRetain(s->source);
}

CFDictionaryRef SCDynamicStoreCopyMultiple(SCDynamicStoreRef store, CFArrayRef keys, CFArrayRef patterns) {
	(void)keys;
	sim_machine *m = store->machine;
	CFMutableDictionaryRef found = CFDictionaryCreateMutable(NULL, 0, NULL, NULL);
	sim_lock(m);
	CFIndex count = CFDictionaryGetCount(m->store);
	const void **pairs = calloc(2 * (size_t)count + 1, sizeof *pairs);
	CFDictionaryGetKeysAndValues(m->store, pairs, pairs + count);
	for (CFIndex p = 0; p < CFArrayGetCount(patterns); p++) {
		regex_t pattern;
		if (!compile(CFArrayGetValueAtIndex(patterns, p), &pattern)) {
			sim_misused("a pattern that is no expression");
			continue;
		}
		for (CFIndex i = 0; i < count; i++) {
			if (regexec(&pattern, sim_chars(pairs[i]), 0, NULL, 0) == 0) {
				CFDictionarySetValue(found, pairs[i], pairs[count + i]);
			}
		}
		regfree(&pattern);
	}
	free(pairs);
	sim_unlock(m);
	return found;
}

void sim_store_set(sim_machine *m, const char *key, const uint8_t *value, size_t length) {
	CFStringRef name = sim_text(key);
	sim_lock(m);
	if (value == NULL) {
		sim_dictionary_remove(m->store, name);
	} else {
		CFTypeRef made = sim_decode(value, length);
		CFDictionarySetValue(m->store, name, made);
		CFRelease(made);
	}
	for (struct __SCDynamicStore *s = m->store_sessions; s != NULL; s = s->next) {
		for (int i = 0; i < s->count; i++) {
			if (regexec(&s->patterns[i], key, 0, NULL, 0) == 0) {
				CFArrayAppendValue(s->changed, name);
				if (s->source != NULL) {
					CFRunLoopSourceSignal(s->source);
				}
				break;
			}
		}
	}
	sim_unlock(m);
	CFRelease(name);
}
