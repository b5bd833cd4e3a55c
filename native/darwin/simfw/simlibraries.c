//go:build darwinsim && linux && cgo

#include "simlibraries.h"

#include <string.h>

#include "sim.h"

static const sim_symbol *const tables[] = {sim_verbs_symbols, sim_bridge_symbols, sim_report_symbols, sim_hid_symbols};
enum { TABLES = sizeof tables / sizeof tables[0] };

static bool ends_with(const char *name, const char *end) {
	size_t n = strlen(name), e = strlen(end);
	return n >= e && strcmp(name + n - e, end) == 0;
}

static bool is_missing(const char *name) {
	sim_machine *m = sim_here();
	CFStringRef key = sim_text(name);
	sim_lock(m);
	bool missing = CFDictionaryGetValue(m->missing, key) != NULL;
	sim_unlock(m);
	CFRelease(key);
	return missing;
}

void *sim_dlopen(const char *name, int mode) {
	(void)mode;
	for (int i = 0; i < TABLES; i++) {
		if (name != NULL && ends_with(name, tables[i][0].library) && !is_missing(tables[i][0].library)) {
			extern void sim_count(int by);
			if (strchr(name, '/') == NULL) {
				sim_misused("a library by its bare name, though it has a path");
			}
			sim_count(1);
			return (void *)tables[i];
		}
	}
	return NULL;
}

void *sim_dlsym(void *handle, const char *name) {
	for (const sim_symbol *s = handle; s->name != NULL; s++) {
		if (strcmp(s->name, name) == 0) {
			return is_missing(name) ? NULL : s->function;
		}
	}
	return NULL;
}

int sim_dlclose(void *handle) {
	extern void sim_count(int by);
	(void)handle;
	sim_count(-1);
	return 0;
}
