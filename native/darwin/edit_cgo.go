//go:build cgo && (darwin || (linux && darwinsim))

package darwin

/*
#include "bridge.h"
#include "edit.h"
*/
import "C"

import (
	"net"
	"net/netip"
)

// systemEdit is a session with the stored configuration.
type systemEdit struct {
	frameworks systemFrameworks
	c          *C.fulmen_edit
}

// edit changes the stored configuration while it is locked; what change returns
// an error for is not stored.
func (f systemFrameworks) edit(change func(edit) (commit bool, err error)) error {
	e := systemEdit{frameworks: f}
	if err := e.call("SCPreferencesLock", func() C.int { return C.fulmen_edit_begin(&e.c) }); err != nil {
		return err
	}
	defer func() {
		defer f.entered()()
		C.fulmen_edit_end(e.c)
	}()
	commit, err := change(e)
	if err != nil || !commit {
		return err
	}
	return e.call("SCPreferencesCommitChanges", func() C.int { return C.fulmen_edit_commit(e.c) })
}

func (e systemEdit) call(name string, call func() C.int) error {
	defer e.frameworks.entered()()
	return failed(name, call())
}

func (e systemEdit) stored() (map[string]any, error) {
	return readAs[map[string]any](e.frameworks, "SCPreferencesGetValue", func(b *C.fulmen_buffer) C.int { return C.fulmen_edit_read(e.c, b) })
}

func (e systemEdit) addService(iface, name string, address netip.Prefix) (id string, err error) {
	texts, free := cTexts(iface, name, address.Addr().String(), net.IP(net.CIDRMask(address.Bits(), 32)).String())
	defer free()
	return readAs[string](e.frameworks, "SCNetworkServiceCreate", func(b *C.fulmen_buffer) C.int {
		return C.fulmen_edit_add_service(e.c, texts[0], texts[1], texts[2], texts[3], b)
	})
}

func (e systemEdit) removeService(id string) error {
	c, free := cText(id)
	defer free()
	return e.call("SCNetworkServiceRemove", func() C.int { return C.fulmen_edit_remove_service(e.c, c) })
}

func (e systemEdit) setMember(bridge, iface string, member bool) error {
	c, free := cTexts(bridge, iface)
	defer free()
	return e.call("SCBridgeInterfaceSetMemberInterfaces", func() C.int {
		return C.fulmen_edit_bridge_member(e.c, c[0], c[1], number01(member))
	})
}

func number01(yes bool) C.int {
	if yes {
		return 1
	}
	return 0
}

// setKernelMember changes a bridge in the kernel alone.
func (f systemFrameworks) setKernelMember(bridge, iface string, member bool) error {
	c, free := cTexts(bridge, iface)
	defer free()
	defer f.entered()()
	return failed(bridge, C.fulmen_bridge_change(c[0], c[1], number01(member)))
}

// bridgesKnown is nil where bridges can be changed.
func (f systemFrameworks) bridgesKnown() error {
	defer f.entered()()
	return failed("SCBridgeInterfaceSetMemberInterfaces", C.fulmen_edit_bridges_known())
}

var _ editor = systemFrameworks{}
