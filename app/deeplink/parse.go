package deeplink

import (
	"net/url"
	"strings"

	"fulmen/app"
	"fulmen/daemon/api"
)

// MaxLength is the longest address that is read, in bytes.
const MaxLength = 2048

// MaxNames is how many cables or Macs an address may name.
const MaxNames = 16

// Parse reads an address, fulmen:METHOD?name=value&name=value, with the methods'
// and parameters' names of package api. Errors are of the code invalid and do
// not repeat what the address says.
func Parse(address string) (app.Call, error) {
	if len(address) > MaxLength {
		return app.Call{}, refuse("It is too long.")
	}
	u, err := url.Parse(address)
	switch {
	case err != nil, !strings.EqualFold(u.Scheme, api.LinkScheme):
		return app.Call{}, refuse("It is not a link of Fulmen.")
	case u.Opaque == "" || strings.Contains(address, "#"):
		return app.Call{}, refuse("It does not say what to do.")
	}
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return app.Call{}, refuse("Its values cannot be read.")
	}
	f := &form{values: values, read: map[string]bool{}}
	call := app.Call{Method: u.Opaque, Admin: true}
	switch u.Opaque {
	case "rdma.enable", "rdma.disable", "rdma.undo":
		call.Params = f.change()
	case "cluster.answer":
		call.Params = f.answer()
	case "cluster.remove":
		call.Params = f.removal()
	case "cluster.set_sharing":
		call.Params = f.sharing()
	case "cluster.pair":
		call.Params = api.ClusterPairParams{}
	case "daemon.start":
		call.Params = api.Empty{}
	case "daemon.stop":
		call.Params = api.DaemonStopParams{}
	default:
		return app.Call{}, refuse("A link cannot ask for that.")
	}
	if f.isUnknown() {
		return app.Call{}, refuse("It has a part that is not known.")
	}
	if f.err != nil {
		return app.Call{}, f.err
	}
	return call, nil
}

// refuse is the error of an address.
func refuse(why string) error {
	return api.Errorf(api.ReasonBadValue, "link", "The link cannot be used. %s", why)
}
