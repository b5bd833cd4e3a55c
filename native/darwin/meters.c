//go:build cgo && (darwin || darwinsim)

#include "meters.h"

#include <IOKit/ps/IOPowerSources.h>
#include <IOKit/pwr_mgt/IOPMLib.h>
#include <mach/mach.h>
#include <notify.h>
#include <unistd.h>

#include "value.h"

static void put_pair(fulmen_buffer *out, const char *name, int64_t value) {
	fulmen_put_text(out, name, SIZE_MAX);
	fulmen_put_int(out, value);
}

int fulmen_pages_read(fulmen_buffer *out) {
	vm_statistics64_data_t pages;
	mach_msg_type_number_t count = HOST_VM_INFO64_COUNT;
	vm_size_t size = 0;
	mach_port_t host = mach_host_self();
	int result = host_statistics64(host, HOST_VM_INFO64, (host_info64_t)&pages, &count);
	if (result == KERN_SUCCESS) {
		result = host_page_size(host, &size);
	}
	mach_port_deallocate(mach_task_self(), host);
	if (result != KERN_SUCCESS) {
		return result;
	}
	size_t at = fulmen_put_count(out, 'm');
	put_pair(out, "page_size", (int64_t)size);
	put_pair(out, "active", pages.active_count);
	put_pair(out, "inactive", pages.inactive_count);
	put_pair(out, "wired", pages.wire_count);
	put_pair(out, "speculative", pages.speculative_count);
	put_pair(out, "compressor", pages.compressor_page_count);
	put_pair(out, "purgeable", pages.purgeable_count);
	put_pair(out, "external", pages.external_page_count);
	fulmen_set_count(out, at, 8);
	return out->failed ? FULMEN_MEMORY : FULMEN_OK;
}

int fulmen_ticks_read(fulmen_buffer *out) {
	host_cpu_load_info_data_t load;
	mach_msg_type_number_t count = HOST_CPU_LOAD_INFO_COUNT;
	mach_port_t host = mach_host_self();
	int result = host_statistics(host, HOST_CPU_LOAD_INFO, (host_info_t)&load, &count);
	mach_port_deallocate(mach_task_self(), host);
	if (result != KERN_SUCCESS) {
		return result;
	}
	size_t at = fulmen_put_count(out, 'm');
	put_pair(out, "user", load.cpu_ticks[CPU_STATE_USER]);
	put_pair(out, "system", load.cpu_ticks[CPU_STATE_SYSTEM]);
	put_pair(out, "idle", load.cpu_ticks[CPU_STATE_IDLE]);
	put_pair(out, "nice", load.cpu_ticks[CPU_STATE_NICE]);
	fulmen_set_count(out, at, 4);
	return out->failed ? FULMEN_MEMORY : FULMEN_OK;
}

int fulmen_power_source_read(fulmen_buffer *out) {
	CFTypeRef info = IOPSCopyPowerSourcesInfo();
	if (info == NULL) {
		return FULMEN_REFUSED;
	}
	CFArrayRef sources = IOPSCopyPowerSourcesList(info);
	size_t at = fulmen_put_count(out, 'm');
	fulmen_put_text(out, "type", SIZE_MAX);
	fulmen_put_value(out, IOPSGetProvidingPowerSourceType(info)); // info's
	fulmen_put_text(out, "sources", SIZE_MAX);
	CFIndex count = sources == NULL ? 0 : CFArrayGetCount(sources);
	size_t elements = fulmen_put_count(out, 'a');
	for (CFIndex i = 0; i < count; i++) {
		// The description is info's too.
		fulmen_put_value(out, IOPSGetPowerSourceDescription(info, CFArrayGetValueAtIndex(sources, i)));
	}
	fulmen_set_count(out, elements, (uint32_t)count);
	fulmen_set_count(out, at, 2);
	fulmen_release(sources);
	CFRelease(info);
	return out->failed ? FULMEN_MEMORY : FULMEN_OK;
}

int fulmen_state_open(const char *name, int *descriptor, int *token) {
	int own;
	if (notify_register_file_descriptor(name, &own, 0, token) != NOTIFY_STATUS_OK) {
		return FULMEN_NO_SYMBOL;
	}
	// The library closes its descriptor with the token: the caller gets another.
	*descriptor = dup(own);
	if (*descriptor < 0) {
		notify_cancel(*token);
		return FULMEN_REFUSED;
	}
	return FULMEN_OK;
}

int fulmen_state_read(int token, uint64_t *state) {
	return notify_get_state(token, state) == NOTIFY_STATUS_OK ? FULMEN_OK : FULMEN_REFUSED;
}

void fulmen_state_close(int token) { notify_cancel(token); }

int fulmen_assertion_take(const char *reason, uint32_t *assertion) {
	CFStringRef name = fulmen_string(reason);
	if (name == NULL) {
		return FULMEN_REFUSED; // no UTF-8
	}
	int result = IOPMAssertionCreateWithName(kIOPMAssertionTypePreventUserIdleSystemSleep, kIOPMAssertionLevelOn, name, assertion);
	CFRelease(name);
	return result;
}

int fulmen_assertion_release(uint32_t assertion) { return IOPMAssertionRelease(assertion); }
