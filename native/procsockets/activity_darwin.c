//go:build darwin && cgo

#include "activity_darwin.h"

#include <errno.h>
#include <ifaddrs.h>
#include <libproc.h>
#include <mach/thread_info.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/proc.h>
#include <sys/proc_info.h>
#include <sys/resource.h>
#include <sys/socket.h>

// look fills in what is not of a thread.
static int look(int32_t pid, fulmen_activity *to, int *threads) {
	struct proc_bsdshortinfo kind;
	struct proc_taskinfo task;
	struct rusage_info_v2 usage;
	memset(to, 0, sizeof(*to));
	if (proc_pidinfo(pid, PROC_PIDT_SHORTBSDINFO, 0, &kind, sizeof(kind)) < (int)sizeof(kind) ||
		proc_pidinfo(pid, PROC_PIDTASKINFO, 0, &task, sizeof(task)) < (int)sizeof(task)) {
		return -(errno != 0 ? errno : ESRCH);
	}
	to->is_stopped = kind.pbsi_status == SSTOP;
	to->is_traced = (kind.pbsi_flags & PROC_FLAG_TRACED) != 0;
	to->faults = (uint64_t)(uint32_t)task.pti_faults;
	*threads = task.pti_threadnum;
	if (proc_pid_rusage(pid, RUSAGE_INFO_V2, (rusage_info_t *)&usage) == 0) {
		to->file_bytes = usage.ri_diskio_bytesread + usage.ri_diskio_byteswritten;
	}
	return 0;
}

int fulmen_threads(int32_t pid, fulmen_thread *out, int max, fulmen_activity *activity) {
	int expected = 0;
	int waits = 0;
	int runs = 0;
	int result = look(pid, activity, &expected);
	if (result < 0) {
		return result;
	}
	if (expected > max) {
		return expected;
	}
	uint64_t *list = calloc((size_t)max + 1, sizeof(*list));
	if (list == NULL) {
		return -ENOMEM;
	}
	int bytes = proc_pidinfo(pid, PROC_PIDLISTTHREADS, 0, list, max * (int)sizeof(*list));
	if (bytes < 0) {
		result = -(errno != 0 ? errno : ESRCH);
		goto out;
	}
	for (int i = 0; i < bytes / (int)sizeof(*list); i++) {
		struct proc_threadinfo info;
		// One that has ended meanwhile is passed over.
		if (proc_pidinfo(pid, PROC_PIDTHREADINFO, list[i], &info, sizeof(info)) < (int)sizeof(info)) {
			continue;
		}
		waits = waits || info.pth_run_state == TH_STATE_UNINTERRUPTIBLE;
		runs = runs || info.pth_run_state == TH_STATE_RUNNING;
		out[result].id = list[i];
		out[result].user = info.pth_user_time;
		out[result].system = info.pth_system_time;
		result++;
	}
	activity->waits = waits && !runs;
out:
	free(list);
	return result;
}

uint64_t fulmen_interface_bytes(const uint8_t address[16], int is_v6) {
	struct ifaddrs *all = NULL;
	const char *name = NULL;
	uint64_t bytes = 0;
	if (getifaddrs(&all) != 0) {
		return 0;
	}
	for (struct ifaddrs *i = all; i != NULL && name == NULL; i = i->ifa_next) {
		if (i->ifa_addr == NULL) {
			continue;
		}
		if (!is_v6 && i->ifa_addr->sa_family == AF_INET &&
			memcmp(&((struct sockaddr_in *)i->ifa_addr)->sin_addr, address, 4) == 0) {
			name = i->ifa_name;
		}
		if (is_v6 && i->ifa_addr->sa_family == AF_INET6) {
			// The kernel keeps the number of the interface within a link-local address.
			uint8_t own[16];
			memcpy(own, &((struct sockaddr_in6 *)i->ifa_addr)->sin6_addr, 16);
			if (own[0] == 0xfe && (own[1] & 0xc0) == 0x80) {
				own[2] = own[3] = 0;
			}
			if (memcmp(own, address, 16) == 0) {
				name = i->ifa_name;
			}
		}
	}
	for (struct ifaddrs *i = all; i != NULL && name != NULL; i = i->ifa_next) {
		if (i->ifa_addr != NULL && i->ifa_addr->sa_family == AF_LINK && i->ifa_data != NULL && strcmp(i->ifa_name, name) == 0) {
			const struct if_data *data = i->ifa_data;
			bytes = (uint64_t)data->ifi_ibytes + data->ifi_obytes;
		}
	}
	freeifaddrs(all);
	return bytes;
}
