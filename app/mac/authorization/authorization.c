#include "authorization.h"

#include <string.h>

#include <Security/Authorization.h>
#include <Security/AuthorizationTags.h>

int32_t fulmen_authorization_obtain(void **own, char *right, char *why, size_t why_length,
	uint8_t proof[FULMEN_PROOF_LENGTH])
{
	AuthorizationRef authorization = *own;
	AuthorizationItem wanted = {right, 0, NULL, 0};
	AuthorizationRights rights = {1, &wanted};
	AuthorizationItem said = {kAuthorizationEnvironmentPrompt, why_length, why, 0};
	AuthorizationEnvironment environment = {1, &said};
	AuthorizationExternalForm form;
	OSStatus status = errAuthorizationSuccess;

	if (authorization == NULL) {
		status = AuthorizationCreate(NULL, NULL, kAuthorizationFlagDefaults, &authorization);
		if (status == errAuthorizationSuccess)
			*own = (void *)authorization;
	}
	if (status == errAuthorizationSuccess)
		status = AuthorizationCopyRights(authorization, &rights, &environment,
			kAuthorizationFlagInteractionAllowed | kAuthorizationFlagExtendRights, NULL);
	if (status == errAuthorizationSuccess)
		status = AuthorizationMakeExternalForm(authorization, &form);
	if (status == errAuthorizationSuccess)
		memcpy(proof, form.bytes, FULMEN_PROOF_LENGTH);
	return status;
}
