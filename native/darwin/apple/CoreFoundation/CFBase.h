// The part of CFBase.h that native/darwin calls, from the sources that
// CoreFoundation.h names.
#ifndef FULMEN_APPLE_CFBASE_H
#define FULMEN_APPLE_CFBASE_H

#include <stdbool.h>
#include <stdint.h>

typedef unsigned char Boolean;
typedef uint8_t UInt8;
typedef int32_t SInt32;
typedef uint32_t UInt32;
typedef long CFIndex;
typedef unsigned long CFTypeID;
typedef unsigned long CFHashCode;
typedef unsigned long CFOptionFlags;
typedef const void *CFTypeRef;
typedef const struct __CFAllocator *CFAllocatorRef;
typedef const struct __CFString *CFStringRef;
typedef CFTypeRef CFPropertyListRef;

typedef struct {
	CFIndex location;
	CFIndex length;
} CFRange;

static inline CFRange CFRangeMake(CFIndex location, CFIndex length) {
	CFRange range = {location, length};
	return range;
}

#define kCFAllocatorDefault ((CFAllocatorRef)NULL)

CFTypeRef CFRetain(CFTypeRef object);
void CFRelease(CFTypeRef object);
CFTypeID CFGetTypeID(CFTypeRef object);
Boolean CFEqual(CFTypeRef a, CFTypeRef b);

#endif
