//go:build cgo && (darwin || darwinsim)

#include "value.h"

#include <stdlib.h>
#include <string.h>

// How deep arrays and dictionaries nest before they are cut: the registry's
// deepest property has four levels.
enum { MAX_DEPTH = 12 };

static void put_value(fulmen_buffer *b, CFTypeRef value, int depth);

void fulmen_release(CFTypeRef object) {
	if (object != NULL) {
		CFRelease(object);
	}
}

CFStringRef fulmen_string(const char *text) {
	return CFStringCreateWithCString(kCFAllocatorDefault, text, kCFStringEncodingUTF8);
}

bool fulmen_string_copy(CFTypeRef value, char *into, size_t size) {
	if (size > 0) {
		into[0] = 0;
	}
	return value != NULL && CFGetTypeID(value) == CFStringGetTypeID() &&
		CFStringGetCString((CFStringRef)value, into, (CFIndex)size, kCFStringEncodingUTF8);
}

bool fulmen_string_is(CFTypeRef value, const char *text) {
	char have[256];
	return fulmen_string_copy(value, have, sizeof have) && strcmp(have, text) == 0;
}

// put_string writes UTF-8. CFStringGetBytes replaces what has no form in it, so
// that half a surrogate pair does not lose the whole text.
static void put_string(fulmen_buffer *b, CFStringRef text) {
	CFRange all = CFRangeMake(0, CFStringGetLength(text));
	CFIndex size = 0;
	CFStringGetBytes(text, all, kCFStringEncodingUTF8, '?', false, NULL, 0, &size);
	if (size < 0 || (size_t)size > FULMEN_BUFFER_LIMIT) {
		b->failed = true;
		return;
	}
	UInt8 *bytes = malloc((size_t)size + 1);
	if (bytes == NULL) {
		b->failed = true;
		return;
	}
	CFStringGetBytes(text, all, kCFStringEncodingUTF8, '?', false, bytes, size, &size);
	fulmen_put_data(b, 's', bytes, (size_t)size);
	free(bytes);
}

static void put_number(fulmen_buffer *b, CFNumberRef number) {
	int64_t whole;
	double real;
	if (!CFNumberIsFloatType(number) && CFNumberGetValue(number, kCFNumberSInt64Type, &whole)) {
		fulmen_put_int(b, whole);
	} else if (CFNumberGetValue(number, kCFNumberDoubleType, &real)) {
		fulmen_put_real(b, real);
	} else {
		fulmen_put_tag(b, 'n');
	}
}

static void put_array(fulmen_buffer *b, CFArrayRef array, int depth) {
	CFIndex count = CFArrayGetCount(array);
	size_t at = fulmen_put_count(b, 'a');
	for (CFIndex i = 0; i < count; i++) {
		put_value(b, CFArrayGetValueAtIndex(array, i), depth + 1);
	}
	fulmen_set_count(b, at, (uint32_t)count);
}

// put_dictionary writes the pairs whose key is a string; property lists have no
// others.
static void put_dictionary(fulmen_buffer *b, CFDictionaryRef dictionary, int depth) {
	CFIndex count = CFDictionaryGetCount(dictionary);
	const void **pairs = calloc(2 * (size_t)count + 1, sizeof *pairs);
	if (pairs == NULL) {
		b->failed = true;
		return;
	}
	CFDictionaryGetKeysAndValues(dictionary, pairs, pairs + count);
	uint32_t written = 0;
	size_t at = fulmen_put_count(b, 'm');
	for (CFIndex i = 0; i < count; i++) {
		if (CFGetTypeID(pairs[i]) == CFStringGetTypeID()) {
			put_string(b, pairs[i]);
			put_value(b, pairs[count + i], depth + 1);
			written++;
		}
	}
	fulmen_set_count(b, at, written);
	free(pairs);
}

static void put_value(fulmen_buffer *b, CFTypeRef value, int depth) {
	CFTypeID type = value == NULL || depth > MAX_DEPTH ? 0 : CFGetTypeID(value);
	if (type == 0) {
		fulmen_put_tag(b, 'n');
	} else if (type == CFStringGetTypeID()) {
		put_string(b, value);
	} else if (type == CFNumberGetTypeID()) {
		put_number(b, value);
	} else if (type == CFBooleanGetTypeID()) {
		fulmen_put_bool(b, CFBooleanGetValue(value));
	} else if (type == CFDataGetTypeID()) {
		fulmen_put_data(b, 'd', CFDataGetBytePtr(value), (size_t)CFDataGetLength(value));
	} else if (type == CFArrayGetTypeID()) {
		put_array(b, value, depth);
	} else if (type == CFDictionaryGetTypeID()) {
		put_dictionary(b, value, depth);
	} else {
		fulmen_put_tag(b, 'n'); // a date, a set, an error
	}
}

void fulmen_put_value(fulmen_buffer *b, CFTypeRef value) { put_value(b, value, 0); }
