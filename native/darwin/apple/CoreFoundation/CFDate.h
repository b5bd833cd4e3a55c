// The part of CFDate.h that native/darwin calls, from the sources that
// CoreFoundation.h names.
#ifndef FULMEN_APPLE_CFDATE_H
#define FULMEN_APPLE_CFDATE_H

#include <CoreFoundation/CFBase.h>

typedef double CFTimeInterval;
typedef double CFAbsoluteTime;

#endif
