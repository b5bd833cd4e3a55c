// AppKit, as far as the app goes: alerts in windows, the clipboard, the workspace.
#include <string.h>

#include "acts.h"

static id alert; // the one on the screen

static id reference(id o, const char *name)
{
	id to;
	memcpy(&to, sim_slot(o, sel_registerName(name))->number, sizeof to);
	return to;
}

static void refer(id o, const char *name, id to) { memcpy(sim_slot(o, sel_registerName(name))->number, &to, sizeof to); }

void act_button(sim_call *c)
{
	id button = objc_autorelease(sim_new("NSButton"));
	id have = sim_get(c->self, "buttons");
	id all[8];
	size_t n = have == NULL ? 0 : have->length;
	if (n > 0)
		memcpy(all, have->items, n * sizeof(id));
	all[n] = button;
	sim_set(button, "title", ARGUMENT(c, 0, id));
	sim_set(c->self, "buttons", sim_array(n + 1, all));
	ANSWER(c, id) = button;
}

// act_window gives an alert its window, which knows its alert.
void act_window(sim_call *c)
{
	id window = sim_get(c->self, "window");
	if (window == NULL) {
		window = objc_autorelease(sim_new("NSWindow"));
		refer(window, "alert", c->self);
		sim_set(c->self, "window", window);
	}
	ANSWER(c, id) = window;
}

void act_front(sim_call *c)
{
	id a = reference(c->self, "alert"), view, buttons;
	char titles[512] = "";
	sim_alive(a, "an alert that is shown");
	alert = a;
	view = sim_get(a, "accessoryView");
	buttons = sim_get(a, "buttons");
	for (size_t i = 0; buttons != NULL && i < buttons->length; i++) {
		strcat(titles, i == 0 ? "" : "|");
		strcat(titles, sim_text(sim_get(buttons->items[i], "title")));
	}
	sim_say("alert", sim_text(sim_get(a, "messageText")), sim_text(sim_get(a, "informativeText")), titles,
		view == NULL ? "" : sim_text(sim_get(view, "stringValue")), NULL);
}

void act_out(sim_call *c)
{
	id a = reference(c->self, "alert");
	sim_alive(a, "an alert that is put away");
	sim_say("closed", sim_text(sim_get(a, "messageText")), NULL);
	alert = a == alert ? NULL : alert;
}

// sim_press presses a button of the alert on the screen, by its title, with what was
// typed before.
void sim_press(const char *title, const char *typed)
{
	id buttons = alert == NULL ? NULL : sim_get(alert, "buttons");
	if (buttons == NULL)
		sim_fail("no alert is on the screen to press %s in", title);
	if (*typed != '\0')
		sim_set(sim_get(alert, "accessoryView"), "stringValue", sim_string(typed));
	for (size_t i = 0; i < buttons->length; i++) {
		id button = buttons->items[i], target = reference(button, "target");
		SEL action = (SEL)(void *)reference(button, "action");
		if (strcmp(sim_text(sim_get(button, "title")), title) != 0)
			continue;
		sim_alive(target, "the target of a button");
		((void (*)(id, SEL, id))class_getMethodImplementation(target->isa, action))(target, action, button);
		return;
	}
	sim_fail("the alert has no button %s", title);
}

void act_label(sim_call *c)
{
	id field = sim_new("NSTextField");
	sim_set(field, "stringValue", ARGUMENT(c, 0, id));
	ANSWER(c, id) = objc_autorelease(field);
}

void act_font(sim_call *c)
{
	if (ARGUMENT(c, 0, double) < 1 || ARGUMENT(c, 0, double) > 200)
		sim_fail("a font of %g points", ARGUMENT(c, 0, double));
	ANSWER(c, id) = objc_autorelease(sim_new("NSFont"));
}

void act_labelled(sim_call *c) { sim_say("label", c->self->isa->name, sim_text(ARGUMENT(c, 0, id)), NULL); }

// act_windows gives the one window that systray's picture is in.
void act_windows(sim_call *c)
{
	id window = sim_once("NSWindow"), view = sim_get(window, "contentView");
	if (view == NULL) {
		id button = objc_autorelease(sim_new("NSStatusBarButton"));
		view = objc_autorelease(sim_new("NSView"));
		sim_set(view, "subviews", sim_array(1, &button));
		sim_set(button, "subviews", sim_array(0, NULL));
		sim_set(window, "contentView", view);
	}
	ANSWER(c, id) = sim_array(1, &window);
}

void act_clear(sim_call *c) { ANSWER(c, int64_t) = 1; }

void act_copy(sim_call *c)
{
	if (strcmp(sim_text(ARGUMENT(c, 1, id)), "public.utf8-plain-text") != 0)
		sim_fail("the clipboard has no type %s", sim_text(ARGUMENT(c, 1, id)));
	sim_say("copied", sim_text(ARGUMENT(c, 0, id)), NULL);
	ANSWER(c, uint64_t) = 1;
}

void act_open(sim_call *c)
{
	sim_say("opened", sim_text(sim_get(ARGUMENT(c, 0, id), "absoluteString")), NULL);
	ANSWER(c, uint64_t) = 1;
}

// The application's delegate, which it does not retain.
static id delegate;

void act_application(sim_call *c)
{
	delegate = ARGUMENT(c, 0, id);
}

// sim_tell tells the delegate, where it takes that.
void sim_tell(const char *selector)
{
	id note = objc_autorelease(sim_new("NSNotification"));
	sim_alive(delegate, selector);
	if (sim_has(delegate, selector))
		((void (*)(id, SEL, id))sim_find(delegate, selector))(delegate, sel_registerName(selector), note);
}

// sim_opens opens the app again, with an address or without.
void sim_opens(const char *address)
{
	static const char with[] = "application:openURLs:", without[] = "applicationShouldHandleReopen:hasVisibleWindows:";
	id application = sim_once("NSApplication"), url;
	if (*address == '\0') {
		bool opens = ((bool (*)(id, SEL, id, bool))sim_find(delegate, without))(delegate, sel_registerName(without), application, false);
		if (opens)
			sim_fail("the app has no window to open");
		return;
	}
	url = objc_autorelease(sim_new("NSURL"));
	sim_set(url, "absoluteString", sim_string(address));
	((void (*)(id, SEL, id, id))sim_find(delegate, with))(delegate, sel_registerName(with), application, sim_array(1, &url));
}

void act_run(sim_call *c)
{
	(void)c;
	sim_run();
}
