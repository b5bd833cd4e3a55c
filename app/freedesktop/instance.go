//go:build linux

package freedesktop

import (
	"fmt"

	"github.com/godbus/dbus/v5"
)

// Names by which a session has one app, of freedesktop.org's Desktop Entry
// Specification, "D-Bus activation".
const (
	name                 = "org.fulmen.app"
	place                = "/org/fulmen/app"
	applicationInterface = "org.freedesktop.Application"
)

// application is the app as a session calls it.
type application struct{ opened func(address string) }

// Activate is called when the app is opened again.
func (a application) Activate(map[string]dbus.Variant) *dbus.Error {
	a.opened("")
	return nil
}

// Open is called when a link is opened; of several the first counts.
func (a application) Open(addresses []string, _ map[string]dbus.Variant) *dbus.Error {
	if len(addresses) > 0 {
		a.opened(addresses[0])
	}
	return nil
}

// Claim makes this process the session's one app, whose opened is called when it
// is opened again, with a link or without. Where there is one already, that one
// is told instead.
func Claim(bus *dbus.Conn, address string, opened func(address string)) (isFirst bool, err error) {
	if err := bus.Export(application{opened}, place, applicationInterface); err != nil {
		return false, err
	}
	reply, err := bus.RequestName(name, dbus.NameFlagDoNotQueue)
	if err != nil || reply == dbus.RequestNameReplyPrimaryOwner {
		return err == nil, err
	}
	other, none := bus.Object(name, place), map[string]dbus.Variant{}
	if address == "" {
		err = other.Call(applicationInterface+".Activate", 0, none).Err
	} else {
		err = other.Call(applicationInterface+".Open", 0, []string{address}, none).Err
	}
	if err != nil {
		return false, fmt.Errorf("the app that runs already does not answer: %w", err)
	}
	return false, nil
}
