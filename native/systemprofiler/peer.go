package systemprofiler

import (
	"fmt"

	"fulmen/native"
)

func (w *walk) peer(o object, parent string, above downstream) {
	peer := native.Peer{Hub: parent}
	domain, why := o.uuid("domain_uuid_key")
	native.Put(&peer.DomainUUID, &peer.Unknown, "domain_uuid", domain, why)
	name, why := o.text("device_name_key")
	native.Put(&peer.Name, &peer.Unknown, "name", name, why)
	vendor, why := o.text("vendor_name_key")
	native.Put(&peer.Vendor, &peer.Unknown, "vendor", vendor, why)
	services, why := w.services(o)
	native.Put(&peer.Services, &peer.Unknown, "services", services, why)
	if above.reported { // else the port gives its own
		link, why := above.link("")
		native.Put(&peer.Negotiated, &peer.Unknown, "negotiated", link, why)
	}
	if o.has("_items") {
		o.notes.Add("%s: what is listed below a computer is ignored", o.at)
	}
	w.peers = append(w.peers, peer)
}

// services reads what the peer offers. One entry that cannot be read makes all
// unknown: a list without it would deny a service.
func (w *walk) services(o object) ([]native.PeerService, native.Reason) {
	if !o.has("services_title") {
		return nil, missing("services_title")
	}
	list, why := o.list("services_title")
	if why == "" && len(list) > maxList {
		why = o.malformed("services_title", fmt.Sprintf("has %d entries", len(list)))
	}
	services := []native.PeerService{}
	for i, entry := range list {
		if why != "" {
			break
		}
		item, ok := o.below(fmt.Sprintf("services_title > %d", i), entry)
		if !ok {
			why = native.ReasonSourceMalformed.With(fmt.Sprintf("service %d", i))
			continue
		}
		item.noteOthers(false, "_name", "protocol_id_key", "protocol_revision_key", "protocol_version_key", "service_key_key", "service_uuid_key")
		var service native.PeerService
		if service.ProtocolID, why = item.number("protocol_id_key"); why == "" {
			service.Version, why = item.number("protocol_version_key")
		}
		if why != "" {
			item.notes.Add("%s: %s, so that the services of this computer are not known", item.at, why.Detail())
		}
		services = append(services, service)
	}
	if why != "" {
		return nil, why
	}
	return services, ""
}
