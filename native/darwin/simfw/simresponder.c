//go:build darwinsim && linux && cgo

#include "sim.h"

#include <dns_sd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simresponder.h"

pthread_mutex_t sim_responder_lock = PTHREAD_MUTEX_INITIALIZER;
static DNSServiceRef operations; // of all machines

// responder is what a machine's has, while its lock is held.
static CFTypeRef responder(sim_machine *m, CFStringRef key) {
	CFDictionaryRef of = CFDictionaryGetValue(m->values, CFSTR("responder"));
	return of == NULL ? NULL : CFDictionaryGetValue(of, key);
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
	sim_tell(s, 0, 0, "", NULL);
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
	pthread_mutex_lock(&sim_responder_lock);
	*connection = make(CONNECTION, NULL, 0, "", "", NULL, NULL);
	pthread_mutex_unlock(&sim_responder_lock);
	return pipe((*connection)->pipe) == 0 ? kDNSServiceErr_NoError : kDNSServiceErr_ServiceNotRunning;
}

int DNSServiceRefSockFD(DNSServiceRef connection) { return connection->pipe[0]; }

static bool hears(DNSServiceRef browser, DNSServiceRef record) {
	return browser->operation == BROWSE && record->operation == REGISTER && strcmp(browser->type, record->type) == 0 &&
		(browser->index == 0 || browser->index == record->index);
}

void DNSServiceRefDeallocate(DNSServiceRef gone) {
	pthread_mutex_lock(&sim_responder_lock);
	for (DNSServiceRef *at = &operations; *at != NULL;) {
		if (*at == gone) {
			*at = gone->next;
			continue;
		}
		if ((*at)->connection == gone) {
			sim_misused("a connection to the responder was ended before its operations");
		}
		if (hears(*at, gone)) {
			sim_tell(*at, 0, gone->index, gone->name, NULL);
		}
		at = &(*at)->next;
	}
	// Whatever waits for what has gone is not told.
	DNSServiceRef c = gone->connection == NULL ? gone : gone->connection;
	for (told **at = &c->first; *at != NULL;) {
		told *t = *at;
		if (t->of == gone || gone == c) {
			*at = t->next;
			sim_free_told(t);
		} else {
			at = &t->next;
		}
	}
	c->last = &c->first;
	while (*c->last != NULL) {
		c->last = &(*c->last)->next;
	}
	pthread_mutex_unlock(&sim_responder_lock);
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

DNSServiceErrorType DNSServiceRegister(DNSServiceRef *service, DNSServiceFlags flags, uint32_t index, const char *name, const char *type,
	const char *domain, const char *host, uint16_t port, uint16_t txt_length, const void *txt, DNSServiceRegisterReply reply, void *context) {
	(void)domain, (void)host;
	begun(flags, kDNSServiceFlagsShareConnection | kDNSServiceFlagsNoAutoRename);
	pthread_mutex_lock(&sim_responder_lock);
	DNSServiceRef s = *service = make(REGISTER, *service, index, name, type, (void *)reply, context);
	s->port = port;
	s->txt_length = txt_length;
	s->txt = malloc((size_t)txt_length + 1);
	memcpy(s->txt, txt, txt_length);
	bool is_refused = refused(s);
	if (!is_refused) {
		sim_tell(s, kDNSServiceFlagsAdd, 0, name, NULL);
	}
	for (DNSServiceRef other = is_refused ? NULL : operations; other != NULL; other = other->next) {
		if (hears(other, s)) {
			sim_tell(other, kDNSServiceFlagsAdd, index, name, NULL);
		}
	}
	pthread_mutex_unlock(&sim_responder_lock);
	return 0;
}

DNSServiceErrorType DNSServiceBrowse(DNSServiceRef *service, DNSServiceFlags flags, uint32_t index, const char *type, const char *domain,
	DNSServiceBrowseReply reply, void *context) {
	(void)domain;
	begun(flags, kDNSServiceFlagsShareConnection);
	pthread_mutex_lock(&sim_responder_lock);
	DNSServiceRef s = *service = make(BROWSE, *service, index, "", type, (void *)reply, context);
	for (DNSServiceRef other = refused(s) ? NULL : operations; other != NULL; other = other->next) {
		if (hears(s, other)) {
			sim_tell(s, kDNSServiceFlagsAdd, other->index, other->name, NULL);
		}
	}
	pthread_mutex_unlock(&sim_responder_lock);
	return 0;
}

DNSServiceErrorType DNSServiceResolve(DNSServiceRef *service, DNSServiceFlags flags, uint32_t index, const char *name, const char *type,
	const char *domain, DNSServiceResolveReply reply, void *context) {
	(void)domain;
	begun(flags, kDNSServiceFlagsShareConnection);
	pthread_mutex_lock(&sim_responder_lock);
	DNSServiceRef s = *service = make(RESOLVE, *service, index, name, type, (void *)reply, context);
	for (DNSServiceRef other = refused(s) ? NULL : operations; other != NULL; other = other->next) {
		if (other->operation == REGISTER && other->index == index && strcmp(other->name, name) == 0 && strcmp(other->type, type) == 0) {
			sim_lock(other->machine);
			CFStringRef host = responder(other->machine, CFSTR("host"));
			sim_tell(s, kDNSServiceFlagsAdd, index, host == NULL ? "" : sim_chars(host), other);
			sim_unlock(other->machine);
			break;
		}
	}
	pthread_mutex_unlock(&sim_responder_lock);
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
			sim_tell(to, kDNSServiceFlagsAdd, to->index, address, NULL);
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
	pthread_mutex_lock(&sim_responder_lock);
	DNSServiceRef s = *service = make(ADDRESSES, *service, index, host, "", (void *)reply, context);
	for (DNSServiceRef other = refused(s) ? NULL : operations; other != NULL; other = other->next) {
		if (other->operation == REGISTER && other->index == index && tell_addresses(s, other->machine, host, number, protocol)) {
			break;
		}
	}
	pthread_mutex_unlock(&sim_responder_lock);
	return 0;
}
