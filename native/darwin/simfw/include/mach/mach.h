// The kernel's types and calls as far as the C files of native/darwin need them
// where there is no such kernel. Numbers are those of xnu's osfmk/mach.
#ifndef FULMEN_SIM_MACH_H
#define FULMEN_SIM_MACH_H

#include <stdint.h>

typedef int kern_return_t;
typedef unsigned int mach_port_t;
typedef int boolean_t;
typedef int integer_t;
typedef unsigned int natural_t;
typedef natural_t mach_msg_type_number_t;
typedef unsigned long vm_size_t;
#define KERN_SUCCESS 0
#define KERN_FAILURE 5

typedef struct {
	natural_t free_count, active_count, inactive_count, wire_count;
	uint64_t counters[9];
	natural_t purgeable_count, speculative_count;
	uint64_t compressions[4];
	natural_t compressor_page_count, throttled_count, external_page_count, internal_page_count;
	uint64_t total_uncompressed_pages_in_compressor;
} vm_statistics64_data_t;
typedef integer_t *host_info64_t;
#define HOST_VM_INFO64 4
#define HOST_VM_INFO64_COUNT ((mach_msg_type_number_t)(sizeof(vm_statistics64_data_t) / sizeof(integer_t)))

enum { CPU_STATE_USER, CPU_STATE_SYSTEM, CPU_STATE_IDLE, CPU_STATE_NICE };
typedef struct {
	natural_t cpu_ticks[4];
} host_cpu_load_info_data_t;
typedef integer_t *host_info_t;
#define HOST_CPU_LOAD_INFO 3
#define HOST_CPU_LOAD_INFO_COUNT ((mach_msg_type_number_t)(sizeof(host_cpu_load_info_data_t) / sizeof(integer_t)))

mach_port_t mach_host_self(void);
mach_port_t mach_task_self(void);
kern_return_t mach_port_deallocate(mach_port_t task, mach_port_t name);
kern_return_t host_statistics64(mach_port_t host, int flavor, host_info64_t info, mach_msg_type_number_t *count);
kern_return_t host_statistics(mach_port_t host, int flavor, host_info_t info, mach_msg_type_number_t *count);
kern_return_t host_page_size(mach_port_t host, vm_size_t *size);

#endif
