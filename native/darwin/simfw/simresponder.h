// What the responder's operations and its replies share.
#ifndef FULMEN_SIM_RESPONDER_H
#define FULMEN_SIM_RESPONDER_H

#include "sim.h"

#include <dns_sd.h>

#include "control.h"

// All machines hear each other on interfaces of one index. A machine's value
// "responder" is a map: "host", and "addresses", a map of index to an array of
// texts; "absent" in it: no responder runs; "refuses", an error: every operation is
// begun, and its reply is that error.
enum operation { CONNECTION, REGISTER, BROWSE, RESOLVE, ADDRESSES };

// told is one reply that waits.
typedef struct told {
	struct told *next;
	DNSServiceRef of;
	DNSServiceFlags flags;
	uint32_t index;
	DNSServiceErrorType error;
	char *text;
	uint16_t port, txt_length;
	void *txt;
} told;

struct _DNSServiceRef_t {
	enum operation operation;
	struct _DNSServiceRef_t *next, *connection;
	sim_machine *machine;
	int pipe[2];
	told *first, **last;
	uint32_t index;
	char *name, *type;
	uint16_t port, txt_length;
	void *txt;
	void *reply, *context;
};

// The lock of all operations and of the replies that wait.
extern pthread_mutex_t sim_responder_lock;

// sim_tell has a reply wait on the operation's connection.
void sim_tell(DNSServiceRef to, DNSServiceFlags flags, uint32_t index, const char *text, DNSServiceRef record);
void sim_free_told(told *t);

#endif
