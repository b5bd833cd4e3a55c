// The part of libnotify that native/darwin calls, after notify(3).
#ifndef FULMEN_APPLE_NOTIFY_H
#define FULMEN_APPLE_NOTIFY_H

#include <stdint.h>

#define NOTIFY_STATUS_OK 0
uint32_t notify_register_file_descriptor(const char *name, int *descriptor, int flags, int *token);
uint32_t notify_get_state(int token, uint64_t *state);
uint32_t notify_cancel(int token);

#endif
