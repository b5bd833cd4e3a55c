// Foundation, as far as the app goes; and properties, which most messages are about.
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "acts.h"

// size is how many bytes a type of the table has.
static size_t size(char type) { return type == 'B' ? 1 : type == '{' ? 32 : 8; }

// sim_act does what a message does: its own act, or setting or giving a property.
void sim_act(Method m, sim_call *call)
{
	char name[128];
	bool sets = strncmp(call->selector, "set", 3) == 0 && strchr(call->selector, ':') != NULL;
	if (m->act != NULL) {
		m->act(call);
		return;
	}
	snprintf(name, sizeof name, "%s", call->selector + (sets ? 3 : 0));
	name[0] = (char)tolower(name[0]);
	name[strcspn(name, ":")] = '\0';
	struct slot *s = sim_slot(call->self, sel_registerName(name));
	if (!sets && call->types[0] == '@')
		ANSWER(call, id) = s->object;
	else if (!sets)
		memcpy(call->result, s->number, size(call->types[0]));
	else if (call->types[3] == '@' && strcmp(name, "target") != 0 && strcmp(name, "delegate") != 0)
		sim_set(call->self, name, ARGUMENT(call, 0, id));
	else if (call->types[3] == '@')
		memcpy(s->number, call->arguments[0], 8); // a weak reference
	else
		memcpy(s->number, call->arguments[0], size(call->types[3]));
}

id sim_once(const char *class)
{
	static id all[16];
	size_t i;
	for (i = 0; all[i] != NULL && strcmp(all[i]->isa->name, class) != 0; i++)
		;
	return all[i] != NULL ? all[i] : (all[i] = sim_new(class));
}

void act_alloc(sim_call *c) { ANSWER(c, id) = class_createInstance((Class)(void *)c->self, 0); }
void act_new(sim_call *c) { act_alloc(c); }
void act_init(sim_call *c) { ANSWER(c, id) = c->self; }
void act_nothing(sim_call *c) { (void)c; }
void act_yes(sim_call *c) { ANSWER(c, uint64_t) = 1; }
void act_kept(sim_call *c) { ANSWER(c, id) = sim_once(((Class)(void *)c->self)->name); }

void act_frame(sim_call *c)
{
	memcpy(sim_slot(c->self, sel_registerName("frame"))->number, c->arguments[0], 32);
	ANSWER(c, id) = c->self;
}

id sim_string(const char *text)
{
	id s = sim_new("NSString");
	sim_main("a string");
	s->text = strdup(text);
	return objc_autorelease(s);
}

const char *sim_text(id string)
{
	if (string == NULL)
		return "";
	sim_alive(string, "UTF8String");
	if (string->text == NULL)
		sim_fail("an object of class %s is no string", string->isa->name);
	return string->text;
}

static id list(const char *class, size_t length, size_t step, id *first, id *second)
{
	id o = sim_new(class);
	o->items = calloc(length * step + 1, sizeof(id));
	o->length = length * step;
	for (size_t i = 0; i < length; i++) {
		o->items[i * step] = objc_retain(first[i]);
		if (step == 2)
			o->items[i * step + 1] = objc_retain(second[i]);
	}
	return objc_autorelease(o);
}

id sim_array(size_t length, id *items) { return list("NSArray", length, 1, items, NULL); }
id sim_dictionary(size_t length, id *keys, id *values) { return list("NSDictionary", length, 2, keys, values); }

id sim_lookup(id dictionary, const char *key)
{
	for (size_t i = 0; i < dictionary->length; i += 2)
		if (strcmp(sim_text(dictionary->items[i]), key) == 0)
			return dictionary->items[i + 1];
	return NULL;
}

void act_length(sim_call *c) { ANSWER(c, uint64_t) = strlen(sim_text(c->self)); }
void act_of_key(sim_call *c) { ANSWER(c, id) = sim_lookup(c->self, sim_text(ARGUMENT(c, 0, id))); }

IMP sim_invoke(id block, const char *types)
{
	const char *own;
	sim_alive(block, "a block that is called");
	if (!sim_is_block(block))
		sim_fail("an object of class %s is no block", block->isa->name);
	own = ((const char ***)block)[3][4];
	if (!sim_matching(own, types))
		sim_fail("a block of the types %s was given, and %s is called", own, types);
	return ((IMP *)block)[2];
}

void act_each(sim_call *c)
{
	id block = ARGUMENT(c, 0, id);
	bool stop = false;
	for (size_t i = 0; i < c->self->length && !stop; i++)
		((void (*)(id, id, uint64_t, bool *))sim_invoke(block, "v@?@Q^B"))(block, c->self->items[i], i, &stop);
}

void act_url(sim_call *c)
{
	id url = sim_new("NSURL");
	sim_set(url, "absoluteString", ARGUMENT(c, 0, id));
	ANSWER(c, id) = objc_autorelease(url);
}

void sim_error(void *where, const char *domain, long code, const char *text)
{
	id error = sim_new("NSError");
	sim_set(error, "domain", sim_string(domain));
	sim_set(error, "localizedDescription", sim_string(text));
	memcpy(sim_slot(error, sel_registerName("code"))->number, &code, sizeof code);
	*(id *)where = objc_autorelease(error);
}

// act_reachable is for files that are missing.
void act_reachable(sim_call *c)
{
	const char *path = sim_text(sim_get(c->self, "absoluteString"));
	ANSWER(c, uint64_t) = strncmp(path, "file://", 7) == 0 && access(path + 7, F_OK) == 0;
	if (ANSWER(c, uint64_t) == 0)
		sim_error(ARGUMENT(c, 0, void *), "NSCocoaErrorDomain", 260, "The file couldn’t be opened because there is no such file.");
}

void act_rect(sim_call *c)
{
	id value = sim_new("NSValue");
	memcpy(sim_slot(value, sel_registerName("rectValue"))->number, c->arguments[0], 32);
	ANSWER(c, id) = objc_autorelease(value);
}

void act_bool_of_key(sim_call *c)
{
	ANSWER(c, uint64_t) = sim_slot(c->self, sel_registerName(sim_text(ARGUMENT(c, 0, id))))->number[0] != 0;
}

void act_set_bool(sim_call *c)
{
	sim_slot(c->self, sel_registerName(sim_text(ARGUMENT(c, 1, id))))->number[0] = ARGUMENT(c, 0, bool);
}

// act_identifier is nothing for a program outside of a bundle.
void act_identifier(sim_call *c)
{
	char path[4096] = {0};
	if (readlink("/proc/self/exe", path, sizeof path - 1) > 0 && strstr(path, ".app/Contents/MacOS/") != NULL)
		ANSWER(c, id) = sim_string("com.example.sim");
}
