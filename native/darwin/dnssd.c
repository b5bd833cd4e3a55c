//go:build cgo && (darwin || darwinsim)

#include "dnssd.h"

#include <arpa/inet.h>
#include <dns_sd.h>
#include <netinet/in.h>
#include <stdlib.h>

struct fulmen_dnssd {
	uintptr_t handle;
	DNSServiceRef connection;
};

struct fulmen_dnssd_operation {
	uintptr_t handle;
	int64_t token;
	DNSServiceRef service; // shares the connection
};

int fulmen_dnssd_open(uintptr_t handle, fulmen_dnssd **into, int *descriptor) {
	fulmen_dnssd *c = calloc(1, sizeof *c);
	if (c == NULL) {
		return FULMEN_MEMORY;
	}
	c->handle = handle;
	int result = DNSServiceCreateConnection(&c->connection);
	if (result != kDNSServiceErr_NoError) {
		free(c);
		return result;
	}
	*descriptor = DNSServiceRefSockFD(c->connection);
	*into = c;
	return FULMEN_OK;
}

int fulmen_dnssd_process(fulmen_dnssd *c) { return DNSServiceProcessResult(c->connection); }

void fulmen_dnssd_close(fulmen_dnssd *c) {
	DNSServiceRefDeallocate(c->connection);
	free(c);
}

static fulmen_dnssd_operation *begin(fulmen_dnssd *c, int64_t token) {
	fulmen_dnssd_operation *o = calloc(1, sizeof *o);
	if (o != NULL) {
		o->handle = c->handle;
		o->token = token;
		o->service = c->connection; // the call replaces it by a reference of the operation's own
	}
	return o;
}

// begun hands an operation out, or frees it when its call failed.
static int begun(fulmen_dnssd_operation *o, int result, fulmen_dnssd_operation **into) {
	if (result != kDNSServiceErr_NoError) {
		free(o);
		return result;
	}
	*into = o;
	return FULMEN_OK;
}

void fulmen_dnssd_end(fulmen_dnssd_operation *o) {
	DNSServiceRefDeallocate(o->service);
	free(o);
}

static void DNSSD_API registered(DNSServiceRef service, DNSServiceFlags flags, DNSServiceErrorType error, const char *name,
	const char *type, const char *domain, void *context) {
	(void)service, (void)type;
	const fulmen_dnssd_operation *o = context;
	fulmenFound(o->handle, o->token, FULMEN_REGISTERED, (flags & kDNSServiceFlagsAdd) != 0, 0, error, (char *)name, (char *)domain, 0, NULL, 0);
}

int fulmen_dnssd_register(fulmen_dnssd *c, int64_t token, uint32_t index, const char *instance, const char *type, uint16_t port,
	const void *txt, uint16_t txt_length, fulmen_dnssd_operation **into) {
	fulmen_dnssd_operation *o = begin(c, token);
	if (o == NULL) {
		return FULMEN_MEMORY;
	}
	// A name that is taken is an error and not a reason to make up another.
	return begun(o, DNSServiceRegister(&o->service, kDNSServiceFlagsShareConnection | kDNSServiceFlagsNoAutoRename, index, instance, type,
		NULL, NULL, htons(port), txt_length, txt, registered, o), into);
}

static void DNSSD_API browsed(DNSServiceRef service, DNSServiceFlags flags, uint32_t index, DNSServiceErrorType error, const char *name,
	const char *type, const char *domain, void *context) {
	(void)service, (void)type;
	const fulmen_dnssd_operation *o = context;
	fulmenFound(o->handle, o->token, FULMEN_INSTANCE, (flags & kDNSServiceFlagsAdd) != 0, index, error, (char *)name, (char *)domain, 0, NULL, 0);
}

int fulmen_dnssd_browse(fulmen_dnssd *c, int64_t token, uint32_t index, const char *type, fulmen_dnssd_operation **into) {
	fulmen_dnssd_operation *o = begin(c, token);
	if (o == NULL) {
		return FULMEN_MEMORY;
	}
	return begun(o, DNSServiceBrowse(&o->service, kDNSServiceFlagsShareConnection, index, type, NULL, browsed, o), into);
}

static void DNSSD_API resolved(DNSServiceRef service, DNSServiceFlags flags, uint32_t index, DNSServiceErrorType error,
	const char *full_name, const char *host, uint16_t port, uint16_t txt_length, const unsigned char *txt, void *context) {
	(void)service, (void)flags, (void)full_name;
	const fulmen_dnssd_operation *o = context;
	fulmenFound(o->handle, o->token, FULMEN_RESOLVED, 1, index, error, (char *)host, "", ntohs(port), (void *)txt, txt_length);
}

int fulmen_dnssd_resolve(fulmen_dnssd *c, int64_t token, uint32_t index, const char *instance, const char *type, const char *domain,
	fulmen_dnssd_operation **into) {
	fulmen_dnssd_operation *o = begin(c, token);
	if (o == NULL) {
		return FULMEN_MEMORY;
	}
	return begun(o, DNSServiceResolve(&o->service, kDNSServiceFlagsShareConnection, index, instance, type, domain, resolved, o), into);
}

static void DNSSD_API addressed(DNSServiceRef service, DNSServiceFlags flags, uint32_t index, DNSServiceErrorType error, const char *host,
	const struct sockaddr *address, uint32_t ttl, void *context) {
	(void)service, (void)ttl;
	const fulmen_dnssd_operation *o = context;
	void *data = NULL;
	int length = 0;
	if (address != NULL && address->sa_family == AF_INET) {
		data = &((struct sockaddr_in *)address)->sin_addr;
		length = 4;
	} else if (address != NULL && address->sa_family == AF_INET6) {
		data = &((struct sockaddr_in6 *)address)->sin6_addr;
		length = 16;
	}
	fulmenFound(o->handle, o->token, FULMEN_ADDRESS, (flags & kDNSServiceFlagsAdd) != 0, index, error, (char *)host, "", 0, data, length);
}

int fulmen_dnssd_addresses(fulmen_dnssd *c, int64_t token, uint32_t index, const char *host, fulmen_dnssd_operation **into) {
	fulmen_dnssd_operation *o = begin(c, token);
	if (o == NULL) {
		return FULMEN_MEMORY;
	}
	return begun(o, DNSServiceGetAddrInfo(&o->service, kDNSServiceFlagsShareConnection, index,
		kDNSServiceProtocol_IPv4 | kDNSServiceProtocol_IPv6, host, addressed, o), into);
}
