// The part of Authorization Services that Fulmen calls, after Apple's
// documentation of Authorization Services C Reference.
#ifndef FULMEN_APPLE_SECURITY_AUTHORIZATION_H
#define FULMEN_APPLE_SECURITY_AUTHORIZATION_H

#include <MacTypes.h>
#include <stdio.h>

typedef const struct AuthorizationOpaqueRef *AuthorizationRef;
typedef UInt32 AuthorizationFlags;
typedef const char *AuthorizationString;

typedef struct {
	AuthorizationString name;
	size_t valueLength;
	void *value;
	UInt32 flags;
} AuthorizationItem;

typedef struct {
	UInt32 count;
	AuthorizationItem *items;
} AuthorizationItemSet;

typedef AuthorizationItemSet AuthorizationRights;
typedef AuthorizationItemSet AuthorizationEnvironment;

#define kAuthorizationExternalFormLength 32
typedef struct {
	char bytes[kAuthorizationExternalFormLength];
} AuthorizationExternalForm;

enum {
	errAuthorizationSuccess = 0,
	errAuthorizationInvalidRef = -60002,
	errAuthorizationDenied = -60005,
	errAuthorizationCanceled = -60006,
	errAuthorizationInteractionNotAllowed = -60007,
	errAuthorizationInternalizeNotAllowed = -60010,
};

enum {
	kAuthorizationFlagDefaults = 0,
	kAuthorizationFlagInteractionAllowed = 1 << 0,
	kAuthorizationFlagExtendRights = 1 << 1,
};

OSStatus AuthorizationCreate(const AuthorizationRights *rights, const AuthorizationEnvironment *environment,
	AuthorizationFlags flags, AuthorizationRef *authorization);
OSStatus AuthorizationCopyRights(AuthorizationRef authorization, const AuthorizationRights *rights,
	const AuthorizationEnvironment *environment, AuthorizationFlags flags, AuthorizationRights **authorized);
OSStatus AuthorizationMakeExternalForm(AuthorizationRef authorization, AuthorizationExternalForm *form);
OSStatus AuthorizationCreateFromExternalForm(const AuthorizationExternalForm *form, AuthorizationRef *authorization);
OSStatus AuthorizationFree(AuthorizationRef authorization, AuthorizationFlags flags);

#endif
