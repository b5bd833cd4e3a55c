//go:build cgo && (darwin || darwinsim)

#include "authorization.h"

#include <CoreFoundation/CoreFoundation.h>
#include <Security/Authorization.h>
#include <Security/AuthorizationDB.h>
#include <stddef.h>
#include <string.h>

#include "result.h"

_Static_assert(sizeof(AuthorizationExternalForm) == FULMEN_FORM_LENGTH, "the length of an external form");

// definition spells out the rule, so that it does not depend on what one of the
// system's names stands for. Without shared: who was authenticated for something
// else has not agreed to this. Without allow-root and session-owner: nobody has it
// for who they are, nor because it is root that asks here.
static CFDictionaryRef definition(int32_t seconds) {
	CFNumberRef timeout = CFNumberCreate(kCFAllocatorDefault, kCFNumberSInt32Type, &seconds);
	if (timeout == NULL) {
		return NULL;
	}
	const void *keys[] = {CFSTR("class"), CFSTR("group"), CFSTR("timeout"), CFSTR("authenticate-user"),
		CFSTR("shared"), CFSTR("allow-root"), CFSTR("session-owner")};
	const void *values[] = {CFSTR("user"), CFSTR("admin"), timeout, kCFBooleanTrue,
		kCFBooleanFalse, kCFBooleanFalse, kCFBooleanFalse};
	CFDictionaryRef made = CFDictionaryCreate(kCFAllocatorDefault, keys, values, sizeof keys / sizeof keys[0],
		&kCFTypeDictionaryKeyCallBacks, &kCFTypeDictionaryValueCallBacks);
	CFRelease(timeout);
	return made;
}

int fulmen_right_define(const char *right, int32_t seconds) {
	CFDictionaryRef rule = definition(seconds);
	if (rule == NULL) {
		return FULMEN_MEMORY;
	}
	AuthorizationRef own = NULL;
	OSStatus status = AuthorizationCreate(NULL, NULL, kAuthorizationFlagDefaults, &own);
	if (status == errAuthorizationSuccess) {
		status = AuthorizationRightSet(own, right, rule, NULL, NULL, NULL);
		AuthorizationFree(own, kAuthorizationFlagDefaults);
	}
	CFRelease(rule);
	return status;
}

// result tells an authorization that does not do from a check that failed.
static int result(OSStatus status) {
	switch (status) {
	case errAuthorizationInvalidRef:
	case errAuthorizationDenied:
	case errAuthorizationCanceled:
	case errAuthorizationInteractionNotAllowed:
	case errAuthorizationInternalizeNotAllowed:
		return FULMEN_REFUSED;
	}
	return status;
}

int fulmen_right_check(const char *right, const uint8_t form[FULMEN_FORM_LENGTH]) {
	AuthorizationExternalForm external;
	memcpy(external.bytes, form, sizeof external.bytes);
	AuthorizationRef shown = NULL;
	OSStatus status = AuthorizationCreateFromExternalForm(&external, &shown);
	if (status != errAuthorizationSuccess) {
		return result(status);
	}
	AuthorizationItem wanted = {right, 0, NULL, 0};
	AuthorizationRights rights = {1, &wanted};
	// Without the flag for interaction nobody is asked: a client cannot have the
	// daemon put a question on the screen. The other flag has the rule looked at.
	status = AuthorizationCopyRights(shown, &rights, NULL, kAuthorizationFlagExtendRights, NULL);
	// The rights are the client's own still: its authorization is not destroyed.
	AuthorizationFree(shown, kAuthorizationFlagDefaults);
	return result(status);
}
