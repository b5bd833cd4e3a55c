// Rights of Authorization Services, on the side that demands them.
#ifndef FULMEN_DARWIN_AUTHORIZATION_H
#define FULMEN_DARWIN_AUTHORIZATION_H

#include <stdint.h>

// FULMEN_FORM_LENGTH is kAuthorizationExternalFormLength.
#define FULMEN_FORM_LENGTH 32

// fulmen_right_define writes what a right takes, in place of what the system's
// database has under its name: an administrator who was authenticated for it at
// most so many seconds ago. Gives 0, FULMEN_MEMORY or the OSStatus; only root may.
int fulmen_right_define(const char *right, int32_t seconds);

// fulmen_right_check asks whether the authorization of an external form gives a
// right, without asking anybody. Gives 0, FULMEN_REFUSED where it does not or is
// none, else the OSStatus. Nothing of the authorization is kept.
int fulmen_right_check(const char *right, const uint8_t form[FULMEN_FORM_LENGTH]);

#endif
