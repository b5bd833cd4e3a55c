// What of Objective-C's runtime darwinkit calls, with the types that Apple's
// <objc/runtime.h> gives it (documentation: Objective-C Runtime).
#ifndef SIM_OBJC_RUNTIME_H
#define SIM_OBJC_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

typedef struct objc_class *Class;
typedef struct objc_object *id;
typedef const struct objc_selector *SEL;
typedef void (*IMP)(void);
typedef struct objc_method *Method;
typedef struct objc_property *objc_property_t;
typedef struct objc_protocol Protocol;
typedef struct {
	const char *name;
	const char *value;
} objc_property_attribute_t;
struct objc_method_description {
	SEL name;
	char *types;
};

id objc_getClass(const char *name);
Class objc_lookUpClass(const char *name);
Class objc_allocateClassPair(Class super, const char *name, size_t extra);
void objc_registerClassPair(Class c);
void objc_disposeClassPair(Class c);
Class object_getClass(id o);
id class_createInstance(Class c, size_t extra);
const char *class_getName(Class c);
void class_setVersion(Class c, int version);
int class_getVersion(Class c);
Class class_getSuperclass(Class c);
bool class_respondsToSelector(Class c, SEL s);
bool class_addMethod(Class c, SEL s, IMP imp, const char *types);
IMP class_replaceMethod(Class c, SEL s, IMP imp, const char *types);
IMP class_getMethodImplementation(Class c, SEL s);
IMP class_getMethodImplementation_stret(Class c, SEL s);
Method class_getInstanceMethod(Class c, SEL s);
Method class_getClassMethod(Class c, SEL s);
Method *class_copyMethodList(Class c, unsigned int *count);
objc_property_t class_getProperty(Class c, const char *name);
objc_property_t *class_copyPropertyList(Class c, unsigned int *count);
bool class_addProperty(Class c, const char *name, const objc_property_attribute_t *attributes, unsigned int count);
void class_replaceProperty(Class c, const char *name, const objc_property_attribute_t *attributes, unsigned int count);
bool class_addProtocol(Class c, Protocol *p);
SEL sel_registerName(const char *name);
const char *sel_getName(SEL s);
SEL method_getName(Method m);
const char *method_getTypeEncoding(Method m);
IMP method_getImplementation(Method m);
IMP method_setImplementation(Method m, IMP imp);
const char *property_getName(objc_property_t p);
const char *property_getAttributes(objc_property_t p);
char *property_copyAttributeValue(objc_property_t p, const char *name);
objc_property_attribute_t *property_copyAttributeList(objc_property_t p, unsigned int *count);
IMP imp_implementationWithBlock(id block);
id imp_getBlock(IMP imp);
bool imp_removeBlock(IMP imp);
void objc_setAssociatedObject(id o, const void *key, id value, uintptr_t policy);
id objc_getAssociatedObject(id o, const void *key);
void objc_removeAssociatedObjects(id o);
Protocol *objc_getProtocol(const char *name);
Protocol *objc_allocateProtocol(const char *name);
const char *protocol_getName(Protocol *p);
struct objc_method_description protocol_getMethodDescription(Protocol *p, SEL s, bool required, bool instance);
struct objc_method_description *protocol_copyMethodDescriptionList(Protocol *p, bool required, bool instance, unsigned int *count);
Protocol **protocol_copyProtocolList(Protocol *p, unsigned int *count);
objc_property_t protocol_getProperty(Protocol *p, const char *name, bool required, bool instance);
objc_property_t *protocol_copyPropertyList(Protocol *p, unsigned int *count);
id objc_retain(id o);
void objc_release(id o);
id objc_autorelease(id o);

#endif
