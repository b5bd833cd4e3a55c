//go:build darwinsim && linux && cgo

#include <Security/AuthorizationDB.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

// The machine's values: "authorizations" are those that programs hold, by external
// form (text, of 32 bytes), each how many seconds ago an administrator was
// authenticated for a right by that right's name; "rights" is the policy database;
// "authorization_status" is what the next call gives in place of an answer.

extern void sim_count(int by);

struct AuthorizationOpaqueRef {
	sim_machine *machine;
	CFDictionaryRef held; // NULL: a new one
};

static CFTypeRef value_of(sim_machine *m, const char *name) {
	CFStringRef key = sim_text(name);
	CFTypeRef value = CFDictionaryGetValue(m->values, key);
	CFRelease(key);
	return value;
}

// fault is the status that is armed, once.
static OSStatus fault(sim_machine *m) {
	OSStatus status = (OSStatus)sim_number(m->values, CFSTR("authorization_status"));
	if (status != 0) {
		sim_dictionary_remove(m->values, CFSTR("authorization_status"));
	}
	return status;
}

static AuthorizationRef make(sim_machine *m, CFDictionaryRef held) {
	struct AuthorizationOpaqueRef *made = calloc(1, sizeof *made);
	made->machine = m;
	made->held = held == NULL ? NULL : CFRetain(held);
	sim_count(1);
	return made;
}

OSStatus AuthorizationCreate(const AuthorizationRights *rights, const AuthorizationEnvironment *environment,
	AuthorizationFlags flags, AuthorizationRef *authorization) {
	sim_machine *m = sim_here();
	if (rights != NULL || environment != NULL || flags != kAuthorizationFlagDefaults) {
		sim_misused("AuthorizationCreate");
	}
	*authorization = make(m, NULL);
	return errAuthorizationSuccess;
}

OSStatus AuthorizationCreateFromExternalForm(const AuthorizationExternalForm *form, AuthorizationRef *authorization) {
	sim_machine *m = sim_here();
	char name[kAuthorizationExternalFormLength + 1] = {0};
	memcpy(name, form->bytes, sizeof form->bytes);
	CFStringRef key = sim_text(name);
	sim_lock(m);
	CFDictionaryRef all = value_of(m, "authorizations");
	CFDictionaryRef held = all == NULL ? NULL : CFDictionaryGetValue(all, key);
	if (held != NULL) {
		*authorization = make(m, held);
	}
	sim_unlock(m);
	CFRelease(key);
	return held == NULL ? errAuthorizationInvalidRef : errAuthorizationSuccess;
}

OSStatus AuthorizationFree(AuthorizationRef authorization, AuthorizationFlags flags) {
	if (flags != kAuthorizationFlagDefaults) {
		sim_misused("AuthorizationFree, which would end the client's own");
	}
	sim_drop(authorization->held);
	free((void *)authorization);
	sim_count(-1);
	return errAuthorizationSuccess;
}

static bool is(CFDictionaryRef rule, CFStringRef key, CFTypeRef value) {
	CFTypeRef have = CFDictionaryGetValue(rule, key);
	return have != NULL && CFEqual(have, value);
}

// decide is what the policy database says of one right. Whoever asks is root,
// for which allow-root counts here: the strictest reading.
static OSStatus decide(sim_machine *m, CFDictionaryRef held, const char *name) {
	CFStringRef key = sim_text(name);
	CFDictionaryRef rights = value_of(m, "rights");
	CFDictionaryRef rule = rights == NULL ? NULL : CFDictionaryGetValue(rights, key);
	CFNumberRef age = held == NULL ? NULL : CFDictionaryGetValue(held, key);
	OSStatus status = errAuthorizationInteractionNotAllowed;
	if (rule == NULL) {
		status = errAuthorizationDenied;
	} else if (is(rule, CFSTR("class"), CFSTR("allow")) || is(rule, CFSTR("allow-root"), kCFBooleanTrue)) {
		status = errAuthorizationSuccess;
	} else if (is(rule, CFSTR("class"), CFSTR("user")) && is(rule, CFSTR("group"), CFSTR("admin")) && age != NULL) {
		int64_t seconds = 0;
		CFNumberGetValue(age, kCFNumberSInt64Type, &seconds);
		if (seconds <= sim_number(rule, CFSTR("timeout"))) {
			status = errAuthorizationSuccess;
		}
	}
	CFRelease(key);
	return status;
}

OSStatus AuthorizationCopyRights(AuthorizationRef authorization, const AuthorizationRights *rights,
	const AuthorizationEnvironment *environment, AuthorizationFlags flags, AuthorizationRights **authorized) {
	sim_machine *m = authorization->machine;
	if (rights->count != 1 || environment != NULL || flags != kAuthorizationFlagExtendRights || authorized != NULL) {
		sim_misused("AuthorizationCopyRights");
	}
	sim_lock(m);
	OSStatus status = fault(m);
	if (status == errAuthorizationSuccess) {
		status = decide(m, authorization->held, rights->items[0].name);
	}
	sim_unlock(m);
	return status;
}

OSStatus AuthorizationRightSet(AuthorizationRef authorization, const char *name, CFTypeRef definition,
	CFStringRef description, CFBundleRef bundle, CFStringRef table) {
	sim_machine *m = authorization->machine;
	if (description != NULL || bundle != NULL || table != NULL) {
		sim_misused("AuthorizationRightSet");
	}
	sim_lock(m);
	OSStatus status = fault(m);
	CFDictionaryRef rights = value_of(m, "rights");
	if (status == errAuthorizationSuccess && rights != NULL) {
		CFStringRef key = sim_text(name);
		CFTypeRef copy = sim_copy(definition);
		CFDictionarySetValue((CFMutableDictionaryRef)rights, key, copy);
		CFRelease(copy);
		CFRelease(key);
	}
	sim_unlock(m);
	return status;
}
