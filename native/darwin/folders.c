//go:build cgo && (darwin || darwinsim)

#include "folders.h"

#include <CoreServices/CoreServices.h>
#include <dispatch/dispatch.h>
#include <stdlib.h>

#include "value.h"

// latency is for how long, in seconds, the system gathers what changes.
static const CFTimeInterval latency = 0.5;

// more are the flags of an event that says more than that one folder changed.
enum {
	more = kFSEventStreamEventFlagMustScanSubDirs | kFSEventStreamEventFlagUserDropped | kFSEventStreamEventFlagKernelDropped |
		kFSEventStreamEventFlagEventIdsWrapped | kFSEventStreamEventFlagRootChanged | kFSEventStreamEventFlagMount |
		kFSEventStreamEventFlagUnmount,
};

struct fulmen_folder {
	uintptr_t handle;
	dispatch_queue_t queue;
	FSEventStreamRef stream;
};

static void changed(ConstFSEventStreamRef stream, void *info, size_t count, void *paths, const FSEventStreamEventFlags flags[],
	const FSEventStreamEventId ids[]) {
	(void)stream;
	(void)ids;
	fulmen_folder *folder = info;
	char **all = paths;
	for (size_t i = 0; i < count; i++) {
		fulmenFolderChanged(folder->handle, all[i], (flags[i] & more) != 0);
	}
}

static void nothing(void *context) { (void)context; }

// create makes the stream; NULL where the path is none of the system's.
static FSEventStreamRef create(fulmen_folder *folder, const char *path) {
	FSEventStreamRef stream = NULL;
	FSEventStreamContext context = {.info = folder};
	CFStringRef text = fulmen_string(path);
	if (text == NULL) {
		return NULL;
	}
	const void *one = text;
	CFArrayRef paths = CFArrayCreate(kCFAllocatorDefault, &one, 1, &kCFTypeArrayCallBacks);
	if (paths != NULL) {
		stream = FSEventStreamCreate(kCFAllocatorDefault, changed, &context, paths, kFSEventStreamEventIdSinceNow, latency,
			kFSEventStreamCreateFlagWatchRoot | kFSEventStreamCreateFlagNoDefer);
	}
	fulmen_release(paths);
	CFRelease(text);
	return stream;
}

int fulmen_folder_follow(uintptr_t handle, const char *path, fulmen_folder **into) {
	fulmen_folder *folder = calloc(1, sizeof *folder);
	if (folder == NULL) {
		return FULMEN_MEMORY;
	}
	folder->handle = handle;
	folder->queue = dispatch_queue_create("org.fulmen.folders", NULL);
	if (folder->queue == NULL) {
		free(folder);
		return FULMEN_MEMORY;
	}
	folder->stream = create(folder, path);
	if (folder->stream == NULL) {
		dispatch_release(folder->queue);
		free(folder);
		return FULMEN_REFUSED;
	}
	FSEventStreamSetDispatchQueue(folder->stream, folder->queue);
	if (!FSEventStreamStart(folder->stream)) {
		FSEventStreamInvalidate(folder->stream);
		FSEventStreamRelease(folder->stream);
		dispatch_release(folder->queue);
		free(folder);
		return FULMEN_REFUSED;
	}
	*into = folder;
	return FULMEN_OK;
}

void fulmen_folder_flush(fulmen_folder *folder) { FSEventStreamFlushSync(folder->stream); }

void fulmen_folder_leave(fulmen_folder *folder) {
	FSEventStreamStop(folder->stream);
	FSEventStreamInvalidate(folder->stream);
	// A callback that has begun is on this serial queue; once this has been through it,
	// none runs and none will.
	dispatch_sync_f(folder->queue, NULL, nothing);
	FSEventStreamRelease(folder->stream);
	dispatch_release(folder->queue);
	free(folder);
}
