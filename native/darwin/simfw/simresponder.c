//go:build darwinsim && linux && cgo

#include "sim.h"

#include <arpa/inet.h>
#include <dns_sd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static DNSServiceRef operations; // of all machines

// responder is what a machine's has, while its lock is held.
static CFTypeRef responder(sim_machine *m, CFStringRef key) {
	CFDictionaryRef of = CFDictionaryGetValue(m->values, CFSTR("responder"));
	return of == NULL ? NULL : CFDictionaryGetValue(of, key);
}

static void tell(DNSServiceRef to, DNSServiceFlags flags, uint32_t index, const char *text, DNSServiceRef record) {
	DNSServiceRef c = to->connection;
	told *t = calloc(1, sizeof *t);
	*t = (told){.of = to, .flags = flags, .index = index, .text = strdup(text)};
	if (record != NULL) {
		t->port = record->port;
		t->txt_length = record->txt_length;
		t->txt = malloc((size_t)record->txt_length + 1);
		memcpy(t->txt, record->txt, record->txt_length);
	}
	*c->last = t;
	c->last = &t->next;
	sim_count(1);
	if (write(c->pipe[1], "x", 1) < 0) {
		sim_misused("a connection to the responder that nobody reads");
	}
}

static void free_told(told *t) {
	free(t->text);
	free(t->txt);
	sim_count(-1);
	free(t);
}

// refused tells an operation that the system lets it do nothing.
static bool refused(DNSServiceRef s) {
	int32_t number = 0;
	sim_lock(s->machine);
	CFNumberRef error = responder(s->machine, CFSTR("refuses"));
	bool refuses = error != NULL && CFNumberGetValue(error, kCFNumberSInt32Type, &number);
	sim_unlock(s->machine);
	if (!refuses) {
		return false;
	}
	tell(s, 0, 0, "", NULL);
	told *last = s->connection->first;
	while (last->next != NULL) {
		last = last->next;
	}
	last->error = number;
	return true;
}

// begun holds an operation to the flags that it must have.
static void begun(DNSServiceFlags flags, DNSServiceFlags want) {
	if (flags != want) {
		sim_misused("an operation of the responder with other flags than it needs");
	}
}

static DNSServiceRef make(enum operation operation, DNSServiceRef connection, uint32_t index, const char *name, const char *type,
	void *reply, void *context) {
	DNSServiceRef s = calloc(1, sizeof *s);
	s->operation = operation;
	s->connection = connection;
	s->machine = sim_here();
	s->index = index;
	s->name = strdup(name);
	s->type = strdup(type);
	s->reply = reply;
	s->context = context;
	s->last = &s->first;
	s->next = operations;
	operations = s;
	sim_count(1);
	return s;
}

DNSServiceErrorType DNSServiceCreateConnection(DNSServiceRef *connection) {
	sim_machine *m = sim_here();
	sim_lock(m);
	bool is_absent = responder(m, CFSTR("absent")) != NULL;
	sim_unlock(m);
	if (is_absent) {
		return kDNSServiceErr_ServiceNotRunning;
	}
	pthread_mutex_lock(&lock);
	*connection = make(CONNECTION, NULL, 0, "", "", NULL, NULL);
	pthread_mutex_unlock(&lock);
	return pipe((*connection)->pipe) == 0 ? kDNSServiceErr_NoError : kDNSServiceErr_ServiceNotRunning;
}

int DNSServiceRefSockFD(DNSServiceRef connection) { return connection->pipe[0]; }

static bool hears(DNSServiceRef browser, DNSServiceRef record) {
	return browser->operation == BROWSE && record->operation == REGISTER && strcmp(browser->type, record->type) == 0 &&
		(browser->index == 0 || browser->index == record->index);
}

void DNSServiceRefDeallocate(DNSServiceRef gone) {
	pthread_mutex_lock(&lock);
	for (DNSServiceRef *at = &operations; *at != NULL;) {
		if (*at == gone) {
			*at = gone->next;
			continue;
		}
		if ((*at)->connection == gone) {
			sim_misused("a connection to the responder was ended before its operations");
		}
		if (hears(*at, gone)) {
			tell(*at, 0, gone->index, gone->name, NULL);
		}
		at = &(*at)->next;
	}
	// Whatever waits for what has gone is not told.
	DNSServiceRef c = gone->connection == NULL ? gone : gone->connection;
	for (told **at = &c->first; *at != NULL;) {
		told *t = *at;
		if (t->of == gone || gone == c) {
			*at = t->next;
			free_told(t);
		} else {
			at = &t->next;
		}
	}
	c->last = &c->first;
	while (*c->last != NULL) {
		c->last = &(*c->last)->next;
	}
	pthread_mutex_unlock(&lock);
	if (gone->operation == CONNECTION) {
		close(gone->pipe[0]);
		close(gone->pipe[1]);
	}
	free(gone->name);
	free(gone->type);
	free(gone->txt);
	sim_count(-1);
	free(gone);
}

static void deliver_address(const told *t) {
	struct sockaddr_in6 six = {.sin6_family = AF_INET6};
	struct sockaddr_in four = {.sin_family = AF_INET};
	struct sockaddr *address = NULL;
	if (inet_pton(AF_INET6, t->text, &six.sin6_addr) == 1) {
		address = (struct sockaddr *)&six;
	} else if (inet_pton(AF_INET, t->text, &four.sin_addr) == 1) {
		address = (struct sockaddr *)&four;
	}
	((DNSServiceGetAddrInfoReply)t->of->reply)(t->of, t->flags, t->index, t->error, t->of->name, address, 120, t->of->context);
}

// DNSServiceProcessResult tells one reply, as the real one does at least.
DNSServiceErrorType DNSServiceProcessResult(DNSServiceRef c) {
	char byte;
	if (read(c->pipe[0], &byte, 1) < 1) {
		return kDNSServiceErr_ServiceNotRunning;
	}
	pthread_mutex_lock(&lock);
	told *t = c->first;
	if (t != NULL && (c->first = t->next) == NULL) {
		c->last = &c->first;
	}
	pthread_mutex_unlock(&lock);
	if (t == NULL) {
		return 0; // its operation has ended
	}
	DNSServiceRef of = t->of;
	switch (of->operation) {
	case REGISTER:
		((DNSServiceRegisterReply)of->reply)(of, t->flags, t->error, t->text, of->type, "local.", of->context);
		break;
	case BROWSE:
		((DNSServiceBrowseReply)of->reply)(of, t->flags, t->index, t->error, t->text, of->type, "local.", of->context);
		break;
	case RESOLVE:
		((DNSServiceResolveReply)of->reply)(of, t->flags, t->index, t->error, "", t->text, t->port, t->txt_length, t->txt, of->context);
		break;
	case ADDRESSES:
		deliver_address(t);
		break;
	case CONNECTION:
		break;
	}
	free_told(t);
	return 0;
}

DNSServiceErrorType DNSServiceRegister(DNSServiceRef *service, DNSServiceFlags flags, uint32_t index, const char *name, const char *type,
	const char *domain, const char *host, uint16_t port, uint16_t txt_length, const void *txt, DNSServiceRegisterReply reply, void *context) {
	(void)domain, (void)host;
	begun(flags, kDNSServiceFlagsShareConnection | kDNSServiceFlagsNoAutoRename);
	pthread_mutex_lock(&lock);
	DNSServiceRef s = *service = make(REGISTER, *service, index, name, type, (void *)reply, context);
	s->port = port;
	s->txt_length = txt_length;
	s->txt = malloc((size_t)txt_length + 1);
	memcpy(s->txt, txt, txt_length);
	bool is_refused = refused(s);
	if (!is_refused) {
		tell(s, kDNSServiceFlagsAdd, 0, name, NULL);
	}
	for (DNSServiceRef other = is_refused ? NULL : operations; other != NULL; other = other->next) {
		if (hears(other, s)) {
			tell(other, kDNSServiceFlagsAdd, index, name, NULL);
		}
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

DNSServiceErrorType DNSServiceBrowse(DNSServiceRef *service, DNSServiceFlags flags, uint32_t index, const char *type, const char *domain,
	DNSServiceBrowseReply reply, void *context) {
	(void)domain;
	begun(flags, kDNSServiceFlagsShareConnection);
	pthread_mutex_lock(&lock);
	DNSServiceRef s = *service = make(BROWSE, *service, index, "", type, (void *)reply, context);
	for (DNSServiceRef other = refused(s) ? NULL : operations; other != NULL; other = other->next) {
		if (hears(s, other)) {
			tell(s, kDNSServiceFlagsAdd, other->index, other->name, NULL);
		}
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

DNSServiceErrorType DNSServiceResolve(DNSServiceRef *service, DNSServiceFlags flags, uint32_t index, const char *name, const char *type,
	const char *domain, DNSServiceResolveReply reply, void *context) {
	(void)domain;
	begun(flags, kDNSServiceFlagsShareConnection);
	pthread_mutex_lock(&lock);
	DNSServiceRef s = *service = make(RESOLVE, *service, index, name, type, (void *)reply, context);
	for (DNSServiceRef other = refused(s) ? NULL : operations; other != NULL; other = other->next) {
		if (other->operation == REGISTER && other->index == index && strcmp(other->name, name) == 0 && strcmp(other->type, type) == 0) {
			sim_lock(other->machine);
			CFStringRef host = responder(other->machine, CFSTR("host"));
			tell(s, kDNSServiceFlagsAdd, index, host == NULL ? "" : sim_chars(host), other);
			sim_unlock(other->machine);
			break;
		}
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

// tell_addresses tells those that a machine has on an interface, where the host is its.
static bool tell_addresses(DNSServiceRef to, sim_machine *m, const char *host, const char *index, DNSServiceProtocol protocol) {
	sim_lock(m);
	CFStringRef name = responder(m, CFSTR("host"));
	bool its = name != NULL && strcmp(sim_chars(name), host) == 0;
	CFStringRef key = sim_text(index);
	CFDictionaryRef all = its ? responder(m, CFSTR("addresses")) : NULL;
	CFArrayRef addresses = all == NULL ? NULL : CFDictionaryGetValue(all, key);
	CFRelease(key);
	for (CFIndex i = 0; addresses != NULL && i < CFArrayGetCount(addresses); i++) {
		const char *address = sim_chars(CFArrayGetValueAtIndex(addresses, i));
		bool six = strchr(address, ':') != NULL;
		if ((protocol & (six ? kDNSServiceProtocol_IPv6 : kDNSServiceProtocol_IPv4)) != 0) {
			tell(to, kDNSServiceFlagsAdd, to->index, address, NULL);
		}
	}
	sim_unlock(m);
	return its;
}

DNSServiceErrorType DNSServiceGetAddrInfo(DNSServiceRef *service, DNSServiceFlags flags, uint32_t index, DNSServiceProtocol protocol,
	const char *host, DNSServiceGetAddrInfoReply reply, void *context) {
	begun(flags, kDNSServiceFlagsShareConnection);
	char number[16];
	snprintf(number, sizeof number, "%u", index);
	pthread_mutex_lock(&lock);
	DNSServiceRef s = *service = make(ADDRESSES, *service, index, host, "", (void *)reply, context);
	for (DNSServiceRef other = refused(s) ? NULL : operations; other != NULL; other = other->next) {
		if (other->operation == REGISTER && other->index == index && tell_addresses(s, other->machine, host, number, protocol)) {
			break;
		}
	}
	pthread_mutex_unlock(&lock);
	return 0;
}
