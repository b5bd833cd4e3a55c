// In place of darwinkit's object.m, protocol.m, runtime_utils.m and
// type_convertion.m, message for message.
#include "_cgo_export.h"

#include <string.h>

#include "sim.h"
#include "type_convertion.h"

void *C_NSObject_NewObject(void) { return sim_new("NSObject"); }
bool Object_IsKindOfClass(void *o, void *class) { sim_main("isKindOfClass:"); sim_alive(o, "isKindOfClass:"); return sim_is_kind(o, class); }
bool Object_IsMemberOfClass(void *o, void *class) { sim_alive(o, "isMemberOfClass:"); return object_getClass(o) == class; }
bool Object_RespondsToSelector(void *o, void *s) { sim_alive(o, "respondsToSelector:"); return sim_has(o, sel_getName(s)); }
bool Object_ConformsToProtocol(void *o, void *p) { sim_fail("conformsToProtocol: %p %p is not imitated", o, p); }
void *Object_GetClass(void *o) { return object_getClass(o); }
bool Object_IsProxy(void *o) { sim_alive(o, "isProxy"); return false; }
int Object_RetainCount(void *o) { sim_alive(o, "retainCount"); return (int)((id)o)->count; }
void *Object_Retain(void *o) { sim_main("retain"); return objc_retain(o); }
void Object_Release(void *o) { sim_main("release"); objc_release(o); }
void *Object_Autorelease(void *o) { sim_main("autorelease"); return objc_autorelease(o); }
void *C_NSObject_Copy(void *o) { sim_fail("copy %p is not imitated", o); }
void *C_NSObject_MutableCopy(void *o) { sim_fail("mutableCopy %p is not imitated", o); }
void Object_Dealloc(void *o) { sim_fail("dealloc %p is not imitated", o); }
const char *Object_Description(void *o) { return class_getName(object_getClass(o)); }

void *Object_PerformSelector(void *o, void *s)
{
	sim_alive(o, sel_getName(s));
	return ((void *(*)(void *, SEL))class_getMethodImplementation(object_getClass(o), s))(o, s);
}

void *Object_PerformSelector_WithObject(void *o, void *s, void *a)
{
	sim_alive(o, sel_getName(s));
	return ((void *(*)(void *, SEL, void *))class_getMethodImplementation(object_getClass(o), s))(o, s, a);
}

void *Object_PerformSelector_WithObject_WithObject(void *o, void *s, void *a, void *b)
{
	sim_alive(o, sel_getName(s));
	return ((void *(*)(void *, SEL, void *, void *))class_getMethodImplementation(object_getClass(o), s))(o, s, a, b);
}

static uintptr_t goID(id o, SEL s) { (void)s; return o->go; }
static bool responds(id o, SEL s, SEL asked) { (void)s; return respondsTo(o->go, (void *)asked); }
static void ends(id o, SEL s) { (void)s; deleteHandle(o->go); }
static void ends_heard(id o, SEL s) { (void)s; runTaskAndDeleteHandle(o->go); }

__attribute__((constructor)) static void begin(void)
{
	Class c = objc_allocateClassPair((Class)objc_getClass("NSObject"), "ProtocolImplBase", 0);
	class_addMethod(c, sel_registerName("goID"), (IMP)goID, "Q@:");
	class_addMethod(c, sel_registerName("respondsToSelector:"), (IMP)responds, "B@::");
	class_addMethod(c, sel_registerName("dealloc"), (IMP)ends, "v@:");
	objc_registerClassPair(c);
	c = objc_allocateClassPair((Class)objc_getClass("NSObject"), "DeallocListener", 0);
	class_addMethod(c, sel_registerName("dealloc"), (IMP)ends_heard, "v@:");
	objc_registerClassPair(c);
}

static id held(id o, uintptr_t go) { o->go = go; return o; }
void *New_ProtocolImpl(void *class, uintptr_t go) { return objc_autorelease(held(class_createInstance(class, 0), go)); }
void *C_NewDeallocListener(uintptr_t go) { return held(sim_new("DeallocListener"), go); }

void Run_WithAutoreleasePool(uintptr_t task)
{
	void *pool = sim_pool_push();
	runTaskAndDeleteHandle(task);
	sim_pool_pop(pool);
}

void *Objc_GetProtocol(const char *name) { return objc_getProtocol(name); }
void *Objc_AllocateProtocol(const char *name) { return objc_allocateProtocol(name); }
const char *Protocol_GetName(void *p) { return protocol_getName(p); }

struct objc_method_description Protocol_GetMethodDescription(void *p, void *s, bool required, bool instance)
{
	return protocol_getMethodDescription(p, s, required, instance);
}

struct objc_method_description *Protocol_CopyMethodDescriptionList(void *p, bool required, bool instance, unsigned int *count)
{
	return protocol_copyMethodDescriptionList(p, required, instance, count);
}

void *Protocol_CopyProtocolList(void *p, unsigned int *count) { return protocol_copyProtocolList(p, count); }
void *Protocol_GetProperty(void *p, const char *name, bool required, bool instance) { return protocol_getProperty(p, name, required, instance); }
void *Protocol_CopyPropertyList(void *p, unsigned int *count) { return protocol_copyPropertyList(p, count); }

void *to_ns_string(const char *text) { return sim_string(text); }
const char *to_c_string(void *s) { sim_main("UTF8String"); return sim_text(s); }
void *to_ns_data(data d) { sim_fail("NSData of %lu bytes is not imitated", d.len); }
data to_c_bytes(void *d) { sim_fail("the bytes of NSData %p are not imitated", d); }
void *to_ns_array(array a) { return sim_array(a.len, (id *)a.data); }
void *to_ns_dict(dict d) { return sim_dictionary(d.len, (id *)d.key_data, (id *)d.value_data); }
dict to_c_items(void *d) { sim_fail("the items of NSDictionary %p are not imitated", d); }

array to_c_array(void *a)
{
	array all = {0};
	sim_alive(a, "count");
	all.len = ((id)a)->length;
	all.data = memcpy(malloc(all.len * sizeof(id) + 1), ((id)a)->items, all.len * sizeof(id));
	return all;
}
