//go:build darwinsim && linux && cgo

#include "sim.h"

#include <CoreServices/CoreServices.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"

// What happened waits in each stream until its latency is over, which is when who made
// the machine says so, or until it is flushed.
enum { MAX_EVENTS = 64 };

struct __FSEventStream {
	struct __FSEventStream *next;
	sim_machine *machine;
	FSEventStreamCallback callback;
	void *info;
	char *path;
	dispatch_queue_t queue;
	bool started, invalid;
	int references;
	char *paths[MAX_EVENTS];
	FSEventStreamEventFlags flags[MAX_EVENTS];
	size_t count;
};

static __thread FSEventStreamRef delivering;

FSEventStreamRef FSEventStreamCreate(CFAllocatorRef allocator, FSEventStreamCallback callback, FSEventStreamContext *context, CFArrayRef paths,
	FSEventStreamEventId since, CFTimeInterval latency, FSEventStreamCreateFlags flags) {
	(void)allocator;
	if (since != kFSEventStreamEventIdSinceNow || latency <= 0 || (flags & kFSEventStreamCreateFlagWatchRoot) == 0 || CFArrayGetCount(paths) != 1) {
		sim_misused("a stream of events of another kind");
	}
	sim_machine *m = sim_here();
	struct __FSEventStream *s = calloc(1, sizeof *s);
	s->machine = m;
	s->callback = callback;
	s->info = context->info;
	s->path = strdup(sim_chars(CFArrayGetValueAtIndex(paths, 0)));
	s->references = 1;
	sim_count(1);
	sim_lock(m);
	s->next = m->event_streams;
	m->event_streams = s;
	sim_unlock(m);
	return s;
}

void FSEventStreamSetDispatchQueue(FSEventStreamRef s, dispatch_queue_t queue) {
	sim_queue_retain(queue);
	s->queue = queue;
}

Boolean FSEventStreamStart(FSEventStreamRef s) {
	if (s->queue == NULL || s->started || s->invalid) {
		sim_misused("a stream was started without a queue, or again");
	}
	if (sim_fault(s->machine, SIM_FAULT_EVENTS)) {
		return false;
	}
	sim_lock(s->machine);
	s->started = true;
	sim_unlock(s->machine);
	return true;
}

// deliver calls back with what has gathered; it runs on the stream's queue.
static void deliver(void *context) {
	FSEventStreamRef s = context;
	char *paths[MAX_EVENTS];
	FSEventStreamEventFlags flags[MAX_EVENTS];
	FSEventStreamEventId ids[MAX_EVENTS] = {0};
	sim_lock(s->machine);
	size_t count = s->started ? s->count : 0;
	memcpy(paths, s->paths, sizeof paths);
	memcpy(flags, s->flags, sizeof flags);
	s->count -= count;
	sim_unlock(s->machine);
	if (count > 0) {
		delivering = s;
		s->callback(s, s->info, count, paths, flags, ids);
		delivering = NULL;
	}
	for (size_t i = 0; i < count; i++) {
		free(paths[i]);
	}
}

void FSEventStreamFlushSync(FSEventStreamRef s) {
	if (!s->started || delivering == s) {
		sim_misused("a stream was flushed that is not started, or by its own callback");
		return;
	}
	dispatch_sync_f(s->queue, s, deliver);
}

void FSEventStreamStop(FSEventStreamRef s) {
	sim_lock(s->machine);
	if (!s->started) {
		sim_misused("a stream was stopped that is not started");
	}
	s->started = false;
	sim_unlock(s->machine);
}

void FSEventStreamInvalidate(FSEventStreamRef s) {
	if (s->queue == NULL || s->started || s->invalid) {
		sim_misused("a stream was invalidated without a queue, while it was started, or again");
	}
	s->invalid = true;
}

static void let_go(FSEventStreamRef s) {
	if (__atomic_sub_fetch(&s->references, 1, __ATOMIC_SEQ_CST) > 0) {
		return;
	}
	while (s->count > 0) {
		free(s->paths[--s->count]);
	}
	if (s->queue != NULL) {
		dispatch_release(s->queue);
	}
	free(s->path);
	sim_count(-1);
	free(s);
}

void FSEventStreamRelease(FSEventStreamRef s) {
	if (!s->invalid) {
		sim_misused("a stream was released and not invalidated");
	}
	sim_lock(s->machine);
	for (FSEventStreamRef *at = (FSEventStreamRef *)&s->machine->event_streams; *at != NULL; at = &(*at)->next) {
		if (*at == s) {
			*at = s->next;
			break;
		}
	}
	sim_unlock(s->machine);
	let_go(s);
}

static bool covers(const char *folder, const char *path) {
	size_t length = strlen(folder);
	return strncmp(folder, path, length) == 0 && (path[length] == 0 || path[length] == '/');
}

void sim_folder_changed(sim_machine *m, const char *where, const char *path, uint32_t flags) {
	sim_lock(m);
	for (FSEventStreamRef s = m->event_streams; s != NULL; s = s->next) {
		if (s->started && covers(s->path, where)) {
			if (s->count == MAX_EVENTS) { // as the system does where too much has gathered
				s->flags[MAX_EVENTS - 1] |= kFSEventStreamEventFlagMustScanSubDirs | kFSEventStreamEventFlagUserDropped;
				continue;
			}
			s->paths[s->count] = strdup(path);
			s->flags[s->count++] = flags;
		}
	}
	sim_unlock(m);
}

void sim_folders_deliver(sim_machine *m) {
	FSEventStreamRef all[16];
	size_t count = 0;
	sim_lock(m);
	for (FSEventStreamRef s = m->event_streams; s != NULL && count < 16; s = s->next) {
		if (s->started) {
			__atomic_add_fetch(&s->references, 1, __ATOMIC_SEQ_CST);
			all[count++] = s;
		}
	}
	sim_unlock(m);
	for (size_t i = 0; i < count; i++) {
		dispatch_sync_f(all[i]->queue, all[i], deliver);
		let_go(all[i]);
	}
}
