// The part of the policy database's functions that Fulmen calls, after Apple's
// documentation of Authorization Services C Reference.
#ifndef FULMEN_APPLE_SECURITY_AUTHORIZATIONDB_H
#define FULMEN_APPLE_SECURITY_AUTHORIZATIONDB_H

#include <CoreFoundation/CoreFoundation.h>
#include <Security/Authorization.h>

OSStatus AuthorizationRightSet(AuthorizationRef authorization, const char *name, CFTypeRef definition,
	CFStringRef description, CFBundleRef bundle, CFStringRef table);

#endif
