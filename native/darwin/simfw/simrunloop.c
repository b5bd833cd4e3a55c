//go:build darwinsim && linux && cgo

#include "sim.h"

#include <stdlib.h>

#include "control.h"

SIM_CONSTANT(kCFRunLoopDefaultMode, "kCFRunLoopDefaultMode");

enum { MAX_SOURCES = 16 };

struct __CFRunLoop {
	sim_base base;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool stopped;
	struct __CFRunLoopSource *sources[MAX_SOURCES];
};

struct __CFRunLoopSource {
	sim_base base;
	CFRunLoopSourceContext context;
	pthread_mutex_t lock;
	bool signalled, invalid;
	struct __CFRunLoop *loop;
};

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void end_of_thread(void *value) {
	struct __CFRunLoop *loop = value;
	for (int i = 0; i < MAX_SOURCES; i++) {
		if (loop->sources[i] != NULL) {
			sim_misused("a thread ended with a source in its run loop");
		}
	}
	CFRelease(loop);
}

static void destroy_loop(void *object) {
	struct __CFRunLoop *loop = object;
	pthread_mutex_destroy(&loop->lock);
	pthread_cond_destroy(&loop->changed);
	sim_count(1);
}

static void make_key(void) { pthread_key_create(&key, end_of_thread); }

CFRunLoopRef CFRunLoopGetCurrent(void) {
	pthread_once(&once, make_key);
	struct __CFRunLoop *loop = pthread_getspecific(key);
	if (loop == NULL) {
		sim_set_destroy(SIM_LOOP, destroy_loop);
		loop = sim_make(SIM_LOOP, sizeof *loop);
		sim_count(-1); // a thread's, which may outlive whoever counts
		pthread_mutex_init(&loop->lock, NULL);
		pthread_cond_init(&loop->changed, NULL);
		pthread_setspecific(key, loop);
	}
	return loop;
}

static struct __CFRunLoopSource *next_signalled(struct __CFRunLoop *loop) {
	for (int i = 0; i < MAX_SOURCES; i++) {
		struct __CFRunLoopSource *source = loop->sources[i];
		if (source == NULL) {
			continue;
		}
		pthread_mutex_lock(&source->lock);
		bool signalled = source->signalled;
		source->signalled = false;
		pthread_mutex_unlock(&source->lock);
		if (signalled) {
			return source;
		}
	}
	return NULL;
}

void CFRunLoopRun(void) {
	struct __CFRunLoop *loop = CFRunLoopGetCurrent();
	pthread_mutex_lock(&loop->lock);
	while (!loop->stopped) {
		struct __CFRunLoopSource *source = next_signalled(loop);
		if (source == NULL) {
			pthread_cond_wait(&loop->changed, &loop->lock);
			continue;
		}
		CFRetain(source);
		pthread_mutex_unlock(&loop->lock);
		source->context.perform(source->context.info);
		CFRelease(source);
		pthread_mutex_lock(&loop->lock);
	}
	loop->stopped = false;
	pthread_mutex_unlock(&loop->lock);
}

void CFRunLoopStop(CFRunLoopRef loop) {
	pthread_mutex_lock(&loop->lock);
	loop->stopped = true;
	pthread_cond_signal(&loop->changed);
	pthread_mutex_unlock(&loop->lock);
}

void CFRunLoopWakeUp(CFRunLoopRef loop) {
	pthread_mutex_lock(&loop->lock);
	pthread_cond_signal(&loop->changed);
	pthread_mutex_unlock(&loop->lock);
}

void CFRunLoopAddSource(CFRunLoopRef loop, CFRunLoopSourceRef source, CFRunLoopMode mode) {
	(void)mode;
	pthread_mutex_lock(&loop->lock);
	for (int i = 0; i < MAX_SOURCES; i++) {
		if (loop->sources[i] == NULL) {
			loop->sources[i] = (struct __CFRunLoopSource *)CFRetain(source);
			pthread_mutex_lock(&source->lock);
			source->loop = loop;
			pthread_mutex_unlock(&source->lock);
			pthread_cond_signal(&loop->changed); // it may have been signalled before
			pthread_mutex_unlock(&loop->lock);
			return;
		}
	}
	abort();
}

void CFRunLoopRemoveSource(CFRunLoopRef loop, CFRunLoopSourceRef source, CFRunLoopMode mode) {
	(void)mode;
	pthread_mutex_lock(&loop->lock);
	for (int i = 0; i < MAX_SOURCES; i++) {
		if (loop->sources[i] == source) {
			loop->sources[i] = NULL;
			pthread_mutex_lock(&source->lock);
			source->loop = NULL;
			pthread_mutex_unlock(&source->lock);
			pthread_mutex_unlock(&loop->lock);
			CFRelease(source);
			return;
		}
	}
	pthread_mutex_unlock(&loop->lock);
}

static void destroy(void *object) { pthread_mutex_destroy(&((struct __CFRunLoopSource *)object)->lock); }

CFRunLoopSourceRef CFRunLoopSourceCreate(CFAllocatorRef allocator, CFIndex order, CFRunLoopSourceContext *context) {
	(void)allocator;
	(void)order;
	struct __CFRunLoopSource *made = sim_make(SIM_SOURCE, sizeof *made);
	sim_set_destroy(SIM_SOURCE, destroy);
	made->context = *context;
	pthread_mutex_init(&made->lock, NULL);
	return made;
}

CFRunLoopSourceRef sim_source(void *info, void (*perform)(void *info)) {
	CFRunLoopSourceContext context = {.info = info, .perform = perform};
	return CFRunLoopSourceCreate(NULL, 0, &context);
}

// CFRunLoopSourceSignal also wakes the loop: sources of the system's own do, and
// for the others it does no harm.
void CFRunLoopSourceSignal(CFRunLoopSourceRef source) {
	pthread_mutex_lock(&source->lock);
	source->signalled = !source->invalid;
	struct __CFRunLoop *loop = source->loop;
	if (loop != NULL) {
		CFRetain(loop);
	}
	pthread_mutex_unlock(&source->lock);
	if (loop != NULL) {
		CFRunLoopWakeUp(loop);
		CFRelease(loop);
	}
}

void CFRunLoopSourceInvalidate(CFRunLoopSourceRef source) {
	pthread_mutex_lock(&source->lock);
	source->invalid = true;
	source->signalled = false;
	struct __CFRunLoop *loop = source->loop;
	pthread_mutex_unlock(&source->lock);
	if (loop != NULL) {
		CFRunLoopRemoveSource(loop, source, kCFRunLoopDefaultMode);
	}
}
