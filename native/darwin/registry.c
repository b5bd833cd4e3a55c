//go:build cgo && (darwin || darwinsim)

#include "registry.h"

#include <IOKit/IOKitLib.h>
#include <stdlib.h>
#include <string.h>

#include "registrykinds.h"
#include "value.h"

enum {
	MAX_DEPTH = 48,     // a peer behind six hubs is at 20
	MAX_ENTRIES = 4096, // a Mac Studio with six peers has some hundreds
	MAX_ATTEMPTS = 8,   // of a walk that the registry disturbs
	MAX_CLASSES = 48,   // that are remembered; others are asked for every time
};

// walk is one reading: what is written, and what was seen, because a property or
// a bug may lead the same way twice.
typedef struct {
	fulmen_buffer *out;
	const fulmen_kind *kinds;
	uint32_t count;
	uint64_t *seen;
	// The kernel is asked once for each class what it conforms to.
	struct {
		io_name_t class_name;
		const fulmen_kind *kind;
	} classes[MAX_CLASSES];
	int class_count;
} walk;

// put_property reads one key; nothing is written, and 0 returned, where the entry
// lacks it or has just lost it.
static uint32_t put_property(fulmen_buffer *out, io_registry_entry_t entry, const char *key) {
	bool above = key[0] == '^';
	CFStringRef name = fulmen_string(key + above);
	if (name == NULL) {
		return 0;
	}
	CFTypeRef value = above
		? IORegistryEntrySearchCFProperty(entry, kIOServicePlane, name, kCFAllocatorDefault,
			kIORegistryIterateRecursively | kIORegistryIterateParents)
		: IORegistryEntryCreateCFProperty(entry, name, kCFAllocatorDefault, 0);
	CFRelease(name);
	if (value == NULL) {
		return 0;
	}
	fulmen_put_text(out, key, SIZE_MAX);
	fulmen_put_value(out, value);
	CFRelease(value);
	return 1;
}

// put_entry writes what an entry is, without its properties.
static void put_entry(fulmen_buffer *out, io_registry_entry_t entry, uint64_t id, uint64_t parent, const char *kind, const char *plane) {
	io_name_t text = "";
	size_t fields = fulmen_put_count(out, 'a');
	fulmen_put_int(out, (int64_t)id);
	fulmen_put_int(out, (int64_t)parent);
	fulmen_put_text(out, kind, SIZE_MAX);
	if (IOObjectGetClass(entry, text) != KERN_SUCCESS) {
		text[0] = 0;
	}
	fulmen_put_text(out, text, sizeof text);
	if (IORegistryEntryGetNameInPlane(entry, plane, text) != KERN_SUCCESS) {
		text[0] = 0;
	}
	fulmen_put_text(out, text, sizeof text);
	if (IORegistryEntryGetLocationInPlane(entry, plane, text) != KERN_SUCCESS) {
		text[0] = 0; // most entries have none
	}
	fulmen_put_text(out, text, sizeof text);
	fulmen_set_count(out, fields, 7); // with the properties, which follow
}

static const fulmen_kind *kind_of(walk *w, io_registry_entry_t entry) {
	io_name_t class_name = "";
	bool named = IOObjectGetClass(entry, class_name) == KERN_SUCCESS;
	for (int i = 0; named && i < w->class_count; i++) {
		if (strcmp(w->classes[i].class_name, class_name) == 0) {
			return w->classes[i].kind;
		}
	}
	const fulmen_kind *kind = w->kinds;
	while (kind->class_name != NULL && !IOObjectConformsTo(entry, kind->class_name)) {
		kind++; // to the last, which has no name
	}
	if (named && w->class_count < MAX_CLASSES) {
		memcpy(w->classes[w->class_count].class_name, class_name, sizeof class_name);
		w->classes[w->class_count++].kind = kind;
	}
	return kind;
}

static bool seen_before(walk *w, uint64_t id) {
	for (uint32_t i = 0; i < w->count; i++) {
		if (w->seen[i] == id) {
			return true;
		}
	}
	return false;
}

static int walk_all(walk *w, io_iterator_t iterator, uint64_t parent, int depth);

// walk_entry writes the entry and all below it.
static int walk_entry(walk *w, io_registry_entry_t entry, uint64_t parent, int depth) {
	uint64_t id = 0;
	if (IORegistryEntryGetRegistryEntryID(entry, &id) != KERN_SUCCESS) {
		return FULMEN_OK; // it went while it was being looked at, and so did what hung on it
	}
	if (seen_before(w, id)) {
		return FULMEN_OK;
	}
	if (w->count == MAX_ENTRIES || depth > MAX_DEPTH) {
		return FULMEN_TOO_LARGE;
	}
	w->seen[w->count++] = id;
	const fulmen_kind *kind = kind_of(w, entry);
	put_entry(w->out, entry, id, parent, kind->class_name == NULL ? "" : kind->class_name, kIOServicePlane);
	size_t at = fulmen_put_count(w->out, 'm');
	uint32_t properties = 0;
	for (int i = 0; i < FULMEN_MAX_KEYS && kind->keys[i] != NULL; i++) {
		properties += put_property(w->out, entry, kind->keys[i]);
	}
	fulmen_set_count(w->out, at, properties);
	io_iterator_t children = IO_OBJECT_NULL;
	if (IORegistryEntryGetChildIterator(entry, kIOServicePlane, &children) != KERN_SUCCESS) {
		return FULMEN_OK; // gone meanwhile
	}
	int result = walk_all(w, children, id, depth + 1);
	IOObjectRelease(children);
	return result;
}

// walk_all walks what an iterator gives, and reports whether the iterator was
// good to its end.
static int walk_all(walk *w, io_iterator_t iterator, uint64_t parent, int depth) {
	io_registry_entry_t entry;
	while ((entry = IOIteratorNext(iterator)) != IO_OBJECT_NULL) {
		int result = walk_entry(w, entry, parent, depth);
		IOObjectRelease(entry);
		if (result != FULMEN_OK) {
			return result;
		}
	}
	return IOIteratorIsValid(iterator) ? FULMEN_OK : FULMEN_TORN;
}

// matching makes an iterator over the services of a class.
static int matching(const char *class_name, io_iterator_t *iterator) {
	CFMutableDictionaryRef wanted = IOServiceMatching(class_name);
	if (wanted == NULL) {
		return FULMEN_MEMORY;
	}
	return IOServiceGetMatchingServices(kIOMainPortDefault, wanted, iterator); // it consumes wanted
}

// attempt walks once from every service of the class, from an empty buffer.
static int attempt(walk *w, const char *class_name) {
	w->out->length = 0;
	w->count = 0;
	size_t at = fulmen_put_count(w->out, 'a');
	io_iterator_t roots = IO_OBJECT_NULL;
	int result = matching(class_name, &roots);
	if (result != FULMEN_OK) {
		return result;
	}
	result = walk_all(w, roots, 0, 0);
	IOObjectRelease(roots);
	fulmen_set_count(w->out, at, w->count);
	if (result == FULMEN_OK && w->out->failed) {
		result = FULMEN_MEMORY;
	}
	return result;
}

static int walk_class(const char *class_name, const fulmen_kind *kinds, fulmen_buffer *out) {
	walk w = {.out = out, .kinds = kinds, .seen = calloc(MAX_ENTRIES, sizeof *w.seen)};
	if (w.seen == NULL) {
		return FULMEN_MEMORY;
	}
	int result = FULMEN_TORN;
	for (int i = 0; i < MAX_ATTEMPTS && result == FULMEN_TORN; i++) {
		result = attempt(&w, class_name);
	}
	free(w.seen);
	return result;
}

int fulmen_registry_thunderbolt(fulmen_buffer *out) {
	return walk_class("IOThunderboltController", fulmen_thunderbolt_kinds, out);
}

int fulmen_registry_interfaces(fulmen_buffer *out) {
	return walk_class("AppleThunderboltIPPort", fulmen_thunderbolt_kinds, out);
}

// put_single writes one entry with the keys of a list.
static void put_single(fulmen_buffer *out, io_registry_entry_t entry, uint64_t id, const char *keys, const char *plane) {
	put_entry(out, entry, id, 0, "", plane);
	size_t at = fulmen_put_count(out, 'm');
	uint32_t properties = 0;
	while (*keys != 0) {
		size_t length = strcspn(keys, "\n");
		char key[64];
		if (length < sizeof key) {
			memcpy(key, keys, length);
			key[length] = 0;
			properties += put_property(out, entry, key);
		}
		keys += length + (keys[length] == '\n');
	}
	fulmen_set_count(out, at, properties);
}

// put_each writes every entry that an iterator gives and whose name in the plane
// begins with prefix.
static int put_each(fulmen_buffer *out, io_iterator_t iterator, const char *keys, const char *plane, const char *prefix) {
	size_t at = fulmen_put_count(out, 'a');
	uint32_t count = 0;
	io_registry_entry_t entry;
	while ((entry = IOIteratorNext(iterator)) != IO_OBJECT_NULL) {
		uint64_t id;
		io_name_t name = "";
		if (IORegistryEntryGetRegistryEntryID(entry, &id) == KERN_SUCCESS &&
			IORegistryEntryGetNameInPlane(entry, plane, name) == KERN_SUCCESS && strncmp(name, prefix, strlen(prefix)) == 0) {
			put_single(out, entry, id, keys, plane);
			count++;
		}
		IOObjectRelease(entry);
	}
	fulmen_set_count(out, at, count);
	if (out->failed) {
		return FULMEN_MEMORY;
	}
	return IOIteratorIsValid(iterator) ? FULMEN_OK : FULMEN_TORN;
}

int fulmen_registry_services(const char *class_name, const char *keys, fulmen_buffer *out) {
	int result = FULMEN_TORN;
	for (int i = 0; i < MAX_ATTEMPTS && result == FULMEN_TORN; i++) {
		io_iterator_t found = IO_OBJECT_NULL;
		out->length = 0;
		result = matching(class_name, &found);
		if (result == FULMEN_OK) {
			result = put_each(out, found, keys, kIOServicePlane, "");
			IOObjectRelease(found);
		}
	}
	return result;
}

int fulmen_registry_places(fulmen_buffer *out) {
	int result = FULMEN_TORN;
	for (int i = 0; i < MAX_ATTEMPTS && result == FULMEN_TORN; i++) {
		io_iterator_t all = IO_OBJECT_NULL;
		out->length = 0;
		result = IORegistryCreateIterator(kIOMainPortDefault, kIODeviceTreePlane, kIORegistryIterateRecursively, &all);
		if (result == FULMEN_OK) {
			result = put_each(out, all, "port-location\nacio-parent", kIODeviceTreePlane, "hpm");
			IOObjectRelease(all);
		}
	}
	return result;
}

int fulmen_registry_path(const char *path, const char *keys, fulmen_buffer *out) {
	io_registry_entry_t entry = IORegistryEntryFromPath(kIOMainPortDefault, path);
	if (entry == IO_OBJECT_NULL) {
		return FULMEN_GONE;
	}
	size_t at = fulmen_put_count(out, 'a');
	put_single(out, entry, 0, keys, kIODeviceTreePlane);
	fulmen_set_count(out, at, 1);
	IOObjectRelease(entry);
	return out->failed ? FULMEN_MEMORY : FULMEN_OK;
}
