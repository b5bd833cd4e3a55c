// CoreFoundation's property-list values as bytes for Go.
#ifndef FULMEN_DARWIN_VALUE_H
#define FULMEN_DARWIN_VALUE_H

#include <CoreFoundation/CoreFoundation.h>

#include "buffer.h"

// fulmen_put_value writes any value, which stays the caller's. NULL and types
// that are no property list are 'n'. Text is UTF-8, whatever it was stored as.
void fulmen_put_value(fulmen_buffer *b, CFTypeRef value);

// fulmen_string makes a CFString of UTF-8, NULL where it is none. The caller
// releases it.
CFStringRef fulmen_string(const char *text);

// fulmen_string_is compares a value of any type with a text.
bool fulmen_string_is(CFTypeRef value, const char *text);

// fulmen_string_copy copies a CFString as UTF-8 with its closing zero; false
// where it is no string or does not fit.
bool fulmen_string_copy(CFTypeRef value, char *into, size_t size);

// fulmen_release releases what may be NULL.
void fulmen_release(CFTypeRef object);

#endif
