// What is used of macOS's <sys/proc_info.h>, by its names; the layout is not Apple's.
#include <netinet/in.h>
#include <stdint.h>

enum {
	PROC_ALL_PIDS = 1, PROC_PIDLISTFDS = 1, PROC_PIDT_SHORTBSDINFO = 13, PROX_FDTYPE_SOCKET = 2, PROC_PIDFDSOCKETINFO = 3,
	SOCKINFO_TCP = 2, TSI_S_LISTEN = 1, INI_IPV4 = 1,
};

struct proc_bsdshortinfo {
	char pbsi_comm[16];
	uint32_t pbsi_uid;
};
struct proc_fdinfo {
	int32_t proc_fd;
	uint32_t proc_fdtype;
};
union address {
	struct {
		uint32_t i46a_pad32[3];
		struct in_addr i46a_addr4;
	} ina_46;
	struct in6_addr ina_6;
};
struct in_sockinfo {
	int insi_fport, insi_lport;
	uint8_t insi_vflag;
	union address insi_faddr, insi_laddr;
};
struct tcp_sockinfo {
	struct in_sockinfo tcpsi_ini;
	int tcpsi_state;
};
struct socket_fdinfo {
	struct {
		int soi_kind, soi_qlimit, soi_qlen;
		union {
			struct tcp_sockinfo pri_tcp;
		} soi_proto;
	} psi;
};
