// The part of CoreServices that native/darwin calls: File System Events, declared by
// this project from Apple's documentation (File System Events reference and
// programming guide).
#ifndef FULMEN_APPLE_CORESERVICES_H
#define FULMEN_APPLE_CORESERVICES_H

#include <CoreFoundation/CoreFoundation.h>
#include <dispatch/dispatch.h>
#include <stddef.h>

typedef UInt32 FSEventStreamCreateFlags;
enum { kFSEventStreamCreateFlagNoDefer = 0x2, kFSEventStreamCreateFlagWatchRoot = 0x4 };

typedef UInt32 FSEventStreamEventFlags;
enum {
	kFSEventStreamEventFlagMustScanSubDirs = 0x1,
	kFSEventStreamEventFlagUserDropped = 0x2,
	kFSEventStreamEventFlagKernelDropped = 0x4,
	kFSEventStreamEventFlagEventIdsWrapped = 0x8,
	kFSEventStreamEventFlagRootChanged = 0x20,
	kFSEventStreamEventFlagMount = 0x40,
	kFSEventStreamEventFlagUnmount = 0x80,
};

typedef uint64_t FSEventStreamEventId;
#define kFSEventStreamEventIdSinceNow 0xFFFFFFFFFFFFFFFFULL

typedef struct __FSEventStream *FSEventStreamRef;
typedef const struct __FSEventStream *ConstFSEventStreamRef;

typedef struct {
	CFIndex version;
	void *info;
	const void *(*retain)(const void *info);
	void (*release)(const void *info);
	CFStringRef (*copyDescription)(const void *info);
} FSEventStreamContext;

// The paths are an array of C strings, where no flag asks for another.
typedef void (*FSEventStreamCallback)(ConstFSEventStreamRef stream, void *info, size_t count, void *paths,
	const FSEventStreamEventFlags flags[], const FSEventStreamEventId ids[]);

FSEventStreamRef FSEventStreamCreate(CFAllocatorRef allocator, FSEventStreamCallback callback, FSEventStreamContext *context, CFArrayRef paths,
	FSEventStreamEventId since, CFTimeInterval latency, FSEventStreamCreateFlags flags);
void FSEventStreamSetDispatchQueue(FSEventStreamRef stream, dispatch_queue_t queue);
Boolean FSEventStreamStart(FSEventStreamRef stream);
void FSEventStreamFlushSync(FSEventStreamRef stream);
void FSEventStreamStop(FSEventStreamRef stream);
void FSEventStreamInvalidate(FSEventStreamRef stream);
void FSEventStreamRelease(FSEventStreamRef stream);

#endif
