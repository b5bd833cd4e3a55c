// The part of DNS-SD that native/darwin calls, declared by this project from
// Apple's documentation and from what the header of its open mDNSResponder states
// as facts: names, argument orders, numbers. The functions are in libSystem.
#ifndef FULMEN_APPLE_DNS_SD_H
#define FULMEN_APPLE_DNS_SD_H

#include <stdint.h>

struct sockaddr;

#define DNSSD_API
typedef struct _DNSServiceRef_t *DNSServiceRef;
typedef uint32_t DNSServiceFlags;
typedef uint32_t DNSServiceProtocol;
typedef int32_t DNSServiceErrorType;
enum {
	kDNSServiceFlagsMoreComing = 0x1,
	kDNSServiceFlagsAdd = 0x2,
	kDNSServiceFlagsNoAutoRename = 0x8,
	kDNSServiceFlagsShareConnection = 0x4000,
	kDNSServiceProtocol_IPv4 = 1,
	kDNSServiceProtocol_IPv6 = 2,
	kDNSServiceErr_NoError = 0,
	kDNSServiceErr_NameConflict = -65548,
	kDNSServiceErr_NoAuth = -65555,
	kDNSServiceErr_ServiceNotRunning = -65563,
	kDNSServiceErr_PolicyDenied = -65570,
};

typedef void (*DNSServiceRegisterReply)(DNSServiceRef, DNSServiceFlags, DNSServiceErrorType, const char *name, const char *type,
	const char *domain, void *context);
typedef void (*DNSServiceBrowseReply)(DNSServiceRef, DNSServiceFlags, uint32_t index, DNSServiceErrorType, const char *name,
	const char *type, const char *domain, void *context);
typedef void (*DNSServiceResolveReply)(DNSServiceRef, DNSServiceFlags, uint32_t index, DNSServiceErrorType, const char *full_name,
	const char *host, uint16_t port, uint16_t txt_length, const unsigned char *txt, void *context);
typedef void (*DNSServiceGetAddrInfoReply)(DNSServiceRef, DNSServiceFlags, uint32_t index, DNSServiceErrorType, const char *host,
	const struct sockaddr *address, uint32_t ttl, void *context);

DNSServiceErrorType DNSServiceCreateConnection(DNSServiceRef *connection);
int DNSServiceRefSockFD(DNSServiceRef connection);
DNSServiceErrorType DNSServiceProcessResult(DNSServiceRef connection);
void DNSServiceRefDeallocate(DNSServiceRef service);
DNSServiceErrorType DNSServiceRegister(DNSServiceRef *service, DNSServiceFlags flags, uint32_t index, const char *name, const char *type,
	const char *domain, const char *host, uint16_t port, uint16_t txt_length, const void *txt, DNSServiceRegisterReply reply, void *context);
DNSServiceErrorType DNSServiceBrowse(DNSServiceRef *service, DNSServiceFlags flags, uint32_t index, const char *type, const char *domain,
	DNSServiceBrowseReply reply, void *context);
DNSServiceErrorType DNSServiceResolve(DNSServiceRef *service, DNSServiceFlags flags, uint32_t index, const char *name, const char *type,
	const char *domain, DNSServiceResolveReply reply, void *context);
DNSServiceErrorType DNSServiceGetAddrInfo(DNSServiceRef *service, DNSServiceFlags flags, uint32_t index, DNSServiceProtocol protocol,
	const char *host, DNSServiceGetAddrInfoReply reply, void *context);

#endif
