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
// texts; "absent" in it: no responder runs.
enum operation { CONNECTION, REGISTER, BROWSE, RESOLVE, ADDRESSES };

// told is one reply that waits.
typedef struct told {
	struct told *next;
	DNSServiceRef of;
	DNSServiceFlags flags;
	uint32_t index;
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
	if (responder(sim_here(), CFSTR("absent")) != NULL) {
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
	((DNSServiceGetAddrInfoReply)t->of->reply)(t->of, t->flags, t->index, 0, t->of->name, address, 120, t->of->context);
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
		((DNSServiceRegisterReply)of->reply)(of, t->flags, 0, t->text, of->type, "local.", of->context);
		break;
	case BROWSE:
		((DNSServiceBrowseReply)of->reply)(of, t->flags, t->index, 0, t->text, of->type, "local.", of->context);
		break;
	case RESOLVE:
		((DNSServiceResolveReply)of->reply)(of, t->flags, t->index, 0, "", t->text, t->port, t->txt_length, t->txt, of->context);
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
	(void)flags, (void)domain, (void)host;
	pthread_mutex_lock(&lock);
	DNSServiceRef s = *service = make(REGISTER, *service, index, name, type, (void *)reply, context);
	s->port = port;
	s->txt_length = txt_length;
	s->txt = malloc((size_t)txt_length + 1);
	memcpy(s->txt, txt, txt_length);
	tell(s, kDNSServiceFlagsAdd, 0, name, NULL);
	for (DNSServiceRef other = operations; other != NULL; other = other->next) {
		if (hears(other, s)) {
			tell(other, kDNSServiceFlagsAdd, index, name, NULL);
		}
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

DNSServiceErrorType DNSServiceBrowse(DNSServiceRef *service, DNSServiceFlags flags, uint32_t index, const char *type, const char *domain,
	DNSServiceBrowseReply reply, void *context) {
	(void)flags, (void)domain;
	pthread_mutex_lock(&lock);
	DNSServiceRef s = *service = make(BROWSE, *service, index, "", type, (void *)reply, context);
	for (DNSServiceRef other = operations; other != NULL; other = other->next) {
		if (hears(s, other)) {
			tell(s, kDNSServiceFlagsAdd, other->index, other->name, NULL);
		}
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

DNSServiceErrorType DNSServiceResolve(DNSServiceRef *service, DNSServiceFlags flags, uint32_t index, const char *name, const char *type,
	const char *domain, DNSServiceResolveReply reply, void *context) {
	(void)flags, (void)domain;
	pthread_mutex_lock(&lock);
	DNSServiceRef s = *service = make(RESOLVE, *service, index, name, type, (void *)reply, context);
	for (DNSServiceRef other = operations; other != NULL; other = other->next) {
		if (other->operation == REGISTER && other->index == index && strcmp(other->name, name) == 0 && strcmp(other->type, type) == 0) {
			CFStringRef host = responder(other->machine, CFSTR("host"));
			tell(s, kDNSServiceFlagsAdd, index, host == NULL ? "" : sim_chars(host), other);
			break;
		}
	}
	pthread_mutex_unlock(&lock);
	return 0;
}

DNSServiceErrorType DNSServiceGetAddrInfo(DNSServiceRef *service, DNSServiceFlags flags, uint32_t index, DNSServiceProtocol protocol,
	const char *host, DNSServiceGetAddrInfoReply reply, void *context) {
	(void)flags, (void)protocol;
	char number[16];
	snprintf(number, sizeof number, "%u", index);
	pthread_mutex_lock(&lock);
	DNSServiceRef s = *service = make(ADDRESSES, *service, index, host, "", (void *)reply, context);
	for (DNSServiceRef other = operations; other != NULL; other = other->next) {
		CFStringRef name = responder(other->machine, CFSTR("host"));
		if (other->operation != REGISTER || other->index != index || name == NULL || strcmp(sim_chars(name), host) != 0) {
			continue;
		}
		CFStringRef key = sim_text(number);
		CFDictionaryRef all = responder(other->machine, CFSTR("addresses"));
		CFArrayRef addresses = all == NULL ? NULL : CFDictionaryGetValue(all, key);
		CFRelease(key);
		for (CFIndex i = 0; addresses != NULL && i < CFArrayGetCount(addresses); i++) {
			tell(s, kDNSServiceFlagsAdd, index, sim_chars(CFArrayGetValueAtIndex(addresses, i)), NULL);
		}
		break;
	}
	pthread_mutex_unlock(&lock);
	return 0;
}
