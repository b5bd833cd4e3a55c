//go:build cgo && (darwin || darwinsim)

#define FULMEN_EDIT_INTERNAL
#include "edit.h"

#include <dlfcn.h>

#include "value.h"

// Functions of SystemConfiguration that Apple does not publish, as configd's
// SCNetworkConfigurationPrivate.h declares them (1405.100.8). A bridge is an
// interface. They are used only where all of them are there.
typedef struct {
	void *handle;
	CFArrayRef (*copy_all)(SCPreferencesRef preferences);
	CFArrayRef (*get_members)(SCNetworkInterfaceRef bridge);
	Boolean (*set_members)(SCNetworkInterfaceRef bridge, CFArrayRef members);
} bridges;

static bool resolve(bridges *b) {
	b->handle = dlopen("/System/Library/Frameworks/SystemConfiguration.framework/SystemConfiguration", RTLD_NOW | RTLD_LOCAL);
	if (b->handle == NULL) {
		return false;
	}
	*(void **)&b->copy_all = dlsym(b->handle, "SCBridgeInterfaceCopyAll");
	*(void **)&b->get_members = dlsym(b->handle, "SCBridgeInterfaceGetMemberInterfaces");
	*(void **)&b->set_members = dlsym(b->handle, "SCBridgeInterfaceSetMemberInterfaces");
	if (b->copy_all != NULL && b->get_members != NULL && b->set_members != NULL) {
		return true;
	}
	dlclose(b->handle);
	b->handle = NULL;
	return false;
}

int fulmen_edit_bridges_known(void) {
	bridges b;
	if (!resolve(&b)) {
		return FULMEN_NO_SYMBOL;
	}
	dlclose(b.handle);
	return FULMEN_OK;
}

// others makes the list of a bridge's members without one of them.
static CFMutableArrayRef others(CFArrayRef members, const char *without) {
	CFMutableArrayRef list = CFArrayCreateMutable(kCFAllocatorDefault, 0, &kCFTypeArrayCallBacks);
	for (CFIndex i = 0; list != NULL && members != NULL && i < CFArrayGetCount(members); i++) {
		SCNetworkInterfaceRef member = CFArrayGetValueAtIndex(members, i);
		if (!fulmen_string_is(SCNetworkInterfaceGetBSDName(member), without)) {
			CFArrayAppendValue(list, member);
		}
	}
	return list;
}

static int set_member(const bridges *b, SCNetworkInterfaceRef bridge, const char *interface_name, bool member) {
	int result = FULMEN_OK;
	SCNetworkInterfaceRef interface = NULL;
	CFMutableArrayRef list = others(b->get_members(bridge), interface_name); // the bridge's
	if (list == NULL) {
		result = FULMEN_MEMORY;
		goto out;
	}
	if (member) {
		interface = fulmen_copy_interface(interface_name);
		if (interface == NULL) {
			result = FULMEN_GONE;
			goto out;
		}
		CFArrayAppendValue(list, interface);
	}
	if (!b->set_members(bridge, list)) {
		result = FULMEN_REFUSED;
	}
out:
	fulmen_release(interface);
	fulmen_release(list);
	return result;
}

int fulmen_edit_bridge_member(fulmen_edit *edit, const char *bridge_name, const char *interface_name, int member) {
	bridges b;
	if (!resolve(&b)) {
		return FULMEN_NO_SYMBOL;
	}
	int result = FULMEN_GONE;
	CFArrayRef all = b.copy_all(fulmen_edit_preferences(edit));
	for (CFIndex i = 0; all != NULL && i < CFArrayGetCount(all); i++) {
		SCNetworkInterfaceRef bridge = CFArrayGetValueAtIndex(all, i);
		if (fulmen_string_is(SCNetworkInterfaceGetBSDName(bridge), bridge_name)) {
			result = set_member(&b, bridge, interface_name, member != 0);
			break;
		}
	}
	fulmen_release(all);
	dlclose(b.handle);
	return result;
}
