// How Go drives the simulated frameworks: a machine is what one Mac's kernel and
// configd would be. Values are in the form of native/darwin/buffer.h.
#ifndef FULMEN_SIM_CONTROL_H
#define FULMEN_SIM_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sim_machine sim_machine;

sim_machine *sim_machine_new(uintptr_t handle);
void sim_machine_free(sim_machine *m);
// sim_enter makes this thread one of the machine's, NULL of none.
void sim_enter(sim_machine *m);

// What is allocated and not yet released, of all machines; how often something
// was used that is not there.
long sim_live(void);
long sim_misuses(void);
void sim_count(int by);

// The registry. A parent of 0 is the plane's root.
int sim_entry_add(sim_machine *m, bool device_tree, uint64_t parent, uint64_t id, const char *name, const char *location,
	const char *class_name, const uint8_t *properties, size_t length);
int sim_entry_remove(sim_machine *m, bool device_tree, uint64_t id);
// A message of 0 changes in silence.
int sim_entry_set(sim_machine *m, bool device_tree, uint64_t id, const uint8_t *properties, size_t length, uint32_t message);
int sim_loop(sim_machine *m, uint64_t parent, uint64_t child);
void sim_unloop(sim_machine *m, uint64_t parent);
void sim_arm_fault(sim_machine *m, int kind, int times);

// SystemConfiguration. No bytes remove the key.
void sim_store_set(sim_machine *m, const char *key, const uint8_t *value, size_t length);
// sim_stored_hold takes the lock of the stored configuration as a session would,
// until sim_stored_let.
void sim_stored_hold(sim_machine *m);
void sim_stored_let(sim_machine *m);
// sim_stored_tell announces a commit (1) or that it was applied (2).
void sim_stored_tell(sim_machine *m, uint32_t kinds);
void sim_stored_set(sim_machine *m, const char *key, const uint8_t *value, size_t length);
void sim_interfaces_set(sim_machine *m, const uint8_t *value, size_t length);
void sim_bridge_set(sim_machine *m, const char *name, const uint8_t *members, size_t length);

// Power, memory, heat.
void sim_power_message(sim_machine *m, uint32_t message, intptr_t notice);
void sim_power_source_set(sim_machine *m, const uint8_t *value, size_t length);
void sim_pressure_set(sim_machine *m, uintptr_t level);
void sim_notify_post(sim_machine *m, const char *name, uint64_t state);

// sim_folder_changed notes an event of a path in the streams that follow where, and
// sim_folders_deliver is their latency that is over.
void sim_folder_changed(sim_machine *m, const char *where, const char *path, uint32_t flags);
void sim_folders_deliver(sim_machine *m);

// Whatever else C asks of the system, by name; and symbols that do not resolve.
void sim_value_set(sim_machine *m, const char *name, const uint8_t *value, size_t length);
void sim_symbol_missing(sim_machine *m, const char *name, bool missing);

#endif
