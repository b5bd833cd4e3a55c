package native

import (
	"context"
	"net/netip"
)

// Discovery announces this machine to, and finds others on, the networks it is
// attached to (DNS-SD). It proves nothing about who answers.
type Discovery interface {
	// Announce publishes the service on exactly the named interfaces until
	// withdraw is called or the platform is closed. It follows those
	// interfaces when they go and come back. To change the set, withdraw and
	// announce again.
	Announce(ctx context.Context, a Announcement) (withdraw func() error, err error)

	// Browse reports instances of a service type, on the named interfaces or,
	// when none is named, on all that there are and will be. The callback comes
	// one at a time and must return at once; after stop has returned it is not
	// called again.
	Browse(ctx context.Context, serviceType string, interfaces []string, found func(Sighting)) (stop func() error, err error)
}

// Announcement is one service instance to publish.
type Announcement struct {
	Type       string            `json:"type"`     // "_fulmen._tcp"
	Instance   string            `json:"instance"` // unique on a network; says nothing about its owner
	Port       int               `json:"port"`     // TCP, 1 to 65535
	TXT        map[string]string `json:"txt,omitzero"`
	Interfaces []string          `json:"interfaces"` // not empty
}

// Sighting is an instance seen on one interface, or gone from it.
type Sighting struct {
	Instance  string `json:"instance"`
	Interface string `json:"interface"`
	// Gone is true when the instance is no longer announced there; the rest is
	// then absent.
	Gone bool              `json:"gone,omitzero"`
	Host string            `json:"host,omitzero"`
	Port int               `json:"port,omitzero"`
	TXT  map[string]string `json:"txt,omitzero"`
	// Addresses can be dialled from here; link-local ones carry their zone.
	Addresses []netip.Addr `json:"addresses,omitzero"`
	At        Timestamp    `json:"at"`
	// Refused says that the system ended the search, and why; the rest is then absent.
	// [ReasonPermission] is a person's to change. Whoever searches begins anew later.
	Refused Reason `json:"refused,omitzero"`
}

// NoDiscovery refuses everything with its reason.
type NoDiscovery struct{ Reason Reason }

// Announce is refused.
func (n NoDiscovery) Announce(context.Context, Announcement) (func() error, error) {
	return nil, Unsupported(FeatureDiscovery, n.Reason)
}

// Browse is refused.
func (n NoDiscovery) Browse(context.Context, string, []string, func(Sighting)) (func() error, error) {
	return nil, Unsupported(FeatureDiscovery, n.Reason)
}
