// UserNotifications, ServiceManagement and Authorization Services.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <Block.h>
#include <Security/Authorization.h>
#include <Security/AuthorizationTags.h>

#include "acts.h"

// act_center ends programs outside of bundles, as macOS does.
void act_center(sim_call *c)
{
	sim_call asked = *c;
	id name = NULL;
	asked.result = &name;
	act_identifier(&asked);
	if (name == NULL)
		sim_fail("currentNotificationCenter is for programs in bundles alone");
	act_kept(c);
}

static void *answers(void *block)
{
	((void (*)(id, bool, id))sim_invoke(block, "v@?B@"))(block, true, NULL);
	Block_release(block);
	return NULL;
}

// act_authorize answers on a thread of the system's, as UserNotifications does.
void act_authorize(sim_call *c)
{
	pthread_t thread;
	if (ARGUMENT(c, 0, uint64_t) != 1 << 2)
		sim_fail("the app asks for the notifications %lu", (unsigned long)ARGUMENT(c, 0, uint64_t));
	if (pthread_create(&thread, NULL, answers, Block_copy(ARGUMENT(c, 1, id))) != 0)
		sim_fail("no thread");
	pthread_detach(thread);
}

void act_request(sim_call *c)
{
	id request = sim_new("UNNotificationRequest");
	sim_set(request, "identifier", ARGUMENT(c, 0, id));
	sim_set(request, "content", ARGUMENT(c, 1, id));
	ANSWER(c, id) = objc_autorelease(request);
}

void act_add(sim_call *c)
{
	id content = sim_get(ARGUMENT(c, 0, id), "content");
	sim_set(c->self, "last", ARGUMENT(c, 0, id));
	sim_say("notified", sim_text(sim_get(content, "title")), sim_text(sim_get(content, "body")), NULL);
}

// The blocks that the app is to call, made as clang makes them.
struct descriptor {
	unsigned long reserved, size;
	void (*copy)(void *, void *);
	void (*dispose)(void *);
	const char *signature;
};
struct literal {
	Class isa;
	int flags, reserved;
	void (*invoke)(void);
	struct descriptor *descriptor;
};

static void shows(struct literal *b, uint64_t how)
{
	char text[32];
	(void)b;
	snprintf(text, sizeof text, "%lu", (unsigned long)how);
	sim_say("presented", text, NULL);
}

static void done(struct literal *b)
{
	(void)b;
	sim_say("done", NULL);
}

static id block(void (*invoke)(void), const char *signature)
{
	struct literal *b = calloc(1, sizeof *b);
	b->descriptor = calloc(1, sizeof *b->descriptor);
	*b = (struct literal){objc_lookUpClass("__NSGlobalBlock__"), 1 << 28 | 1 << 30, 0, invoke, b->descriptor};
	*b->descriptor = (struct descriptor){.size = sizeof *b, .signature = signature};
	return (id)b;
}

// sim_notification has the last notification shown, or clicked.
void sim_notification(bool clicked)
{
	id center = sim_once("UNUserNotificationCenter"), to, shown = objc_autorelease(sim_new("UNNotification")), response;
	const char *selector = clicked ? "userNotificationCenter:didReceiveNotificationResponse:withCompletionHandler:"
				       : "userNotificationCenter:willPresentNotification:withCompletionHandler:";
	memcpy(&to, sim_slot(center, sel_registerName("delegate"))->number, sizeof to);
	if (to == NULL || sim_get(center, "last") == NULL)
		sim_fail("there is no notification, or nobody to tell of it");
	sim_alive(to, "the delegate of the notification center");
	sim_set(shown, "request", sim_get(center, "last"));
	response = objc_autorelease(sim_new("UNNotificationResponse"));
	sim_set(response, "notification", shown);
	((void (*)(id, SEL, id, id, id))class_getMethodImplementation(to->isa, sel_registerName(selector)))(to, sel_registerName(selector),
		center, clicked ? response : shown, clicked ? block((void (*)(void))done, "v@?") : block((void (*)(void))shows, "v@?Q"));
}

// How the registrations stand, by SMAppServiceStatus, and what a change is refused
// with: a domain, a code and a text.
static struct {
	int64_t status;
	char domain[64], text[256];
	int64_t code;
	bool waits; // for the person's approval
} services[2];

static id service(int which)
{
	id s = sim_new("SMAppService");
	sim_slot(s, sel_registerName("which"))->number[0] = which;
	return objc_autorelease(s);
}

void act_daemon(sim_call *c)
{
	if (strstr(sim_text(ARGUMENT(c, 0, id)), ".plist") == NULL)
		sim_fail("the daemon's job is a plist, not %s", sim_text(ARGUMENT(c, 0, id)));
	ANSWER(c, id) = service(0);
}

void act_login(sim_call *c) { ANSWER(c, id) = service(1); }
static int which(sim_call *c) { return (int)sim_slot(c->self, sel_registerName("which"))->number[0]; }
void act_status(sim_call *c) { ANSWER(c, int64_t) = services[which(c)].status; }

static void change(sim_call *c, int64_t status)
{
	int at = which(c);
	ANSWER(c, uint64_t) = services[at].domain[0] == '\0';
	if (ANSWER(c, uint64_t) != 0) {
		services[at].status = status != 0 && services[at].waits ? 2 : status; // SMAppServiceStatusRequiresApproval
		sim_say(status == 0 ? "unregistered" : "registered", at == 0 ? "daemon" : "login", NULL);
	} else
		sim_error(ARGUMENT(c, 0, void *), services[at].domain, services[at].code, services[at].text);
}

void act_register(sim_call *c) { change(c, 1); }
void act_unregister(sim_call *c) { change(c, 0); }

void act_settings(sim_call *c)
{
	(void)c;
	sim_say("settings", NULL);
}

// sim_approve has the daemon wait for the person's approval, or gives it.
void sim_approve(bool waits)
{
	services[0].waits = waits;
	services[0].status = services[0].status == 0 || waits ? services[0].status : 1;
}

// sim_refuse has changes refused, or no more: "login SMAppServiceErrorDomain 3 text".
void sim_refuse(const char *how)
{
	char name[16];
	int length = 0;
	sscanf(how, "%15s%n", name, &length);
	int at = strcmp(name, "login") == 0;
	services[at].domain[0] = '\0';
	sscanf(how + length, "%63s %ld %255[^\n]", services[at].domain, &services[at].code, services[at].text);
}

// Authorization Services ask the person, who answers as sim_grant says.
static OSStatus grants = errAuthorizationSuccess;

void sim_grant(int status) { grants = status; }

OSStatus AuthorizationCreate(const AuthorizationRights *rights, const AuthorizationEnvironment *environment, AuthorizationFlags flags, AuthorizationRef *made)
{
	sim_links("Security", "AuthorizationCreate"); // or the app does not link
	if (rights != NULL || environment != NULL || flags != kAuthorizationFlagDefaults)
		sim_fail("AuthorizationCreate is used otherwise than the app does");
	*made = (AuthorizationRef)&grants;
	return errAuthorizationSuccess;
}

OSStatus AuthorizationCopyRights(AuthorizationRef own, const AuthorizationRights *rights, const AuthorizationEnvironment *environment,
	AuthorizationFlags flags, AuthorizationRights **given)
{
	(void)given;
	if (own != (AuthorizationRef)&grants || rights->count != 1 || environment->count != 1 ||
		flags != (kAuthorizationFlagInteractionAllowed | kAuthorizationFlagExtendRights))
		sim_fail("AuthorizationCopyRights is used otherwise than the app does");
	sim_say("asked", rights->items[0].name, environment->items[0].value, NULL);
	return grants;
}

OSStatus AuthorizationMakeExternalForm(AuthorizationRef own, AuthorizationExternalForm *form)
{
	(void)own;
	memset(form->bytes, 'p', sizeof form->bytes);
	return errAuthorizationSuccess;
}
