// The part of libdispatch that native/darwin calls, for Linux.
#ifndef FULMEN_SIM_DISPATCH_H
#define FULMEN_SIM_DISPATCH_H

#include <stdint.h>

typedef struct sim_queue *dispatch_queue_t;
typedef struct sim_dispatch_source *dispatch_source_t;
typedef void (*dispatch_function_t)(void *context);
typedef const struct sim_dispatch_type *dispatch_source_type_t;
extern const struct sim_dispatch_type sim_memory_pressure;
#define DISPATCH_SOURCE_TYPE_MEMORYPRESSURE (&sim_memory_pressure)
enum { DISPATCH_MEMORYPRESSURE_NORMAL = 1, DISPATCH_MEMORYPRESSURE_WARN = 2, DISPATCH_MEMORYPRESSURE_CRITICAL = 4 };

dispatch_queue_t dispatch_queue_create(const char *label, void *attributes);
dispatch_source_t dispatch_source_create(dispatch_source_type_t type, uintptr_t handle, uintptr_t mask, dispatch_queue_t queue);
void dispatch_source_set_event_handler_f(dispatch_source_t source, dispatch_function_t handler);
uintptr_t dispatch_source_get_data(dispatch_source_t source);
void dispatch_source_cancel(dispatch_source_t source);
void dispatch_set_context(void *object, void *context);
void dispatch_resume(void *object);
void dispatch_release(void *object);
void dispatch_sync_f(dispatch_queue_t queue, void *context, dispatch_function_t work);

#endif
