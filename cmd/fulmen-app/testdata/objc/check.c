// Whether what is called, and what is registered to be called, has the types that
// Apple's headers give it; and methods of the table, with the real convention of
// calls from their encodings (Objective-C Runtime Programming Guide, Type Encodings).
#include <stdio.h>
#include <string.h>

#include <ffi.h>

#include "sim.h"

enum { MOST = 16 };

// parse takes the next type of an encoding; a structure's elements live on.
static ffi_type *parse(const char **at)
{
	const char *p = *at;
	ffi_type *t = NULL;
	while (*p != '\0' && strchr("rnNoORV0123456789", *p) != NULL)
		p++;
	switch (*p) {
	case 'v': t = &ffi_type_void; break;
	case 'B': t = &ffi_type_uint8; break;
	case 'q': t = &ffi_type_sint64; break;
	case 'Q': t = &ffi_type_uint64; break;
	case 'd': t = &ffi_type_double; break;
	case '@':
		if (p[1] == '?')
			p++;
		t = &ffi_type_pointer;
		break;
	case '#': case ':': case '*': t = &ffi_type_pointer; break;
	case '^':
		p++;
		(void)parse(&p);
		*at = p;
		return &ffi_type_pointer;
	case '{':
		t = calloc(1, sizeof *t);
		t->type = FFI_TYPE_STRUCT;
		t->elements = calloc(MOST, sizeof *t->elements);
		p = strchr(p, '=') + 1;
		for (int i = 0; *p != '}'; i++)
			t->elements[i] = parse(&p);
		break;
	default: sim_fail("the type %s is not imitated", p);
	}
	*at = p + 1;
	return t;
}

static unsigned int parse_all(const char *types, ffi_type **result, ffi_type **arguments)
{
	unsigned int n = 0;
	*result = parse(&types);
	while (*types != '\0')
		arguments[n++] = parse(&types);
	return n;
}

static const char *word(const ffi_type *t)
{
	static const char *const words[] = {"nothing", "int", "float", "double", "long double", "one byte", "signed byte", "two bytes",
		"short", "unsigned int", "int", "unsigned integer", "integer", "structure", "pointer", "complex"};
	return words[t->type];
}

static bool same(const ffi_type *a, const ffi_type *b)
{
	if (a->type != b->type || a->type != FFI_TYPE_STRUCT)
		return a->type == b->type;
	for (int i = 0;; i++) {
		if (a->elements[i] == NULL || b->elements[i] == NULL)
			return a->elements[i] == b->elements[i];
		if (!same(a->elements[i], b->elements[i]))
			return false;
	}
}

// check compares what libffi is told with an encoding.
static void check(const char *what, const char *types, const ffi_cif *cif, bool calls)
{
	ffi_type *result, *arguments[MOST];
	unsigned int n = parse_all(types, &result, arguments);
	if (n != cif->nargs)
		sim_fail("%s has %u arguments (%s), and was used with %u", what, n, types, cif->nargs);
	for (unsigned int i = 0; i < n; i++)
		if (!same(arguments[i], cif->arg_types[i]))
			sim_fail("%s: argument %u is of type %s (%s), and was used as %s", what, i, word(arguments[i]), types, word(cif->arg_types[i]));
	if (calls && cif->rtype->type == FFI_TYPE_VOID)
		return;
	if (calls && result->type == FFI_TYPE_UINT8 && cif->rtype->type == FFI_TYPE_UINT8)
		sim_fail("%s answers yes or no, which libffi writes as eight bytes into one; ask for a uint", what);
	if (calls && result->type == FFI_TYPE_UINT8 && cif->rtype->type == FFI_TYPE_UINT64)
		return;
	if (!same(result, cif->rtype))
		sim_fail("%s answers %s (%s), and was used as if it answered %s", what, word(result), types, word(cif->rtype));
}

// struct made is a closure that Go made, with what its list of types was then.
static struct made {
	void *code;
	ffi_cif *cif;
	ffi_type *types[MOST];
	struct made *next;
} *all_made;

ffi_status sim_ffi_prep_closure_loc(ffi_closure *closure, ffi_cif *cif, void (*fn)(ffi_cif *, void *, void **, void *), void *data, void *code)
{
	struct made *m = calloc(1, sizeof *m);
	*m = (struct made){.code = code, .cif = cif, .next = all_made};
	memcpy(m->types, cif->arg_types, cif->nargs * sizeof m->types[0]);
	all_made = m;
	return ffi_prep_closure_loc(closure, cif, fn, data, code);
}

// intact fails where the list of types of a closure was overwritten, which libffi
// reads at each call.
static const ffi_cif *intact(const char *what, IMP imp)
{
	struct made *m;
	for (m = all_made; m != NULL && m->code != (void *)imp; m = m->next)
		;
	if (m == NULL)
		return NULL; // a function in C
	if (memcmp(m->types, m->cif->arg_types, m->cif->nargs * sizeof m->types[0]) != 0)
		sim_fail("%s: what libffi was given to keep was overwritten, since darwinkit leaves it on the stack; app/mac/goflags has the remedy", what);
	return m->cif;
}

struct known {
	IMP imp;
	const char *name, *types;
	struct known *next;
};
static struct known *all_known;

static struct known *know(Class c, SEL s, IMP imp, const char *types)
{
	struct known *k = calloc(1, sizeof *k);
	char name[256];
	snprintf(name, sizeof name, "%c[%s %s]", c->is_meta ? '+' : '-', c->name, sel_getName(s));
	*k = (struct known){imp, strdup(name), strdup(types), all_known};
	return all_known = k;
}

// sim_matching compares two encodings, but for the names of structures.
bool sim_matching(const char *a, const char *b)
{
	ffi_type *results[2], *arguments[2][MOST];
	unsigned int n = parse_all(a, &results[0], arguments[0]);
	if (n != parse_all(b, &results[1], arguments[1]) || !same(results[0], results[1]))
		return false;
	for (unsigned int i = 0; i < n; i++)
		if (!same(arguments[0][i], arguments[1][i]))
			return false;
	return true;
}

// class_addMethod takes a method of Go's, or of C that stands in for Objective-C.
// One that a protocol of the table has is to be as it is there.
bool class_addMethod(Class c, SEL s, IMP imp, const char *types)
{
	struct known *k = know(c, s, imp, types);
	const ffi_cif *cif = intact(k->name, imp);
	Method m = calloc(1, sizeof *m);
	for (const struct sim_row *row = sim_table, *p = NULL; row->name != NULL; row++) {
		if (row->name[0] != '-')
			p = row->name[0] == '@' ? row : NULL;
		else if (p != NULL && strcmp(row->name + 1, sel_getName(s)) == 0 && !sim_matching(row->types, types))
			sim_fail("%s has the types %s, and %s says %s", k->name, types, p->name + 1, row->types);
	}
	if (cif != NULL)
		check(k->name, types, cif, false);
	*m = (struct objc_method){.name = s, .types = k->types, .imp = imp, .next = c->methods};
	c->methods = m;
	return true;
}

// sim_ffi_call is each message and each block that Go calls.
void sim_ffi_call(ffi_cif *cif, void (*fn)(void), void *result, void **arguments)
{
	id first = *(id *)arguments[0];
	struct known *k;
	for (k = all_known; k != NULL && k->imp != fn; k = k->next)
		;
	sim_main(k == NULL ? "a block" : k->name);
	sim_alive(first, k == NULL ? "a block that was called" : k->name);
	if (k != NULL)
		check(k->name, k->types, cif, true);
	else if (sim_is_block(first))
		check("a block", ((const char **)(((void **)first)[3]))[4], cif, true);
	else
		sim_fail("a function was called that is no method");
	(void)intact(k == NULL ? "a block" : k->name, fn);
	for (unsigned int i = 1; i < cif->nargs && k != NULL; i++) {
		const char *p = k->types;
		for (unsigned int skip = 0; skip <= i; skip++)
			(void)parse(&p);
		if (*p == '@' && *(id *)arguments[i] != NULL)
			sim_alive(*(id *)arguments[i], k->name);
	}
	ffi_call(cif, fn, result, arguments);
	if (k != NULL && k->types[0] == 'B' && cif->rtype->type == FFI_TYPE_UINT64)
		memset((uint8_t *)result + 1, 0xa5, 7); // whoever answers yes or no leaves the rest of the register as it was
}

extern void sim_act(Method m, struct sim_call *call);

// enter is every method of the table.
static void enter(ffi_cif *cif, void *result, void **arguments, void *data)
{
	Method m = data;
	struct sim_call call = {*(id *)arguments[0], sel_getName(m->name), m->types, arguments + 2, result};
	if (cif->rtype->type != FFI_TYPE_STRUCT)
		memset(result, 0, 8);
	sim_main(call.selector);
	sim_alive(call.self, call.selector);
	sim_act(m, &call);
}

// sim_method adds a row of the table to a class.
void sim_method(Class c, const struct sim_row *row)
{
	Method m = calloc(1, sizeof *m);
	ffi_cif *cif = calloc(1, sizeof *cif);
	ffi_type *result, **arguments = calloc(MOST, sizeof *arguments);
	unsigned int n = parse_all(row->types, &result, arguments);
	void *code;
	ffi_closure *closure = ffi_closure_alloc(sizeof *closure, &code);
	if (ffi_prep_cif(cif, FFI_DEFAULT_ABI, n, result, arguments) != FFI_OK || ffi_prep_closure_loc(closure, cif, enter, m, code) != FFI_OK)
		sim_fail("libffi does not take %s", row->types);
	*m = (struct objc_method){sel_registerName(row->name + 1), row->types, (IMP)code, row->act, c->methods};
	c->methods = m;
	know(c, m->name, m->imp, m->types);
}
