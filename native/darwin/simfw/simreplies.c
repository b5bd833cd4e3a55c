//go:build darwinsim && linux && cgo

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "simresponder.h"

void sim_tell(DNSServiceRef to, DNSServiceFlags flags, uint32_t index, const char *text, DNSServiceRef record) {
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

void sim_free_told(told *t) {
	free(t->text);
	free(t->txt);
	sim_count(-1);
	free(t);
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
	pthread_mutex_lock(&sim_responder_lock);
	told *t = c->first;
	if (t != NULL && (c->first = t->next) == NULL) {
		c->last = &c->first;
	}
	pthread_mutex_unlock(&sim_responder_lock);
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
	sim_free_told(t);
	return 0;
}
