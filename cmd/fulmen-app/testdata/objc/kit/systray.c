// In place of systray's Objective-C, which draws: what it is told can be read, and
// the person's clicks are told to it. Its own header checks the functions.
#include "_cgo_export.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "sim.h"
#include "systray.h"

void setInternalLoop(bool);

// On a Mac the main thread draws, so that nobody clicks a line that is being taken away.
static pthread_mutex_t drawing = PTHREAD_MUTEX_INITIALIZER;
static bool drawn[1 << 16];

static void draw(int item, bool is)
{
	if (item < 0 || (size_t)item >= sizeof drawn)
		sim_fail("the menu was drawn too often: line %d", item);
	pthread_mutex_lock(&drawing);
	drawn[item] = is;
	pthread_mutex_unlock(&drawing);
}

static void choose(int item)
{
	char number[16];
	snprintf(number, sizeof number, "%d", item);
	pthread_mutex_lock(&drawing);
	bool is = item > 0 && (size_t)item < sizeof drawn && drawn[item];
	if (is)
		systray_menu_item_selected(item);
	pthread_mutex_unlock(&drawing);
	sim_say("selected", number, is ? "1" : "0", NULL);
}

static void say(const char *what, int a, int b, const char *title, int disabled, int checked)
{
	char numbers[4][16];
	const int all[4] = {a, b, disabled, checked};
	for (int i = 0; i < 4; i++)
		snprintf(numbers[i], sizeof numbers[i], "%d", all[i]);
	sim_say(what, numbers[0], numbers[1], title, numbers[2], numbers[3], NULL);
}

static void begins(uintptr_t unused) { (void)unused; sim_say("ready", NULL); }
static void stops(uintptr_t unused) { (void)unused; sim_stop(); }

void setInternalLoop(bool internal) { (void)internal; }
void registerSystray(void) {}
void nativeEnd(void) { systray_on_exit(); }
int nativeLoop(void) { sim_fail("systray runs the loop, which is the app's"); }

void nativeStart(void)
{
	sim_main("systray's start");
	sim_systray(choose, systray_menu_will_open);
	sim_later(begins, 0);
	systray_ready();
}

void setIcon(const char *bytes, int length, bool template)
{
	if (length < 8 || memcmp(bytes, "\x89PNG", 4) != 0 || !template)
		sim_fail("systray was given no template picture");
	sim_say("icon", NULL);
}

void setMenuItemIcon(const char *bytes, int length, int item, bool template) { sim_fail("a picture in a line: %p %d %d %d", bytes, length, item, template); }
void setTitle(char *title) { sim_say("title", title, NULL); free(title); }
void setTooltip(char *tooltip) { sim_say("tooltip", tooltip, NULL); free(tooltip); }
void setRemovalAllowed(bool allowed) { (void)allowed; }

void add_or_update_menu_item(int item, int parent, char *title, char *tooltip, short disabled, short checked, short checkable)
{
	(void)checkable;
	draw(item, true);
	say("item", item, parent, title, disabled, checked);
	free(title);
	free(tooltip);
}

void add_separator(int item, int parent) { (void)item; (void)parent; }
void hide_menu_item(int item) { say("hide", item, 0, "", 0, 0); }
void show_menu_item(int item) { say("show", item, 0, "", 0, 0); }

void remove_menu_item(int item)
{
	draw(item, false);
	say("remove", item, 0, "", 0, 0);
}

void reset_menu(void) { sim_say("reset", NULL); }
void show_menu(void) {}
void quit(void) { sim_say("quit", NULL); sim_later(stops, 0); }
