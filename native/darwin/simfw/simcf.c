//go:build darwinsim && linux && cgo

#include "sim.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static atomic_long live;
static atomic_long misuses;
static void (*destroyers[SIM_TYPES])(void *);

void sim_misused(const char *what) {
	fprintf(stderr, "simulated frameworks: %s\n", what);
	atomic_fetch_add(&misuses, 1);
}

long sim_misuses(void) { return atomic_load(&misuses); }
long sim_live(void) { return atomic_load(&live); }
void sim_count(int by) { atomic_fetch_add(&live, by); }

void *sim_make(enum sim_type type, size_t size) {
	sim_base *made = calloc(1, size);
	if (made == NULL) {
		abort();
	}
	made->type = type;
	made->references = 1;
	atomic_fetch_add(&live, 1);
	return made;
}

void sim_set_destroy(enum sim_type type, void (*destroy)(void *object)) { destroyers[type] = destroy; }

CFTypeRef CFRetain(CFTypeRef object) {
	sim_base *base = (sim_base *)object;
	if (base->references >= 0) {
		__atomic_add_fetch(&base->references, 1, __ATOMIC_SEQ_CST);
	}
	return object;
}

void CFRelease(CFTypeRef object) {
	sim_base *base = (sim_base *)object;
	if (base == NULL) {
		abort(); // as CoreFoundation does
	}
	if (base->references < 0 || __atomic_sub_fetch(&base->references, 1, __ATOMIC_SEQ_CST) > 0) {
		return;
	}
	if (destroyers[base->type] != NULL) {
		destroyers[base->type](base);
	}
	atomic_fetch_sub(&live, 1);
	free(base);
}

void sim_drop(const void *object) {
	if (object != NULL) {
		CFRelease(object);
	}
}

CFTypeID CFGetTypeID(CFTypeRef object) { return ((const sim_base *)object)->type; }

// Strings are kept as the bytes they came in; what is no UTF-8 has half of its
// surrogate missing, so to speak.
static void destroy_string(void *object) { free(((struct __CFString *)object)->text); }

CFStringRef sim_text(const char *utf8) {
	struct __CFString *made = sim_make(SIM_STRING, sizeof *made);
	made->text = strdup(utf8);
	sim_set_destroy(SIM_STRING, destroy_string);
	return made;
}

const char *sim_chars(CFStringRef text) { return text->text; }

CFTypeID CFStringGetTypeID(void) { return SIM_STRING; }

CFStringRef CFStringCreateWithCString(CFAllocatorRef allocator, const char *text, CFStringEncoding encoding) {
	(void)allocator;
	(void)encoding;
	return sim_text(text);
}

// Literals live for ever, as the compiler's do.
CFStringRef __CFStringMakeConstantString(const char *text) {
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct __CFString **literals;
	static size_t count;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(literals[i]->text, text) == 0) {
			pthread_mutex_unlock(&lock);
			return literals[i];
		}
	}
	literals = realloc(literals, (count + 1) * sizeof *literals);
	struct __CFString *made = (struct __CFString *)sim_text(text);
	atomic_fetch_sub(&live, 1);
	made->base.references = -1;
	literals[count++] = made;
	pthread_mutex_unlock(&lock);
	return made;
}

CFIndex CFStringGetLength(CFStringRef text) { return (CFIndex)strlen(text->text); }

static bool is_utf8(const unsigned char *s) {
	for (; *s != 0; s++) {
		int more = *s < 0x80 ? 0 : *s >= 0xC2 && *s < 0xE0 ? 1 : (*s & 0xF0) == 0xE0 ? 2 : *s >= 0xF0 && *s < 0xF5 ? 3 : -1;
		if (more < 0) {
			return false;
		}
		for (; more > 0; more--) {
			if ((*++s & 0xC0) != 0x80) {
				return false;
			}
		}
	}
	return true;
}

Boolean CFStringGetCString(CFStringRef text, char *buffer, CFIndex size, CFStringEncoding encoding) {
	(void)encoding;
	if (!is_utf8((const unsigned char *)text->text) || (CFIndex)strlen(text->text) >= size) {
		return false;
	}
	strcpy(buffer, text->text);
	return true;
}

CFIndex CFStringGetBytes(CFStringRef text, CFRange range, CFStringEncoding encoding, UInt8 loss_byte, Boolean external,
	UInt8 *buffer, CFIndex size, CFIndex *used) {
	(void)encoding;
	(void)external;
	bool good = is_utf8((const unsigned char *)text->text);
	for (CFIndex i = 0; i < range.length && buffer != NULL && i < size; i++) {
		UInt8 byte = (UInt8)text->text[range.location + i];
		buffer[i] = good || byte < 0x80 ? byte : loss_byte;
	}
	*used = range.length;
	return range.length;
}

struct __CFNumber {
	sim_base base;
	bool real;
	int64_t whole;
	double value;
};

CFTypeID CFNumberGetTypeID(void) { return SIM_NUMBER; }

CFNumberRef CFNumberCreate(CFAllocatorRef allocator, CFNumberType type, const void *value) {
	(void)allocator;
	struct __CFNumber *made = sim_make(SIM_NUMBER, sizeof *made);
	made->real = type == kCFNumberDoubleType;
	if (made->real) {
		made->value = *(const double *)value;
	} else {
		made->whole = type == kCFNumberSInt32Type ? *(const int32_t *)value : *(const int64_t *)value;
	}
	return made;
}

Boolean CFNumberIsFloatType(CFNumberRef number) { return number->real; }

Boolean CFNumberGetValue(CFNumberRef number, CFNumberType type, void *value) {
	double real = number->real ? number->value : (double)number->whole;
	int64_t whole = number->real ? (int64_t)number->value : number->whole;
	switch (type) {
	case kCFNumberDoubleType:
		memcpy(value, &real, sizeof real);
		return true;
	case kCFNumberSInt64Type:
		memcpy(value, &whole, sizeof whole);
		return !number->real;
	case kCFNumberSInt32Type: {
		int32_t narrow = (int32_t)whole;
		memcpy(value, &narrow, sizeof narrow);
		return !number->real && narrow == whole;
	}
	}
	return false;
}

struct __CFBoolean {
	sim_base base;
};

static const struct __CFBoolean yes = {{SIM_BOOLEAN, -1}}, no = {{SIM_BOOLEAN, -1}};
const CFBooleanRef kCFBooleanTrue = &yes, kCFBooleanFalse = &no;
CFTypeID CFBooleanGetTypeID(void) { return SIM_BOOLEAN; }
Boolean CFBooleanGetValue(CFBooleanRef boolean) { return boolean == &yes; }

struct __CFData {
	sim_base base;
	CFIndex length;
	UInt8 *bytes;
};

static void destroy_data(void *object) { free(((struct __CFData *)object)->bytes); }
CFTypeID CFDataGetTypeID(void) { return SIM_DATA; }
CFIndex CFDataGetLength(CFDataRef data) { return data->length; }
const UInt8 *CFDataGetBytePtr(CFDataRef data) { return data->bytes; }

CFDataRef CFDataCreate(CFAllocatorRef allocator, const UInt8 *bytes, CFIndex length) {
	(void)allocator;
	struct __CFData *made = sim_make(SIM_DATA, sizeof *made);
	sim_set_destroy(SIM_DATA, destroy_data);
	made->length = length;
	made->bytes = malloc((size_t)length + 1);
	memcpy(made->bytes, bytes, (size_t)length);
	return made;
}

Boolean CFEqual(CFTypeRef a, CFTypeRef b) {
	if (a == b) {
		return true;
	}
	if (CFGetTypeID(a) != CFGetTypeID(b)) {
		return false;
	}
	switch (((const sim_base *)a)->type) {
	case SIM_STRING:
		return strcmp(sim_chars(a), sim_chars(b)) == 0;
	case SIM_NUMBER: {
		const struct __CFNumber *x = a, *y = b;
		return x->real == y->real && (x->real ? x->value == y->value : x->whole == y->whole);
	}
	case SIM_DATA: {
		const struct __CFData *x = a, *y = b;
		return x->length == y->length && memcmp(x->bytes, y->bytes, (size_t)x->length) == 0;
	}
	default:
		return false; // nobody here compares collections
	}
}
