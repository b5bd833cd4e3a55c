//go:build cgo && (darwin || darwinsim)

#include "activate.h"

#include <errno.h>
#include <launch.h>
#include <stdlib.h>
#include <unistd.h>

int fulmen_activate(const char *name, int *descriptors, size_t room, size_t *count) {
	int *given = NULL;
	size_t n = 0;
	*count = 0;
	int failed = launch_activate_socket(name, &given, &n);
	if (failed != 0) {
		return failed == ESRCH || failed == ENOENT || failed == EALREADY ? 0 : failed;
	}
	for (size_t i = 0; i < n; i++) {
		if (*count < room) {
			descriptors[(*count)++] = given[i];
		} else {
			close(given[i]);
		}
	}
	free(given);
	return 0;
}
