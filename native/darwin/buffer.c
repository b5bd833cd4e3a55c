//go:build cgo && (darwin || darwinsim)

#include "buffer.h"

#include <stdlib.h>
#include <string.h>

void fulmen_buffer_free(fulmen_buffer *b) {
	free(b->bytes);
	memset(b, 0, sizeof *b);
}

void fulmen_put_raw(fulmen_buffer *b, const void *bytes, size_t length) {
	if (b->failed) {
		return;
	}
	if (length > FULMEN_BUFFER_LIMIT - b->length) {
		b->failed = true;
		return;
	}
	if (length > b->capacity - b->length) {
		size_t capacity = b->capacity == 0 ? 4096 : b->capacity;
		while (capacity < b->length + length) {
			capacity *= 2;
		}
		uint8_t *grown = realloc(b->bytes, capacity);
		if (grown == NULL) {
			b->failed = true; // the bytes so far stay the buffer's
			return;
		}
		b->bytes = grown;
		b->capacity = capacity;
	}
	if (length > 0) {
		memcpy(b->bytes + b->length, bytes, length);
		b->length += length;
	}
}

void fulmen_put_tag(fulmen_buffer *b, char tag) { fulmen_put_raw(b, &tag, 1); }

static void put_number(fulmen_buffer *b, uint64_t value, int size) {
	uint8_t bytes[8];
	for (int i = 0; i < size; i++) {
		bytes[i] = (uint8_t)(value >> (8 * i));
	}
	fulmen_put_raw(b, bytes, (size_t)size);
}

void fulmen_put_int(fulmen_buffer *b, int64_t value) {
	fulmen_put_tag(b, 'i');
	put_number(b, (uint64_t)value, 8);
}

void fulmen_put_real(fulmen_buffer *b, double value) {
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	fulmen_put_tag(b, 'r');
	put_number(b, bits, 8);
}

void fulmen_put_bool(fulmen_buffer *b, bool value) { fulmen_put_tag(b, value ? 't' : 'f'); }

void fulmen_put_data(fulmen_buffer *b, char tag, const void *bytes, size_t length) {
	if (length > UINT32_MAX) {
		b->failed = true;
		return;
	}
	fulmen_put_tag(b, tag);
	put_number(b, length, 4);
	fulmen_put_raw(b, bytes, length);
}

void fulmen_put_text(fulmen_buffer *b, const char *text, size_t limit) {
	fulmen_put_data(b, 's', text, strnlen(text, limit));
}

size_t fulmen_put_count(fulmen_buffer *b, char tag) {
	fulmen_put_tag(b, tag);
	size_t at = b->length;
	put_number(b, 0, 4);
	return at;
}

void fulmen_set_count(fulmen_buffer *b, size_t at, uint32_t count) {
	if (b->failed) {
		return;
	}
	for (int i = 0; i < 4; i++) {
		b->bytes[at + (size_t)i] = (uint8_t)(count >> (8 * i));
	}
}
