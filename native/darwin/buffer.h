// What C hands to Go: bytes that describe values, so that no CoreFoundation
// object ever crosses and Go frees one thing. buffer.go says the format's other
// half and reads it.
//
// A value is one byte, its tag, and what follows it; numbers are little-endian.
//
//	'i' int64    'r' double as 8 bytes    't' true    'f' false
//	's' text, 'd' data: uint32 length, that many bytes
//	'a' array: uint32 count, values    'm' map: uint32 count, pairs of text and value
//	'n' nothing that can be told: a type without a form here, or nested too deep
#ifndef FULMEN_DARWIN_BUFFER_H
#define FULMEN_DARWIN_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// fulmen_buffer grows as it is written to. All zero is an empty one. Once an
// allocation has failed or the limit was passed, failed is set and nothing more
// is written.
typedef struct {
	uint8_t *bytes;
	size_t length;
	size_t capacity;
	bool failed;
} fulmen_buffer;

// The most that a buffer takes: a registry of the largest Mac is a tenth of it.
#define FULMEN_BUFFER_LIMIT ((size_t)8 << 20)

void fulmen_buffer_free(fulmen_buffer *b);

void fulmen_put_tag(fulmen_buffer *b, char tag);
void fulmen_put_raw(fulmen_buffer *b, const void *bytes, size_t length);
void fulmen_put_int(fulmen_buffer *b, int64_t value);
void fulmen_put_real(fulmen_buffer *b, double value);
void fulmen_put_bool(fulmen_buffer *b, bool value);
void fulmen_put_data(fulmen_buffer *b, char tag, const void *bytes, size_t length);
// fulmen_put_text writes a C string, at most limit bytes of it.
void fulmen_put_text(fulmen_buffer *b, const char *text, size_t limit);

// fulmen_put_count begins an array ('a') or a map ('m') and returns where its
// count is; fulmen_set_count writes the count there once it is known.
size_t fulmen_put_count(fulmen_buffer *b, char tag);
void fulmen_set_count(fulmen_buffer *b, size_t at, uint32_t count);

#endif
