// What C of other modules takes from this header, which zig's headers lack. The
// function is in libSystem; its declaration is after the interface definition
// that xnu publishes (osfmk/mach/mach_vm.defs).
#ifndef FULMEN_CHECK_MACH_VM_H
#define FULMEN_CHECK_MACH_VM_H

#include <mach/mach_types.h>
#include <mach/vm_region.h>

kern_return_t mach_vm_region(vm_map_t task, mach_vm_address_t *address, mach_vm_size_t *size, vm_region_flavor_t flavor,
	vm_region_info_t info, mach_msg_type_number_t *count, mach_port_t *object);

#endif
