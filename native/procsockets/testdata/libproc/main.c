// A Mac with one process, 7: it listens over IPv4, has a connection over IPv6, a pipe,
// and a socket of another kind. Printed is what is told of it.
#include "../../procsockets_darwin.c"

#include <arpa/inet.h>
#include <stdio.h>

static const struct proc_fdinfo descriptors[] = {{3, PROX_FDTYPE_SOCKET}, {4, PROX_FDTYPE_SOCKET}, {5, 6}, {6, PROX_FDTYPE_SOCKET}};

int proc_listpids(uint32_t type, uint32_t info, void *out, int size) {
	(void)info;
	int32_t pid = 7;
	if (type != PROC_ALL_PIDS || (out != NULL && size < (int)sizeof pid)) {
		return -1;
	}
	if (out != NULL) {
		memcpy(out, &pid, sizeof pid);
	}
	return sizeof pid;
}

int proc_pidinfo(int pid, int flavour, uint64_t argument, void *out, int size) {
	(void)argument;
	if (pid != 7) {
		return 0;
	}
	if (flavour == PROC_PIDT_SHORTBSDINFO && size == sizeof(struct proc_bsdshortinfo)) {
		struct proc_bsdshortinfo info = {"sixteen-letters!", 501};
		memcpy(out, &info, sizeof info);
		return size;
	}
	if (flavour != PROC_PIDLISTFDS || (out != NULL && size < (int)sizeof descriptors)) {
		return -1;
	}
	if (out != NULL) {
		memcpy(out, descriptors, sizeof descriptors);
	}
	return sizeof descriptors;
}

int proc_pidfdinfo(int pid, int descriptor, int flavour, void *out, int size) {
	struct socket_fdinfo info;
	if (pid != 7 || flavour != PROC_PIDFDSOCKETINFO || size != sizeof info) {
		return -1;
	}
	memset(&info, 0, sizeof info);
	struct in_sockinfo *in = &info.psi.soi_proto.pri_tcp.tcpsi_ini;
	info.psi.soi_kind = descriptor == 6 ? 1 : SOCKINFO_TCP;
	in->insi_lport = htons(29500); // in network order
	if (descriptor == 3) {
		info.psi.soi_qlimit = 128;
		info.psi.soi_qlen = 3;
		info.psi.soi_proto.pri_tcp.tcpsi_state = TSI_S_LISTEN;
		in->insi_vflag = INI_IPV4;
		inet_pton(AF_INET, "169.254.8.1", &in->insi_laddr.ina_46.i46a_addr4);
	} else {
		info.psi.soi_proto.pri_tcp.tcpsi_state = 4;
		in->insi_vflag = 2;
		in->insi_fport = htons(50001);
		inet_pton(AF_INET6, "fe80::1", &in->insi_laddr.ina_6);
		inet_pton(AF_INET6, "fe80::2", &in->insi_faddr.ina_6);
	}
	memcpy(out, &info, sizeof info);
	return size;
}

static void print_end(const fulmen_socket *s, const uint8_t *address, int port) {
	char text[INET6_ADDRSTRLEN];
	printf(" [%s]:%d", inet_ntop(s->is_v6 ? AF_INET6 : AF_INET, address, text, sizeof text), port);
}

int main(void) {
	int32_t pid = 0;
	int processes = fulmen_processes(&pid, 1);
	char name[17];
	int named = fulmen_program(pid, name);
	printf("%d %d %d %s %d\n", processes, (int)pid, named, name, (int)fulmen_uid(pid));
	fulmen_socket all[4];
	int count = fulmen_sockets(pid, all, 4);
	for (int i = 0; i < count && i < 4; i++) {
		printf("%d %d", all[i].listens, all[i].room);
		print_end(&all[i], all[i].local, all[i].local_port);
		print_end(&all[i], all[i].remote, all[i].remote_port);
		printf("\n");
	}
	printf("%d %d\n", fulmen_sockets(pid, all, 1), (int)fulmen_uid(8));
	return 0;
}
