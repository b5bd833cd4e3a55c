// The rights of one process, as Authorization Services gives them.
#ifndef FULMEN_AUTHORIZATION_H
#define FULMEN_AUTHORIZATION_H

#include <stddef.h>
#include <stdint.h>

// FULMEN_PROOF_LENGTH is kAuthorizationExternalFormLength.
#define FULMEN_PROOF_LENGTH 32

// fulmen_authorization_obtain has the system ask for a right, saying why, and
// fills in the external form of the authorization that has it. own is where the
// AuthorizationRef is kept, NULL at first. Gives the OSStatus of what failed, or 0.
int32_t fulmen_authorization_obtain(void **own, char *right, char *why, size_t why_length,
	uint8_t proof[FULMEN_PROOF_LENGTH]);

#endif
