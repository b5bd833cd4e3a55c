// The part of IOKit's user library that native/darwin calls, declared by this
// project from Apple's documentation (developer.apple.com, IOKit) and from what
// the open-source headers IOKitUser/IOKitLib.h and xnu/iokit state as facts:
// names, argument orders, plane and notification names.
#ifndef FULMEN_APPLE_IOKITLIB_H
#define FULMEN_APPLE_IOKITLIB_H

#include <sys/types.h>
#include <mach/mach_types.h>
#include <mach/mach_init.h>

#include <CoreFoundation/CFBase.h>
#include <CoreFoundation/CFDictionary.h>
#include <CoreFoundation/CFRunLoop.h>

typedef mach_port_t io_object_t;
typedef io_object_t io_connect_t;
typedef io_object_t io_iterator_t;
typedef io_object_t io_registry_entry_t;
typedef io_object_t io_service_t;
typedef kern_return_t IOReturn;
typedef UInt32 IOOptionBits;
typedef char io_name_t[128];
typedef char io_string_t[512];
typedef struct IONotificationPort *IONotificationPortRef;
typedef void (*IOServiceMatchingCallback)(void *refcon, io_iterator_t iterator);
typedef void (*IOServiceInterestCallback)(void *refcon, io_service_t service, uint32_t type, void *argument);

#define IO_OBJECT_NULL ((io_object_t)0)
#define kIOReturnSuccess KERN_SUCCESS
#define kIOMainPortDefault ((mach_port_t)0)

// Planes, and how far an iterator or a search goes (IOKitKeys.h, IOTypes.h).
#define kIOServicePlane "IOService"
#define kIODeviceTreePlane "IODeviceTree"
enum { kIORegistryIterateRecursively = 1, kIORegistryIterateParents = 2 };

// Notification types (IOKitKeys.h).
#define kIOFirstMatchNotification "IOServiceFirstMatch"
#define kIOTerminatedNotification "IOServiceTerminate"
#define kIOGeneralInterest "IOGeneralInterest"

kern_return_t IOObjectRetain(io_object_t object);
kern_return_t IOObjectRelease(io_object_t object);
kern_return_t IOObjectGetClass(io_object_t object, io_name_t name);
boolean_t IOObjectConformsTo(io_object_t object, const io_name_t name);

io_object_t IOIteratorNext(io_iterator_t iterator);
void IOIteratorReset(io_iterator_t iterator);
boolean_t IOIteratorIsValid(io_iterator_t iterator);

// The dictionary is consumed by every function that takes one.
CFMutableDictionaryRef IOServiceMatching(const char *name);
io_service_t IOServiceGetMatchingService(mach_port_t port, CFDictionaryRef matching);
kern_return_t IOServiceGetMatchingServices(mach_port_t port, CFDictionaryRef matching, io_iterator_t *existing);

IONotificationPortRef IONotificationPortCreate(mach_port_t port);
void IONotificationPortDestroy(IONotificationPortRef port);
CFRunLoopSourceRef IONotificationPortGetRunLoopSource(IONotificationPortRef port);
kern_return_t IOServiceAddMatchingNotification(IONotificationPortRef port, const io_name_t type, CFDictionaryRef matching,
	IOServiceMatchingCallback callback, void *refcon, io_iterator_t *notification);
kern_return_t IOServiceAddInterestNotification(IONotificationPortRef port, io_service_t service, const io_name_t type,
	IOServiceInterestCallback callback, void *refcon, io_object_t *notification);

kern_return_t IORegistryEntryGetRegistryEntryID(io_registry_entry_t entry, uint64_t *id);
kern_return_t IORegistryEntryGetName(io_registry_entry_t entry, io_name_t name);
kern_return_t IORegistryEntryGetNameInPlane(io_registry_entry_t entry, const io_name_t plane, io_name_t name);
kern_return_t IORegistryEntryGetLocationInPlane(io_registry_entry_t entry, const io_name_t plane, io_name_t location);
kern_return_t IORegistryEntryGetChildIterator(io_registry_entry_t entry, const io_name_t plane, io_iterator_t *iterator);
CFTypeRef IORegistryEntryCreateCFProperty(io_registry_entry_t entry, CFStringRef key, CFAllocatorRef allocator, IOOptionBits options);
CFTypeRef IORegistryEntrySearchCFProperty(io_registry_entry_t entry, const io_name_t plane, CFStringRef key,
	CFAllocatorRef allocator, IOOptionBits options);
io_registry_entry_t IORegistryEntryFromPath(mach_port_t port, const io_string_t path);
kern_return_t IORegistryCreateIterator(mach_port_t port, const io_name_t plane, IOOptionBits options, io_iterator_t *iterator);

kern_return_t IOServiceOpen(io_service_t service, mach_port_t task, uint32_t type, io_connect_t *connection);
kern_return_t IOServiceClose(io_connect_t connection);
kern_return_t IOConnectCallStructMethod(io_connect_t connection, uint32_t selector, const void *in, size_t in_size,
	void *out, size_t *out_size);

#endif
