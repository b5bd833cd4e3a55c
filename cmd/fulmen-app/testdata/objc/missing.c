// What darwinkit's Objective-C can call and the app does not.
extern void sim_fail(const char *format, ...);

#define MISSING(name) \
	void name(void) { sim_fail("%s is not imitated", #name); }

MISSING(objc_disposeClassPair)
MISSING(class_setVersion)
MISSING(class_getVersion)
MISSING(class_replaceMethod)
MISSING(class_getClassMethod)
MISSING(class_copyMethodList)
MISSING(class_getProperty)
MISSING(class_copyPropertyList)
MISSING(class_addProperty)
MISSING(class_replaceProperty)
MISSING(method_getImplementation)
MISSING(method_setImplementation)
MISSING(property_getName)
MISSING(property_getAttributes)
MISSING(property_copyAttributeValue)
MISSING(property_copyAttributeList)
MISSING(imp_implementationWithBlock)
MISSING(imp_getBlock)
MISSING(imp_removeBlock)
MISSING(objc_removeAssociatedObjects)
MISSING(objc_allocateProtocol)
MISSING(protocol_getMethodDescription)
MISSING(protocol_getProperty)
MISSING(protocol_copyPropertyList)
