//go:build darwinsim && linux && cgo

#include "sim.h"

#include <dispatch/dispatch.h>
#include <fcntl.h>
#include <notify.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control.h"

struct sim_dispatch_type {
	int unused;
};
const struct sim_dispatch_type sim_memory_pressure;

// A queue runs what it is given on the thread that gives it, one at a time.
struct sim_queue {
	int is_queue;
	int references;
	pthread_mutex_t lock;
};

struct sim_dispatch_source {
	int is_queue;
	struct sim_dispatch_source *next;
	sim_machine *machine;
	dispatch_queue_t queue;
	dispatch_function_t handler;
	void *context;
	uintptr_t data;
	int references;
	uintptr_t mask;
	bool resumed, cancelled;
};

dispatch_queue_t dispatch_queue_create(const char *label, void *attributes) {
	(void)label;
	(void)attributes;
	dispatch_queue_t q = calloc(1, sizeof *q);
	q->is_queue = 1;
	q->references = 1;
	pthread_mutex_init(&q->lock, NULL);
	sim_count(1);
	return q;
}

void sim_queue_retain(dispatch_queue_t q) { __atomic_add_fetch(&q->references, 1, __ATOMIC_SEQ_CST); }

dispatch_source_t dispatch_source_create(dispatch_source_type_t type, uintptr_t handle, uintptr_t mask, dispatch_queue_t queue) {
	(void)handle;
	if (type != DISPATCH_SOURCE_TYPE_MEMORYPRESSURE) {
		sim_misused("a dispatch source of another kind than memory pressure");
	}
	sim_machine *m = sim_here();
	dispatch_source_t s = calloc(1, sizeof *s);
	s->machine = m;
	s->queue = queue;
	s->mask = mask;
	s->references = 1;
	sim_queue_retain(queue);
	sim_count(1);
	sim_lock(m);
	s->next = m->pressure_sources;
	m->pressure_sources = s;
	sim_unlock(m);
	return s;
}

void dispatch_source_set_event_handler_f(dispatch_source_t source, dispatch_function_t handler) { source->handler = handler; }
void dispatch_set_context(void *object, void *context) { ((dispatch_source_t)object)->context = context; }
uintptr_t dispatch_source_get_data(dispatch_source_t source) { return source->data; }
void dispatch_resume(void *object) { ((dispatch_source_t)object)->resumed = true; }

void dispatch_source_cancel(dispatch_source_t source) {
	sim_lock(source->machine);
	source->cancelled = true;
	sim_unlock(source->machine);
}

static void free_queue(dispatch_queue_t q) {
	if (__atomic_sub_fetch(&q->references, 1, __ATOMIC_SEQ_CST) == 0) {
		pthread_mutex_destroy(&q->lock);
		sim_count(-1);
		free(q);
	}
}

static void free_source(dispatch_source_t s) {
	if (__atomic_sub_fetch(&s->references, 1, __ATOMIC_SEQ_CST) > 0) {
		return;
	}
	sim_machine *m = s->machine;
	sim_lock(m);
	if (!s->cancelled) {
		sim_misused("a dispatch source was released and not cancelled");
	}
	for (dispatch_source_t *at = (dispatch_source_t *)&m->pressure_sources; *at != NULL; at = &(*at)->next) {
		if (*at == s) {
			*at = s->next;
			break;
		}
	}
	sim_unlock(m);
	free_queue(s->queue);
	sim_count(-1);
	free(s);
}

void dispatch_release(void *object) {
	if (*(int *)object) {
		free_queue(object);
	} else {
		free_source(object);
	}
}

void dispatch_sync_f(dispatch_queue_t queue, void *context, dispatch_function_t work) {
	pthread_mutex_lock(&queue->lock);
	work(context);
	pthread_mutex_unlock(&queue->lock);
}

void sim_pressure_set(sim_machine *m, uintptr_t level) {
	dispatch_source_t all[16];
	size_t count = 0;
	sim_lock(m);
	for (dispatch_source_t s = m->pressure_sources; s != NULL && count < 16; s = s->next) {
		__atomic_add_fetch(&s->references, 1, __ATOMIC_SEQ_CST);
		all[count++] = s;
	}
	sim_unlock(m);
	for (size_t i = 0; i < count; i++) {
		pthread_mutex_lock(&all[i]->queue->lock);
		sim_lock(m);
		bool wanted = all[i]->resumed && !all[i]->cancelled && (all[i]->mask & level) != 0;
		sim_unlock(m);
		if (wanted) {
			all[i]->data = level;
			all[i]->handler(all[i]->context);
		}
		pthread_mutex_unlock(&all[i]->queue->lock);
		free_source(all[i]);
	}
}

// libnotify: names with a state, and pipes that hear of a change.
enum { MAX_TOKENS = 64 };
static struct {
	char name[96];
	sim_machine *machine;
	int pipe[2];
	uint64_t state;
	bool used;
} tokens[MAX_TOKENS];
static pthread_mutex_t tokens_lock = PTHREAD_MUTEX_INITIALIZER;

uint32_t notify_register_file_descriptor(const char *name, int *descriptor, int flags, int *token) {
	(void)flags;
	sim_machine *m = sim_here();
	int64_t state = 0;
	CFStringRef key = sim_text(name);
	sim_lock(m); // until the token is there, which hears of what is posted from then on
	CFNumberRef posted = CFDictionaryGetValue(m->values, key);
	if (posted != NULL) {
		CFNumberGetValue(posted, kCFNumberSInt64Type, &state);
	}
	CFRelease(key);
	uint32_t result = 1;
	pthread_mutex_lock(&tokens_lock);
	for (int i = 0; i < MAX_TOKENS; i++) {
		if (!tokens[i].used && pipe(tokens[i].pipe) == 0) {
			strncpy(tokens[i].name, name, sizeof tokens[i].name - 1);
			tokens[i].machine = m;
			tokens[i].used = true;
			tokens[i].state = (uint64_t)state;
			*descriptor = tokens[i].pipe[0];
			*token = i + 1;
			result = NOTIFY_STATUS_OK;
			break;
		}
	}
	pthread_mutex_unlock(&tokens_lock);
	sim_unlock(m);
	return result;
}

uint32_t notify_get_state(int token, uint64_t *state) {
	pthread_mutex_lock(&tokens_lock);
	*state = tokens[token - 1].state;
	pthread_mutex_unlock(&tokens_lock);
	return NOTIFY_STATUS_OK;
}

uint32_t notify_cancel(int token) {
	pthread_mutex_lock(&tokens_lock);
	close(tokens[token - 1].pipe[0]);
	close(tokens[token - 1].pipe[1]);
	tokens[token - 1].used = false;
	pthread_mutex_unlock(&tokens_lock);
	return NOTIFY_STATUS_OK;
}

void sim_notify_post(sim_machine *m, const char *name, uint64_t state) {
	CFStringRef key = sim_text(name);
	int64_t whole = (int64_t)state;
	CFNumberRef value = CFNumberCreate(NULL, kCFNumberSInt64Type, &whole);
	sim_lock(m);
	CFDictionarySetValue(m->values, key, value);
	CFRelease(key);
	CFRelease(value);
	pthread_mutex_lock(&tokens_lock);
	for (int i = 0; i < MAX_TOKENS; i++) {
		if (tokens[i].used && tokens[i].machine == m && strcmp(tokens[i].name, name) == 0) {
			tokens[i].state = state;
			int32_t token = i + 1;
			if (write(tokens[i].pipe[1], &token, sizeof token) < 0) {
				sim_misused("a notification that nobody reads");
			}
		}
	}
	pthread_mutex_unlock(&tokens_lock);
	sim_unlock(m);
}
