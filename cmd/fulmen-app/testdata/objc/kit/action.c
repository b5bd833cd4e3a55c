// In place of darwinkit's action_handler.m: the target of a button.
#include "_cgo_export.h"

#include "sim.h"

static void acts(id o, SEL s, id sender) { (void)s; callAction(o->go, sender); }
static void ends(id o, SEL s) { (void)s; deleteActionHandle(o->go); }

__attribute__((constructor)) static void begin(void)
{
	Class c = objc_allocateClassPair((Class)objc_getClass("NSObject"), "ActionHandler", 0);
	class_addMethod(c, sel_registerName("onAction:"), (IMP)acts, "v@:@");
	class_addMethod(c, sel_registerName("dealloc"), (IMP)ends, "v@:");
	objc_registerClassPair(c);
}

void *C_NewAction(uintptr_t go)
{
	id o = sim_new("ActionHandler");
	o->go = go;
	return o;
}
