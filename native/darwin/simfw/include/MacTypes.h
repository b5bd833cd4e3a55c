// The part of Apple's MacTypes.h that native/darwin/apple needs.
#ifndef FULMEN_SIM_MACTYPES_H
#define FULMEN_SIM_MACTYPES_H

#include <stdint.h>

typedef uint32_t UInt32;
typedef int32_t OSStatus;

#endif
