//go:build darwinsim && linux && cgo

#include "sim.h"

#include <stdlib.h>
#include <string.h>

struct __fulmen_array_callbacks {
	int unused;
};
struct __fulmen_key_callbacks {
	int unused;
};
struct __fulmen_value_callbacks {
	int unused;
};
const CFArrayCallBacks kCFTypeArrayCallBacks;
const CFDictionaryKeyCallBacks kCFTypeDictionaryKeyCallBacks;
const CFDictionaryValueCallBacks kCFTypeDictionaryValueCallBacks;

struct __CFArray {
	sim_base base;
	CFIndex count, capacity;
	const void **values;
};

static void destroy_array(void *object) {
	struct __CFArray *array = object;
	for (CFIndex i = 0; i < array->count; i++) {
		CFRelease(array->values[i]);
	}
	free(array->values);
}

CFTypeID CFArrayGetTypeID(void) { return SIM_ARRAY; }
CFIndex CFArrayGetCount(CFArrayRef array) { return array->count; }

const void *CFArrayGetValueAtIndex(CFArrayRef array, CFIndex index) {
	if (index < 0 || index >= array->count) {
		abort(); // as CoreFoundation does
	}
	return array->values[index];
}

CFMutableArrayRef CFArrayCreateMutable(CFAllocatorRef allocator, CFIndex capacity, const CFArrayCallBacks *callbacks) {
	(void)allocator;
	(void)capacity;
	(void)callbacks;
	sim_set_destroy(SIM_ARRAY, destroy_array);
	return sim_make(SIM_ARRAY, sizeof(struct __CFArray));
}

void CFArrayAppendValue(CFMutableArrayRef array, const void *value) {
	if (array->count == array->capacity) {
		array->capacity = 2 * array->capacity + 4;
		array->values = realloc(array->values, (size_t)array->capacity * sizeof *array->values);
	}
	array->values[array->count++] = CFRetain(value);
}

void sim_array_remove(CFMutableArrayRef array, CFIndex index) {
	CFRelease(array->values[index]);
	array->count--;
	memmove(array->values + index, array->values + index + 1, (size_t)(array->count - index) * sizeof *array->values);
}

CFArrayRef CFArrayCreate(CFAllocatorRef allocator, const void **values, CFIndex count, const CFArrayCallBacks *callbacks) {
	CFMutableArrayRef array = CFArrayCreateMutable(allocator, count, callbacks);
	for (CFIndex i = 0; i < count; i++) {
		CFArrayAppendValue(array, values[i]);
	}
	return array;
}

struct __CFDictionary {
	sim_base base;
	CFIndex count, capacity;
	const void **keys, **values;
};

static void destroy_dictionary(void *object) {
	struct __CFDictionary *dictionary = object;
	for (CFIndex i = 0; i < dictionary->count; i++) {
		CFRelease(dictionary->keys[i]);
		CFRelease(dictionary->values[i]);
	}
	free(dictionary->keys);
	free(dictionary->values);
}

static CFIndex find(CFDictionaryRef dictionary, const void *key) {
	for (CFIndex i = 0; i < dictionary->count; i++) {
		if (CFEqual(dictionary->keys[i], key)) {
			return i;
		}
	}
	return -1;
}

CFTypeID CFDictionaryGetTypeID(void) { return SIM_DICTIONARY; }
CFIndex CFDictionaryGetCount(CFDictionaryRef dictionary) { return dictionary->count; }

CFMutableDictionaryRef CFDictionaryCreateMutable(CFAllocatorRef allocator, CFIndex capacity,
	const CFDictionaryKeyCallBacks *key_callbacks, const CFDictionaryValueCallBacks *value_callbacks) {
	(void)allocator;
	(void)capacity;
	(void)key_callbacks;
	(void)value_callbacks;
	sim_set_destroy(SIM_DICTIONARY, destroy_dictionary);
	return sim_make(SIM_DICTIONARY, sizeof(struct __CFDictionary));
}

const void *CFDictionaryGetValue(CFDictionaryRef dictionary, const void *key) {
	CFIndex i = find(dictionary, key);
	return i < 0 ? NULL : dictionary->values[i];
}

void CFDictionarySetValue(CFMutableDictionaryRef dictionary, const void *key, const void *value) {
	CFRetain(value);
	CFIndex i = find(dictionary, key);
	if (i >= 0) {
		CFRelease(dictionary->values[i]);
		dictionary->values[i] = value;
		return;
	}
	if (dictionary->count == dictionary->capacity) {
		dictionary->capacity = 2 * dictionary->capacity + 4;
		dictionary->keys = realloc(dictionary->keys, (size_t)dictionary->capacity * sizeof *dictionary->keys);
		dictionary->values = realloc(dictionary->values, (size_t)dictionary->capacity * sizeof *dictionary->values);
	}
	dictionary->keys[dictionary->count] = CFRetain(key);
	dictionary->values[dictionary->count++] = value;
}

void sim_dictionary_remove(CFMutableDictionaryRef dictionary, const void *key) {
	CFIndex i = find(dictionary, key);
	if (i < 0) {
		return;
	}
	CFRelease(dictionary->keys[i]);
	CFRelease(dictionary->values[i]);
	dictionary->count--;
	dictionary->keys[i] = dictionary->keys[dictionary->count];
	dictionary->values[i] = dictionary->values[dictionary->count];
}

CFMutableDictionaryRef CFDictionaryCreateMutableCopy(CFAllocatorRef allocator, CFIndex capacity, CFDictionaryRef dictionary) {
	CFMutableDictionaryRef made = CFDictionaryCreateMutable(allocator, capacity, NULL, NULL);
	for (CFIndex i = 0; i < dictionary->count; i++) {
		CFDictionarySetValue(made, dictionary->keys[i], dictionary->values[i]);
	}
	return made;
}

CFDictionaryRef CFDictionaryCreate(CFAllocatorRef allocator, const void **keys, const void **values, CFIndex count,
	const CFDictionaryKeyCallBacks *key_callbacks, const CFDictionaryValueCallBacks *value_callbacks) {
	CFMutableDictionaryRef made = CFDictionaryCreateMutable(allocator, count, key_callbacks, value_callbacks);
	for (CFIndex i = 0; i < count; i++) {
		CFDictionarySetValue(made, keys[i], values[i]);
	}
	return made;
}

void CFDictionaryGetKeysAndValues(CFDictionaryRef dictionary, const void **keys, const void **values) {
	for (CFIndex i = 0; i < dictionary->count; i++) {
		if (keys != NULL) {
			keys[i] = dictionary->keys[i];
		}
		if (values != NULL) {
			values[i] = dictionary->values[i];
		}
	}
}

int64_t sim_number(CFDictionaryRef of, CFStringRef key) {
	int64_t n = 0;
	CFNumberRef value = CFDictionaryGetValue(of, key);
	if (value != NULL) {
		CFNumberGetValue(value, kCFNumberSInt64Type, &n);
	}
	return n;
}

CFTypeRef sim_copy(CFTypeRef value) {
	switch (((const sim_base *)value)->type) {
	case SIM_ARRAY: {
		CFArrayRef from = value;
		CFMutableArrayRef to = CFArrayCreateMutable(NULL, 0, NULL);
		for (CFIndex i = 0; i < from->count; i++) {
			CFTypeRef element = sim_copy(from->values[i]);
			CFArrayAppendValue(to, element);
			CFRelease(element);
		}
		return to;
	}
	case SIM_DICTIONARY: {
		CFDictionaryRef from = value;
		CFMutableDictionaryRef to = CFDictionaryCreateMutable(NULL, 0, NULL, NULL);
		for (CFIndex i = 0; i < from->count; i++) {
			CFTypeRef element = sim_copy(from->values[i]);
			CFDictionarySetValue(to, from->keys[i], element);
			CFRelease(element);
		}
		return to;
	}
	default:
		return CFRetain(value);
	}
}

// A reader of the bytes that Go sends: the same form as what Go is sent.
typedef struct {
	const uint8_t *at, *end;
} reader;

static uint64_t take(reader *r, int size) {
	uint64_t value = 0;
	for (int i = 0; i < size; i++) {
		if (r->at == r->end) {
			abort(); // Go wrote it
		}
		value |= (uint64_t)*r->at++ << (8 * i);
	}
	return value;
}

static CFTypeRef decode(reader *r);

static CFTypeRef decode_text(reader *r, size_t length) {
	char *text = strndup((const char *)r->at, length);
	CFStringRef made = sim_text(text);
	free(text);
	r->at += length;
	return made;
}

static CFTypeRef decode_array(reader *r, size_t count) {
	CFMutableArrayRef array = CFArrayCreateMutable(NULL, 0, NULL);
	for (size_t i = 0; i < count; i++) {
		CFTypeRef value = decode(r);
		CFArrayAppendValue(array, value);
		CFRelease(value);
	}
	return array;
}

static CFTypeRef decode_map(reader *r, size_t count) {
	CFMutableDictionaryRef map = CFDictionaryCreateMutable(NULL, 0, NULL, NULL);
	for (size_t i = 0; i < count; i++) {
		CFTypeRef key = decode(r), value = decode(r);
		CFDictionarySetValue(map, key, value);
		CFRelease(key);
		CFRelease(value);
	}
	return map;
}

static CFTypeRef decode(reader *r) {
	char tag = (char)take(r, 1);
	int64_t bits;
	double real;
	switch (tag) {
	case 't':
	case 'f':
		return CFRetain(tag == 't' ? kCFBooleanTrue : kCFBooleanFalse);
	case 'i':
		bits = (int64_t)take(r, 8);
		return CFNumberCreate(NULL, kCFNumberSInt64Type, &bits);
	case 'r':
		bits = (int64_t)take(r, 8);
		memcpy(&real, &bits, sizeof real);
		return CFNumberCreate(NULL, kCFNumberDoubleType, &real);
	}
	size_t length = (size_t)take(r, 4);
	switch (tag) {
	case 's':
		return decode_text(r, length);
	case 'd':
		r->at += length;
		return CFDataCreate(NULL, r->at - length, (CFIndex)length);
	case 'a':
		return decode_array(r, length);
	case 'm':
		return decode_map(r, length);
	}
	abort();
}

CFTypeRef sim_decode(const uint8_t *bytes, size_t length) {
	reader r = {bytes, bytes + length};
	return decode(&r);
}
