// The part of CFBundle.h that native/darwin calls, from the sources that
// CoreFoundation.h names.
#ifndef FULMEN_APPLE_CFBUNDLE_H
#define FULMEN_APPLE_CFBUNDLE_H

#include <CoreFoundation/CFBase.h>

typedef struct __CFBundle *CFBundleRef;

#endif
