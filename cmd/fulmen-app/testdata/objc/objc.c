// Classes, selectors, messages, counts, pools and blocks.
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sim.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static Class classes;
static struct objc_class ended = {.name = "(ended)"};

void sim_fail(const char *format, ...)
{
	va_list all;
	va_start(all, format);
	fputs("objc: ", stderr);
	vfprintf(stderr, format, all);
	fputs("\n", stderr);
	va_end(all);
	abort();
}

void sim_main(const char *what)
{
	if (syscall(SYS_gettid) != getpid())
		sim_fail("%s was called off the main thread", what);
}

// Selectors are their names, one copy of each.
SEL sel_registerName(const char *name)
{
	static struct known {
		struct known *next;
		char name[];
	} *all;
	struct known *k;

	pthread_mutex_lock(&lock);
	for (k = all; k != NULL && strcmp(k->name, name) != 0; k = k->next)
		;
	if (k == NULL) {
		k = malloc(sizeof *k + strlen(name) + 1);
		strcpy(k->name, name);
		k->next = all;
		all = k;
	}
	pthread_mutex_unlock(&lock);
	return (SEL)(void *)k->name;
}

const char *sel_getName(SEL s) { return (const char *)s; }

Class objc_lookUpClass(const char *name)
{
	Class c;
	for (c = classes; c != NULL && strcmp(c->name, name) != 0; c = c->next)
		;
	return c;
}

// A Mac has no class of a framework that nobody loaded, and says nothing of it.
id objc_getClass(const char *name)
{
	Class c = objc_lookUpClass(name);
	if (c != NULL && c->framework != NULL)
		sim_links(c->framework, name);
	return (id)(void *)c;
}

// Of the system's <dlfcn.h>, which the one of native/darwin/simfw hides here.
extern void *dlsym(void *handle, const char *symbol);

void sim_links(const char *framework, const char *what)
{
	char symbol[96];
	snprintf(symbol, sizeof symbol, "sim_linked_%s", framework);
	if (dlsym(NULL, symbol) == NULL)
		sim_fail("%s is of the framework %s, which is not linked: add it to the #cgo LDFLAGS beside its use", what, framework);
}

Class objc_allocateClassPair(Class super, const char *name, size_t extra)
{
	Class c = calloc(1, sizeof *c), meta = calloc(1, sizeof *meta);
	(void)extra;
	if (super == NULL && strcmp(name, "NSObject") != 0)
		sim_fail("the class above %s is missing", name);
	if (objc_lookUpClass(name) != NULL)
		sim_fail("there are two classes %s", name);
	*meta = (struct objc_class){.super = super == NULL ? c : super->isa, .name = strdup(name), .is_meta = true};
	*c = (struct objc_class){.isa = meta, .super = super, .name = meta->name};
	meta->isa = meta;
	return c;
}

void objc_registerClassPair(Class c)
{
	pthread_mutex_lock(&lock);
	c->next = classes;
	classes = c;
	pthread_mutex_unlock(&lock);
}

Class object_getClass(id o) { return o == NULL ? NULL : o->isa; }
const char *class_getName(Class c) { return c->name; }
Class class_getSuperclass(Class c) { return c->super; }

static Method find(Class c, SEL s)
{
	for (; c != NULL; c = c->super)
		for (Method m = c->methods; m != NULL; m = m->next)
			if (m->name == s)
				return m;
	return NULL;
}

Method class_getInstanceMethod(Class c, SEL s) { return find(c, s); }
bool class_respondsToSelector(Class c, SEL s) { return find(c, s) != NULL; }
SEL method_getName(Method m) { return m->name; }
const char *method_getTypeEncoding(Method m) { return m->types; }

// class_getMethodImplementation fails where the real one gives what raises an
// exception as soon as it is called, which darwinkit does next.
IMP class_getMethodImplementation(Class c, SEL s)
{
	Method m = find(c, s);
	if (c == &ended)
		sim_fail("%s was sent to an object that has ended", sel_getName(s));
	if (m == NULL)
		sim_fail("%c[%s %s]: unrecognized selector", c->is_meta ? '+' : '-', c->name, sel_getName(s));
	return m->imp;
}

IMP class_getMethodImplementation_stret(Class c, SEL s) { return class_getMethodImplementation(c, s); }

bool sim_is_kind(id o, Class c)
{
	for (Class k = o->isa; k != NULL; k = k->super)
		if (k == c)
			return true;
	return false;
}

IMP sim_find(id o, const char *selector)
{
	Method m = find(o->isa, sel_registerName(selector));
	return m == NULL ? NULL : m->imp;
}

// sim_has asks an object whether it takes a message, as frameworks ask delegates.
bool sim_has(id o, const char *selector)
{
	SEL asked = sel_registerName(selector);
	IMP own = sim_find(o, "respondsToSelector:");
	if (own != NULL)
		return ((bool (*)(id, SEL, SEL))own)(o, sel_registerName("respondsToSelector:"), asked);
	return find(o->isa, asked) != NULL;
}

id class_createInstance(Class c, size_t extra)
{
	id o = calloc(1, sizeof *o);
	(void)extra;
	o->isa = c;
	o->count = 1;
	return o;
}

id sim_new(const char *class)
{
	Class c = objc_lookUpClass(class);
	if (c == NULL)
		sim_fail("there is no class %s", class);
	return class_createInstance(c, 0);
}

// Blocks count their owners in their flags, by twos, and end by a helper of who
// made them (Block Implementation Specification).
struct block {
	Class isa;
	int flags, reserved;
	void (*invoke)(void);
	struct {
		unsigned long reserved, size;
		void (*copy)(void *, void *);
		void (*dispose)(void *);
		const char *signature;
	} *descriptor;
};
enum { BLOCK_COUNT = 0xfffe, BLOCK_IS_GLOBAL = 1 << 28 };

bool sim_is_block(id o)
{
	return o->isa != NULL && (o->isa == objc_lookUpClass("__NSMallocBlock__") || o->isa == objc_lookUpClass("__NSGlobalBlock__"));
}

void *Block_copy(const void *block)
{
	struct block *b = (struct block *)block;
	sim_alive((id)b, "Block_copy");
	if (!(b->flags & BLOCK_IS_GLOBAL))
		__atomic_add_fetch(&b->flags, 2, __ATOMIC_SEQ_CST);
	return b;
}

void Block_release(const void *block)
{
	struct block *b = (struct block *)block;
	sim_alive((id)b, "Block_release");
	if (b->flags & BLOCK_IS_GLOBAL || (__atomic_sub_fetch(&b->flags, 2, __ATOMIC_SEQ_CST) & BLOCK_COUNT) != 0)
		return;
	b->isa = &ended;
	b->descriptor->dispose(b);
}

void sim_alive(id o, const char *what)
{
	if (o->isa == &ended)
		sim_fail("%s: the object, of class %s, has ended: it was released too often, or kept without being retained", what,
			o->was == NULL ? "block" : o->was->name);
}

id objc_retain(id o)
{
	if (o == NULL || o->isa->is_meta)
		return o;
	if (sim_is_block(o))
		return Block_copy(o);
	sim_alive(o, "retain");
	o->count++;
	return o;
}

void objc_release(id o)
{
	IMP dealloc;
	if (o == NULL || o->isa->is_meta)
		return;
	if (sim_is_block(o)) {
		Block_release(o);
		return;
	}
	sim_alive(o, "release");
	if (--o->count > 0)
		return;
	if ((dealloc = sim_find(o, "dealloc")) != NULL)
		((void (*)(id, SEL))dealloc)(o, sel_registerName("dealloc"));
	o->was = o->isa;
	o->isa = &ended;
	for (struct slot *s = o->slots; s != NULL; s = s->next)
		objc_release(s->object);
	for (size_t i = 0; i < o->length; i++)
		objc_release(o->items[i]);
}

struct pool {
	struct pool *before;
	size_t length, room;
	id *objects;
};
static __thread struct pool *pools;

void *sim_pool_push(void)
{
	struct pool *p = calloc(1, sizeof *p);
	p->before = pools;
	return pools = p;
}

void sim_pool_pop(void *pool)
{
	struct pool *p = pool;
	if (p != pools)
		sim_fail("the pools of a thread were drained in the wrong order");
	for (size_t i = 0; i < p->length; i++) // what ends may add to it
		objc_release(p->objects[i]);
	pools = p->before;
	free(p->objects);
	free(p);
}

// objc_autorelease keeps what no pool is there for, as the real one does.
id objc_autorelease(id o)
{
	struct pool *p = pools;
	if (o == NULL || o->isa->is_meta || p == NULL)
		return o;
	sim_alive(o, "autorelease");
	if (p->length == p->room) {
		p->room = 2 * p->room + 16;
		p->objects = realloc(p->objects, p->room * sizeof *p->objects);
	}
	return p->objects[p->length++] = o;
}

struct slot *sim_slot(id o, const void *key)
{
	struct slot *s;
	for (s = o->slots; s != NULL && s->key != key; s = s->next)
		;
	if (s == NULL) {
		s = calloc(1, sizeof *s);
		s->key = key;
		s->next = o->slots;
		o->slots = s;
	}
	return s;
}

void sim_set(id o, const char *key, id value)
{
	struct slot *s = sim_slot(o, sel_registerName(key));
	id old = s->object;
	s->object = objc_retain(value);
	objc_release(old);
}

id sim_get(id o, const char *key) { return sim_slot(o, sel_registerName(key))->object; }

// Associated objects, of which darwinkit retains all.
void objc_setAssociatedObject(id o, const void *key, id value, uintptr_t policy)
{
	struct slot *s;
	if (policy != 01401)
		sim_fail("the policy %lu of associated objects is not imitated", (unsigned long)policy);
	sim_alive(o, "objc_setAssociatedObject");
	s = sim_slot(o, key);
	id old = s->object;
	s->object = objc_retain(value);
	objc_release(old);
}

id objc_getAssociatedObject(id o, const void *key) { return sim_slot(o, key)->object; }

static Protocol *protocols;

Protocol *objc_getProtocol(const char *name)
{
	Protocol *p;
	for (p = protocols; p != NULL && strcmp(p->name, name) != 0; p = p->next)
		;
	return p;
}

const char *protocol_getName(Protocol *p) { return p->name; }

bool class_addProtocol(Class c, Protocol *p)
{
	if (p == NULL)
		sim_fail("a protocol of %s is missing in the table", c->name);
	return true;
}

struct objc_method_description *protocol_copyMethodDescriptionList(Protocol *p, bool required, bool instance, unsigned int *count)
{
	struct objc_method_description *all = calloc(64, sizeof *all);
	*count = 0;
	for (Method m = p->methods; m != NULL && instance && !required; m = m->next) // all in the table are optional
		all[(*count)++] = (struct objc_method_description){m->name, (char *)m->types};
	return all;
}

Protocol **protocol_copyProtocolList(Protocol *p, unsigned int *count)
{
	(void)p;
	*count = 0;
	return calloc(1, sizeof(Protocol *));
}

extern void sim_method(Class c, const struct sim_row *row);

// The table becomes classes and protocols when the program starts.
__attribute__((constructor)) static void begin(void)
{
	Class c = NULL;
	Protocol *p = NULL;
	const char *framework = NULL;
	for (const struct sim_row *row = sim_table; row->name != NULL; row++) {
		char name[64], above[64];
		if (row->name[0] == '=') {
			framework = row->name + 1;
		} else if (row->name[0] == '-' && c == NULL) {
			Method m = calloc(1, sizeof *m);
			*m = (struct objc_method){.name = sel_registerName(row->name + 1), .types = row->types, .next = p->methods};
			p->methods = m;
		} else if (row->name[0] == '-' || row->name[0] == '+') {
			sim_method(row->name[0] == '+' ? c->isa : c, row);
		} else if (row->name[0] == '@') {
			p = calloc(1, sizeof *p);
			*p = (Protocol){.name = row->name + 1, .next = protocols};
			protocols = p;
			c = NULL;
		} else {
			bool is_root = sscanf(row->name, "%63s : %63s", name, above) == 1;
			c = objc_allocateClassPair(is_root ? NULL : objc_lookUpClass(above), name, 0);
			objc_registerClassPair(c);
			c->framework = framework;
		}
	}
}
