// DNS-SD through the system's responder (dns_sd.h, in libSystem). One connection
// carries any number of operations; its descriptor becomes readable when the
// responder has something to tell. All calls on one connection come one at a time.
#ifndef FULMEN_DARWIN_DNSSD_H
#define FULMEN_DARWIN_DNSSD_H

#include <stdint.h>

#include "result.h"

typedef struct fulmen_dnssd fulmen_dnssd;
typedef struct fulmen_dnssd_operation fulmen_dnssd_operation;

// fulmen_dnssd_open connects. The descriptor stays the connection's.
int fulmen_dnssd_open(uintptr_t handle, fulmen_dnssd **connection, int *descriptor);
// fulmen_dnssd_process reads what is there and calls fulmenFound for it; an error
// means that the responder has gone.
int fulmen_dnssd_process(fulmen_dnssd *connection);
// fulmen_dnssd_close ends the connection with all its operations, which must have
// been ended before.
void fulmen_dnssd_close(fulmen_dnssd *connection);

// What fulmenFound tells.
enum { FULMEN_REGISTERED, FULMEN_INSTANCE, FULMEN_RESOLVED, FULMEN_ADDRESS };

// Operations. Each event of one carries its token. Index 0 is every interface.
int fulmen_dnssd_register(fulmen_dnssd *connection, int64_t token, uint32_t index, const char *instance, const char *type,
	uint16_t port, const void *txt, uint16_t txt_length, fulmen_dnssd_operation **operation);
int fulmen_dnssd_browse(fulmen_dnssd *connection, int64_t token, uint32_t index, const char *type, fulmen_dnssd_operation **operation);
int fulmen_dnssd_resolve(fulmen_dnssd *connection, int64_t token, uint32_t index, const char *instance, const char *type,
	const char *domain, fulmen_dnssd_operation **operation);
int fulmen_dnssd_addresses(fulmen_dnssd *connection, int64_t token, uint32_t index, const char *host, fulmen_dnssd_operation **operation);
void fulmen_dnssd_end(fulmen_dnssd_operation *operation);

// fulmenFound is Go's. Text is an instance's name or a host's; data is a TXT
// record, or an address of 4 or 16 bytes. All are the caller's.
extern void fulmenFound(uintptr_t handle, int64_t token, int kind, int added, uint32_t index, int error, char *text, char *domain,
	uint16_t port, void *data, int length);

#endif
