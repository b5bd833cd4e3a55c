// The part of SystemConfiguration that native/darwin calls, declared by this
// project from Apple's documentation (SystemConfiguration reference) and from
// what the open-source headers of configd state as facts: names, argument orders,
// schema keys.
#ifndef FULMEN_APPLE_SYSTEMCONFIGURATION_H
#define FULMEN_APPLE_SYSTEMCONFIGURATION_H

#include <CoreFoundation/CoreFoundation.h>

// The dynamic store.
typedef const struct __SCDynamicStore *SCDynamicStoreRef;
typedef struct {
	CFIndex version;
	void *info;
	const void *(*retain)(const void *info);
	void (*release)(const void *info);
	CFStringRef (*copyDescription)(const void *info);
} SCDynamicStoreContext;
typedef void (*SCDynamicStoreCallBack)(SCDynamicStoreRef store, CFArrayRef keys, void *info);

SCDynamicStoreRef SCDynamicStoreCreate(CFAllocatorRef allocator, CFStringRef name, SCDynamicStoreCallBack callback, SCDynamicStoreContext *context);
Boolean SCDynamicStoreSetNotificationKeys(SCDynamicStoreRef store, CFArrayRef keys, CFArrayRef patterns);
CFRunLoopSourceRef SCDynamicStoreCreateRunLoopSource(CFAllocatorRef allocator, SCDynamicStoreRef store, CFIndex order);
CFDictionaryRef SCDynamicStoreCopyMultiple(SCDynamicStoreRef store, CFArrayRef keys, CFArrayRef patterns);

// Stored preferences.
typedef const struct __SCPreferences *SCPreferencesRef;
typedef uint32_t SCPreferencesNotification;
enum { kSCPreferencesNotificationCommit = 1, kSCPreferencesNotificationApply = 2 };
typedef struct {
	CFIndex version;
	void *info;
	const void *(*retain)(const void *info);
	void (*release)(const void *info);
	CFStringRef (*copyDescription)(const void *info);
} SCPreferencesContext;
typedef void (*SCPreferencesCallBack)(SCPreferencesRef preferences, SCPreferencesNotification kinds, void *info);

SCPreferencesRef SCPreferencesCreate(CFAllocatorRef allocator, CFStringRef name, CFStringRef file);
Boolean SCPreferencesLock(SCPreferencesRef preferences, Boolean wait);
Boolean SCPreferencesUnlock(SCPreferencesRef preferences);
Boolean SCPreferencesCommitChanges(SCPreferencesRef preferences);
Boolean SCPreferencesApplyChanges(SCPreferencesRef preferences);
CFPropertyListRef SCPreferencesGetValue(SCPreferencesRef preferences, CFStringRef key);
Boolean SCPreferencesSetCallback(SCPreferencesRef preferences, SCPreferencesCallBack callback, SCPreferencesContext *context);
Boolean SCPreferencesScheduleWithRunLoop(SCPreferencesRef preferences, CFRunLoopRef loop, CFStringRef mode);
Boolean SCPreferencesUnscheduleFromRunLoop(SCPreferencesRef preferences, CFRunLoopRef loop, CFStringRef mode);

// Interfaces, services, protocols, sets.
typedef const struct __SCNetworkInterface *SCNetworkInterfaceRef;
typedef const struct __SCNetworkProtocol *SCNetworkProtocolRef;
typedef const struct __SCNetworkService *SCNetworkServiceRef;
typedef const struct __SCNetworkSet *SCNetworkSetRef;

CFArrayRef SCNetworkInterfaceCopyAll(void);
CFStringRef SCNetworkInterfaceGetBSDName(SCNetworkInterfaceRef interface);
CFStringRef SCNetworkInterfaceGetInterfaceType(SCNetworkInterfaceRef interface);
CFStringRef SCNetworkInterfaceGetLocalizedDisplayName(SCNetworkInterfaceRef interface);

SCNetworkServiceRef SCNetworkServiceCreate(SCPreferencesRef preferences, SCNetworkInterfaceRef interface);
SCNetworkServiceRef SCNetworkServiceCopy(SCPreferencesRef preferences, CFStringRef service_id);
Boolean SCNetworkServiceEstablishDefaultConfiguration(SCNetworkServiceRef service);
Boolean SCNetworkServiceSetName(SCNetworkServiceRef service, CFStringRef name);
Boolean SCNetworkServiceSetEnabled(SCNetworkServiceRef service, Boolean enabled);
Boolean SCNetworkServiceRemove(SCNetworkServiceRef service);
CFStringRef SCNetworkServiceGetServiceID(SCNetworkServiceRef service);
SCNetworkProtocolRef SCNetworkServiceCopyProtocol(SCNetworkServiceRef service, CFStringRef type);
Boolean SCNetworkProtocolSetConfiguration(SCNetworkProtocolRef protocol, CFDictionaryRef configuration);
SCNetworkSetRef SCNetworkSetCopyCurrent(SCPreferencesRef preferences);
Boolean SCNetworkSetAddService(SCNetworkSetRef set, SCNetworkServiceRef service);

// The schema's keys and values (SCSchemaDefinitions.h) are strings of their own
// names; these are their contents.
extern const CFStringRef kSCPropNetIPv4ConfigMethod;        // "ConfigMethod"
extern const CFStringRef kSCPropNetIPv4Addresses;           // "Addresses"
extern const CFStringRef kSCPropNetIPv4SubnetMasks;         // "SubnetMasks"
extern const CFStringRef kSCValNetIPv4ConfigMethodManual;   // "Manual"
extern const CFStringRef kSCPropNetIPv6ConfigMethod;        // "ConfigMethod"
extern const CFStringRef kSCValNetIPv6ConfigMethodLinkLocal; // "LinkLocal"
extern const CFStringRef kSCNetworkProtocolTypeIPv4;        // "IPv4"
extern const CFStringRef kSCNetworkProtocolTypeIPv6;        // "IPv6"

int SCError(void);
const char *SCErrorString(int status);
enum { kSCStatusFailed = 1001, kSCStatusAccessError = 1003, kSCStatusStale = 3005 };

#endif
