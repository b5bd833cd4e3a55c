// The names of what is told with an authorization, as far as Fulmen tells it,
// after Apple's documentation of Authorization Services C Reference.
#ifndef FULMEN_APPLE_SECURITY_AUTHORIZATIONTAGS_H
#define FULMEN_APPLE_SECURITY_AUTHORIZATIONTAGS_H

#define kAuthorizationEnvironmentPrompt "prompt"

#endif
