// The loop of the main thread; and the person at the screen, who writes lines to
// the program's standard input and reads on its standard output what can be seen.
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim.h"

extern void sim_press(const char *title, const char *typed), sim_tell(const char *selector), sim_opens(const char *address);
extern void sim_notification(bool clicked), sim_refuse(const char *how), sim_approve(bool waits), sim_grant(int status);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct later {
	void (*f)(uintptr_t);
	uintptr_t value;
	struct later *next;
} *first, **last = &first;
static int wake[2];
static bool stopped;
static void (*selected)(int), (*opened)(void);

__attribute__((constructor)) static void begin(void)
{
	if (pipe(wake) != 0)
		sim_fail("no pipe");
}

void sim_systray(void (*on_selected)(int), void (*on_opened)(void))
{
	selected = on_selected;
	opened = on_opened;
}

// sim_say writes a line: words between tabs, with what a line cannot have escaped.
void sim_say(const char *what, ...)
{
	va_list all;
	const char *word = what;
	pthread_mutex_lock(&lock);
	va_start(all, what);
	do {
		for (const char *p = word; *p != '\0'; p++)
			fputs(*p == '\n' ? "\\n" : *p == '\t' ? "\\t" : (char[]){*p, 0}, stdout);
		word = va_arg(all, const char *);
		putchar(word == NULL ? '\n' : '\t');
	} while (word != NULL);
	va_end(all);
	fflush(stdout);
	pthread_mutex_unlock(&lock);
}

void sim_later(void (*f)(uintptr_t), uintptr_t value)
{
	struct later *l = malloc(sizeof *l);
	*l = (struct later){f, value, NULL};
	pthread_mutex_lock(&lock);
	*last = l;
	last = &l->next;
	pthread_mutex_unlock(&lock);
	if (write(wake[1], "", 1) != 1)
		sim_fail("nobody wakes the main thread");
}

static struct later *take(void)
{
	struct later *l;
	pthread_mutex_lock(&lock);
	if ((l = first) != NULL && (first = l->next) == NULL)
		last = &first;
	pthread_mutex_unlock(&lock);
	return l;
}

void sim_stop(void) { stopped = true; }

// act does what the person does.
static void act(char *line)
{
	char *what = strsep(&line, "\t"), *value = strsep(&line, "\t");
	value = value == NULL ? "" : value;
	if (strcmp(what, "select") == 0)
		selected(atoi(value));
	else if (strcmp(what, "menu") == 0)
		opened();
	else if (strcmp(what, "press") == 0)
		sim_press(value, line == NULL ? "" : line);
	else if (strcmp(what, "open") == 0)
		sim_opens(value);
	else if (strcmp(what, "activate") == 0)
		sim_tell("applicationDidBecomeActive:");
	else if (strcmp(what, "present") == 0 || strcmp(what, "choose") == 0)
		sim_notification(*what == 'c');
	else if (strcmp(what, "refuse") == 0)
		sim_refuse(value);
	else if (strcmp(what, "approval") == 0 || strcmp(what, "approve") == 0)
		sim_approve(strcmp(what, "approval") == 0);
	else if (strcmp(what, "end") == 0)
		sim_tell("applicationWillTerminate:");
	else if (strcmp(what, "grant") == 0)
		sim_grant(atoi(value));
	else
		sim_fail("the person does not know how to %s", what);
}

// sim_run is the loop, with a pool around each turn.
void sim_run(void)
{
	struct pollfd from[2] = {{.fd = wake[0], .events = POLLIN}, {.fd = 0, .events = POLLIN}};
	char text[4096], token;
	size_t length = 0;
	void *pool = sim_pool_push();
	sim_main("run");
	sim_tell("applicationDidFinishLaunching:");
	sim_pool_pop(pool);
	while (!stopped) {
		struct later *l;
		if (poll(from, 2, -1) < 0)
			continue;
		pool = sim_pool_push();
		if (from[0].revents != 0 && read(wake[0], &token, 1) == 1 && (l = take()) != NULL) {
			l->f(l->value);
			free(l);
		}
		if (from[1].revents != 0) {
			ssize_t n = read(0, text + length, sizeof text - length - 1);
			char *end;
			if (n <= 0)
				from[1].fd = -1; // nobody is at the screen any more
			length += n > 0 ? (size_t)n : 0;
			text[length] = '\0';
			while ((end = strchr(text, '\n')) != NULL) {
				char line[4096];
				*end = '\0';
				strcpy(line, text);
				length -= (size_t)(end + 1 - text);
				memmove(text, end + 1, length + 1);
				act(line);
			}
		}
		sim_pool_pop(pool);
	}
}
