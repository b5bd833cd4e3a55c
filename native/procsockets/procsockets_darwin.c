//go:build darwin && cgo

#include "procsockets_darwin.h"

#include <errno.h>
#include <libproc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/proc_info.h>
#include <unistd.h>

int fulmen_processes(int32_t *out, int max) {
	int room = max * (int)sizeof(pid_t);
	// Without a buffer the call says how many bytes it would take.
	int bytes = proc_listpids(PROC_ALL_PIDS, 0, NULL, 0);
	if (bytes <= 0) {
		return -(errno != 0 ? errno : EIO);
	}
	if (bytes > room) {
		return bytes / (int)sizeof(pid_t);
	}
	bytes = proc_listpids(PROC_ALL_PIDS, 0, out, room);
	if (bytes < 0) {
		return -(errno != 0 ? errno : EIO);
	}
	return bytes / (int)sizeof(pid_t);
}

int fulmen_in_group(int32_t pid, int32_t group) {
	return getpgid(pid) == group || getsid(pid) == group;
}

int64_t fulmen_uid(int32_t pid) {
	struct proc_bsdshortinfo info;
	if (proc_pidinfo(pid, PROC_PIDT_SHORTBSDINFO, 0, &info, sizeof(info)) < (int)sizeof(info)) {
		return -1;
	}
	return (int64_t)info.pbsi_uid;
}

int fulmen_program(int32_t pid, char out[17]) {
	struct proc_bsdshortinfo info;
	if (proc_pidinfo(pid, PROC_PIDT_SHORTBSDINFO, 0, &info, sizeof(info)) < (int)sizeof(info)) {
		return -1;
	}
	memcpy(out, info.pbsi_comm, 16);
	out[16] = 0;
	return 0;
}

// fill takes over one socket; 0 where it is no TCP socket.
static int fill(fulmen_socket *to, const struct socket_fdinfo *from) {
	if (from->psi.soi_kind != SOCKINFO_TCP) {
		return 0;
	}
	const struct tcp_sockinfo *tcp = &from->psi.soi_proto.pri_tcp;
	const struct in_sockinfo *in = &tcp->tcpsi_ini;
	memset(to, 0, sizeof(*to));
	to->listens = tcp->tcpsi_state == TSI_S_LISTEN;
	to->room = from->psi.soi_qlimit - from->psi.soi_qlen;
	to->is_v6 = (in->insi_vflag & INI_IPV4) == 0;
	// The ports are kept as they are on the wire, in a wider number.
	to->local_port = (int32_t)((((unsigned)in->insi_lport & 0xff) << 8) | (((unsigned)in->insi_lport >> 8) & 0xff));
	to->remote_port = (int32_t)((((unsigned)in->insi_fport & 0xff) << 8) | (((unsigned)in->insi_fport >> 8) & 0xff));
	if (to->is_v6) {
		memcpy(to->local, &in->insi_laddr.ina_6, 16);
		memcpy(to->remote, &in->insi_faddr.ina_6, 16);
	} else {
		memcpy(to->local, &in->insi_laddr.ina_46.i46a_addr4, 4);
		memcpy(to->remote, &in->insi_faddr.ina_46.i46a_addr4, 4);
	}
	return 1;
}

int fulmen_sockets(int32_t pid, fulmen_socket *out, int max) {
	struct proc_fdinfo *list = NULL;
	int result = 0;
	int bytes = proc_pidinfo(pid, PROC_PIDLISTFDS, 0, NULL, 0);
	if (bytes <= 0) {
		return -(errno != 0 ? errno : ESRCH);
	}
	list = malloc((size_t)bytes);
	if (list == NULL) {
		return -ENOMEM;
	}
	bytes = proc_pidinfo(pid, PROC_PIDLISTFDS, 0, list, bytes);
	if (bytes < 0) {
		result = -(errno != 0 ? errno : ESRCH);
		goto out;
	}
	for (int i = 0; i < bytes / (int)sizeof(*list); i++) {
		struct socket_fdinfo info;
		fulmen_socket one;
		if (list[i].proc_fdtype != PROX_FDTYPE_SOCKET) {
			continue;
		}
		// One that was closed meanwhile is passed over.
		if (proc_pidfdinfo(pid, list[i].proc_fd, PROC_PIDFDSOCKETINFO, &info, sizeof(info)) < (int)sizeof(info)) {
			continue;
		}
		if (!fill(&one, &info)) {
			continue;
		}
		if (result < max) {
			out[result] = one;
		}
		result++;
	}
out:
	free(list);
	return result;
}
