package darwin

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"

	"fulmen/native"
)

// search is a search for instances of a type.
type search struct {
	serviceType string
	interfaces  []string // none: all
	isOwn       func(instance string) bool
	clock       native.Clock
	found       func(native.Sighting)

	names    map[int]string // of interfaces, by index
	browsing bool
	last     int64
	// unplaced are those announced on an interface that is not known yet: the
	// responder is quicker than the list of interfaces.
	unplaced  map[instanceKey]found
	instances map[instanceKey]*instance
	byToken   map[int64]*instance
}

type instanceKey struct {
	name  string
	index int
}

// instance is one that is announced on an interface, with what is known of it.
type instance struct {
	key       instanceKey
	iface     string // as it was called when it was seen
	resolving int64
	asking    int64 // for addresses; 0 before its host is known
	host      string
	port      int
	txt       map[string]string
	addresses []netip.Addr
	reported  bool
}

// interfacesAre begins to browse on all interfaces, and forgets what was seen on
// those that have gone.
func (s *search) interfacesAre(r responder, indexes map[string]int) error {
	s.names = map[int]string{}
	for name, index := range indexes {
		s.names[index] = name
	}
	for _, i := range s.instances {
		if s.names[i.key.index] != i.iface {
			s.forget(r, i)
		}
	}
	for key, f := range s.unplaced {
		if s.names[key.index] != "" {
			delete(s.unplaced, key)
			_ = s.seen(r, f) // else it is seen when it is announced again
		}
	}
	if s.browsing {
		return nil
	}
	err := r.browse(0, 0, s.serviceType)
	s.browsing = err == nil
	return err
}

// lost forgets all that was seen: nobody tells any more what becomes of it.
func (s *search) lost(r responder) {
	for _, i := range s.instances {
		s.forget(r, i)
	}
	clear(s.unplaced)
	s.browsing = false
}

func (s *search) handle(r responder, f found) error {
	if f.failed != 0 {
		s.failed(r, f)
		return nil
	}
	switch f.kind {
	case foundInstance:
		return s.seen(r, f)
	case foundResolved:
		return s.resolved(r, f)
	case foundAddress:
		s.addressed(f)
	}
	return nil
}

// The responder's errors by which the system says that this program may not search.
const (
	responderNoAuth       = -65555
	responderPolicyDenied = -65570
)

// failed says that the search was refused. What could not be found out of one instance
// alone comes again when it is announced again.
func (s *search) failed(r responder, f found) {
	why := native.ReasonReadFailed
	isDenied := f.failed == responderNoAuth || f.failed == responderPolicyDenied
	if isDenied {
		why = native.ReasonPermission
	}
	if f.kind != foundInstance && !isDenied {
		return
	}
	if f.kind == foundInstance {
		r.end(f.token)
		s.browsing = false
	}
	s.found(native.Sighting{Refused: why.With("DNS-SD error " + strconv.Itoa(f.failed)), At: native.Stamp(s.clock.Now())})
}

func (s *search) seen(r responder, f found) error {
	key := instanceKey{f.text, f.index}
	have := s.instances[key]
	if !f.added {
		delete(s.unplaced, key)
		if have != nil {
			s.forget(r, have)
		}
		return nil
	}
	name := s.names[f.index]
	if name == "" {
		s.unplaced[key] = f
		return nil
	}
	if have != nil || s.isOwn(f.text) || len(s.interfaces) > 0 && !slices.Contains(s.interfaces, name) {
		return nil
	}
	s.last++
	i := &instance{key: key, iface: name, resolving: s.last}
	if err := r.resolve(i.resolving, f.index, f.text, s.serviceType, f.domain); err != nil {
		return err
	}
	s.instances[key], s.byToken[i.resolving] = i, i
	return nil
}

// resolved comes again whenever the instance changes what it says.
func (s *search) resolved(r responder, f found) error {
	i := s.byToken[f.token]
	if i == nil || f.port == 0 || f.text == "" {
		return nil
	}
	moved := i.host != f.text
	i.host, i.port, i.txt = f.text, f.port, decodeTXT(f.data)
	if !moved {
		s.notify(i)
		return nil
	}
	s.stopAsking(r, i)
	s.last++
	if err := r.addresses(s.last, i.key.index, i.host); err != nil {
		return err
	}
	i.asking = s.last
	s.byToken[i.asking] = i
	return nil
}

func (s *search) addressed(f found) {
	i := s.byToken[f.token]
	address, ok := netip.AddrFromSlice(f.data)
	if i == nil || i.asking != f.token || !ok {
		return
	}
	if address.Is6() && address.IsLinkLocalUnicast() {
		address = address.WithZone(i.iface)
	}
	at := slices.Index(i.addresses, address)
	switch {
	case f.added && at < 0:
		i.addresses = append(i.addresses, address)
	case !f.added && at >= 0:
		i.addresses = slices.Delete(i.addresses, at, at+1)
	default:
		return
	}
	s.notify(i)
}

// notify reports an instance while it can be dialled, and that it is gone when it
// cannot any more.
func (s *search) notify(i *instance) {
	seen := native.Sighting{Instance: i.key.name, Interface: i.iface, At: native.Stamp(s.clock.Now())}
	if len(i.addresses) == 0 {
		seen.Gone = true
		if !i.reported {
			return
		}
	} else {
		seen.Host, seen.Port, seen.TXT, seen.Addresses = i.host, i.port, maps.Clone(i.txt), slices.Clone(i.addresses)
	}
	i.reported = !seen.Gone
	s.found(seen)
}

func (s *search) stopAsking(r responder, i *instance) {
	if i.asking != 0 {
		r.end(i.asking)
		delete(s.byToken, i.asking)
		i.asking, i.addresses = 0, nil
	}
}

func (s *search) forget(r responder, i *instance) {
	s.stopAsking(r, i)
	r.end(i.resolving)
	delete(s.byToken, i.resolving)
	delete(s.instances, i.key)
	s.notify(i)
}
