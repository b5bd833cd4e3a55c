//go:build cgo && (darwin || darwinsim)

#include <dispatch/dispatch.h>
#include <stdlib.h>

#include "watchparts.h"

// Memory pressure is announced through libdispatch and by nothing else. The functions are those without blocks.
struct fulmen_pressure_part {
	uintptr_t handle;
	dispatch_queue_t queue;
	dispatch_source_t source;
};

static void announced(void *context) {
	fulmen_pressure_part *part = context;
	fulmenAnnounce(part->handle, FULMEN_PRESSURE, "changed", "", 0, (int64_t)dispatch_source_get_data(part->source));
}

static void nothing(void *context) { (void)context; }

int fulmen_pressure_arm(uintptr_t handle, fulmen_pressure_part **into) {
	fulmen_pressure_part *part = calloc(1, sizeof *part);
	if (part == NULL) {
		return FULMEN_MEMORY;
	}
	part->handle = handle;
	part->queue = dispatch_queue_create("org.fulmen.pressure", NULL);
	if (part->queue == NULL) {
		free(part);
		return FULMEN_MEMORY;
	}
	part->source = dispatch_source_create(DISPATCH_SOURCE_TYPE_MEMORYPRESSURE, 0,
		DISPATCH_MEMORYPRESSURE_NORMAL | DISPATCH_MEMORYPRESSURE_WARN | DISPATCH_MEMORYPRESSURE_CRITICAL, part->queue);
	if (part->source == NULL) {
		dispatch_release(part->queue);
		free(part);
		return FULMEN_REFUSED;
	}
	dispatch_set_context(part->source, part);
	dispatch_source_set_event_handler_f(part->source, announced);
	dispatch_resume(part->source);
	*into = part;
	return FULMEN_OK;
}

void fulmen_pressure_disarm(fulmen_pressure_part *part) {
	if (part == NULL) {
		return;
	}
	dispatch_source_cancel(part->source);
	// A handler that has begun is on this serial queue; once this has been through
	// it, none runs and none will.
	dispatch_sync_f(part->queue, NULL, nothing);
	dispatch_release(part->source);
	dispatch_release(part->queue);
	free(part);
}
