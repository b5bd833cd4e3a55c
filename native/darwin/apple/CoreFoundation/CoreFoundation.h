// The part of CoreFoundation that native/darwin calls, declared by this project
// from Apple's public documentation of each function (developer.apple.com,
// CoreFoundation reference; constants are part of the stable ABI). It is used
// where Apple's own headers are not: to compile the C files for macOS on Linux,
// and to run them there over native/darwin/simfw.
#ifndef FULMEN_APPLE_COREFOUNDATION_H
#define FULMEN_APPLE_COREFOUNDATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <CoreFoundation/CFBase.h>
#include <CoreFoundation/CFArray.h>
#include <CoreFoundation/CFBundle.h>
#include <CoreFoundation/CFData.h>
#include <CoreFoundation/CFDate.h>
#include <CoreFoundation/CFDictionary.h>
#include <CoreFoundation/CFNumber.h>
#include <CoreFoundation/CFRunLoop.h>
#include <CoreFoundation/CFString.h>

#endif
