package darwin

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"fulmen/native"
	"fulmen/native/procsockets"
)

// line is an armed watch of the system.
type line interface {
	// armed is nil, or why a source is silent.
	armed(source int) error
	// allow lets the system go on with what a power notice announced.
	allow(notice int64) error
	// close disarms everything; once it has returned nothing comes any more.
	close() error
}

// listeners share one line among all who listen: it is opened for the first and closed
// after the last.
type listeners struct {
	open  func(receive func(announcement)) (line, error)
	clock native.Clock

	opening sync.Mutex // one opens or closes at a time
	line    line       // guarded by opening

	mu        sync.Mutex // of what follows; held while somebody is told
	listeners map[int]listener
	next      int
	pending   map[int64]bool // power notices that wait for an acknowledgement
}

// listener is told what it has a function for.
type listener struct {
	hint   func(native.Hint)
	notice func(native.PowerNotice)
	// every is told of each announcement as it came.
	every func(announcement)
}

func newListeners(clock native.Clock, open func(func(announcement)) (line, error)) *listeners {
	return &listeners{open: open, clock: clock, listeners: map[int]listener{}, pending: map[int64]bool{}}
}

// listen tells l until stop has returned.
func (e *listeners) listen(l listener) (stop func() error, err error) {
	e.opening.Lock()
	defer e.opening.Unlock()
	if e.line == nil {
		if e.line, err = e.open(e.receive); err != nil {
			e.line = nil
			return nil, err
		}
	}
	e.mu.Lock()
	id := e.next
	e.next++
	e.listeners[id] = l
	e.mu.Unlock()
	return sync.OnceValue(func() error { return e.forget(id) }), nil
}

func (e *listeners) forget(id int) error {
	e.opening.Lock()
	defer e.opening.Unlock()
	e.mu.Lock()
	delete(e.listeners, id)
	last := len(e.listeners) == 0
	e.mu.Unlock()
	if !last || e.line == nil {
		return nil
	}
	closing := e.line
	e.line = nil
	return closing.close()
}

// closeAll forgets everybody.
func (e *listeners) closeAll() error {
	e.mu.Lock()
	ids := slices.Collect(maps.Keys(e.listeners))
	e.mu.Unlock()
	var err error
	for _, id := range ids {
		err = errors.Join(err, e.forget(id))
	}
	return err
}

// receive runs on the system's thread.
func (e *listeners) receive(a announcement) {
	now := native.Hint{Source: a.Source(), Subject: a.subject, At: native.Stamp(e.clock.Now()), BootUS: e.clock.Boot().Microseconds()}
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.inOrder() {
		if l.every != nil {
			l.every(a)
		}
		for _, area := range a.areas() {
			if now.Area = area; l.hint != nil {
				l.hint(now)
			}
		}
	}
	if a.source == fromPower {
		e.announce(a, now.At)
	}
}

// hint tells of an area by a source of Go's own.
func (e *listeners) hint(h native.Hint) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, l := range e.inOrder() {
		if l.hint != nil {
			l.hint(h)
		}
	}
}

func (e *listeners) inOrder() []listener {
	all := make([]listener, 0, len(e.listeners))
	for _, id := range slices.Sorted(maps.Keys(e.listeners)) {
		all = append(all, e.listeners[id])
	}
	return all
}

// sleepWaitsS is how long the system waits for the answer to a notice, as
// IOAllowPowerChange documents it.
const sleepWaitsS = 30

// announce tells a power notice. Where nobody wants notices the answer is given at
// once, for the system waits for every process that has asked for them.
func (e *listeners) announce(a announcement, at native.Timestamp) {
	n := native.PowerNotice{Event: native.PowerEvent(a.event), At: at}
	if n.Event != native.PowerAwake {
		n.ID, n.WithinS = strconv.FormatInt(a.id, 10), sleepWaitsS
	}
	reported := false
	for _, l := range e.inOrder() {
		if l.notice != nil {
			if n.ID != "" && !reported {
				e.pending[a.id] = true
			}
			reported = true
			l.notice(n)
		}
	}
	if !reported && n.ID != "" {
		// On a goroutine, because the line is guarded by a lock that whoever
		// closes it holds while this thread is waited for.
		go func() { _ = e.allow(a.id) }()
	}
}

// acknowledge answers a notice.
func (e *listeners) acknowledge(id string) error {
	number, err := strconv.ParseInt(id, 10, 64)
	e.mu.Lock()
	waits := err == nil && e.pending[number]
	delete(e.pending, number)
	e.mu.Unlock()
	if !waits {
		return native.ErrNotFound
	}
	return e.allow(number)
}

func (e *listeners) allow(notice int64) error {
	e.opening.Lock()
	defer e.opening.Unlock()
	if e.line == nil {
		return native.ErrNotFound // with the line the registration went, and with that the wait
	}
	return e.line.allow(notice)
}

// armed is nil, or why a source is silent.
func (e *listeners) armed(source int) error {
	e.opening.Lock()
	defer e.opening.Unlock()
	if e.line == nil {
		return native.ErrClosed
	}
	return e.line.armed(source)
}

// Who speaks, as watch.h numbers them; thermal pressure is heard by Go.
const (
	fromWatch = iota
	fromIOKit
	fromStore
	fromPreferences
	fromPower
	fromPowerSource
	fromPressure
	fromThermal
)

// sourceNames are the first halves of a hint's source.
var sourceNames = map[int]string{
	fromWatch: "watch", fromIOKit: "iokit", fromStore: "configd", fromPreferences: "preferences",
	fromPower: "power", fromPowerSource: "power_source", fromPressure: "pressure", fromThermal: "thermal",
}

// busyStateChange is the message by which a service says that it is being set up:
// what comes of it is announced by itself.
const busyStateChange = 0xE0000120

// announcement is one callback of the system.
type announcement struct {
	source int
	// event is what happened, subject what it happened to: a class of the
	// registry, a key of the dynamic store.
	event, subject string
	// id is a registry id, or the number of a power notice; detail a message.
	id, detail int64
}

// Source is the name of a hint that comes of it.
func (a announcement) Source() string { return sourceNames[a.source] + "." + a.event }

// areas are those whose facts it may have changed. RDMA follows from cables, from
// interfaces and from their addresses.
func (a announcement) areas() []native.Area {
	switch a.source {
	case fromIOKit:
		return a.iokitAreas()
	case fromStore:
		switch {
		case a.subject == "Setup:/System" || a.subject == "Setup:/Network/HostNames":
			return []native.Area{native.AreaIdentity}
		case strings.HasPrefix(a.subject, "State:/Network/Interface"):
			return []native.Area{native.AreaNetwork, native.AreaRDMA}
		}
		return []native.Area{native.AreaNetwork}
	case fromPreferences:
		return []native.Area{native.AreaNetwork}
	case fromPower:
		if a.event == string(native.PowerAwake) {
			return []native.Area{native.AreaNetwork, native.AreaThunderbolt, native.AreaRDMA, native.AreaSystem}
		}
	case fromPowerSource, fromThermal:
		return []native.Area{native.AreaSystem}
	case fromPressure:
		return []native.Area{native.AreaMemory}
	}
	return nil
}

func (a announcement) iokitAreas() []native.Area {
	switch {
	case a.event == "interest" && uint32(a.detail) == busyStateChange:
		return nil
	case a.subject == kindIPPort || a.subject == kindInterface:
		return []native.Area{native.AreaThunderbolt, native.AreaNetwork, native.AreaRDMA}
	case a.subject == kindRDMA || a.subject == "IODTNVRAM":
		return []native.Area{native.AreaRDMA}
	}
	return []native.Area{native.AreaThunderbolt, native.AreaRDMA}
}

// platformName is what snapshots of this platform carry.
const platformName = "darwin"

// machine is the facts of this Mac.
type machine struct {
	clock      native.Clock
	kernel     sysctl
	frameworks frameworks
	meters     meters
	verbs      verbs
	// profile runs system_profiler; nil where there is none.
	profile    func(context.Context) (native.Thunderbolt, error)
	hostName   func() (string, error)
	interfaces func() ([]kernelInterface, error)
	listeners  *listeners
	supervises bool                      // a supervisor goes with it
	connect    func() (responder, error) // to DNS-SD
	actions    *actions
	reread     *reread
	profiler   *profiler
	closed     atomic.Bool

	// Places on the case never change while the system runs: they are read once.
	places func() map[string]string
	// hadThunderbolt remembers that there were controllers once, so that their
	// absence is a loss and not the machine's make.
	hadThunderbolt atomic.Bool
	sampling       sync.Mutex
	last           *sample // guarded by sampling, as is resting
	resting        native.Timer
}

// newMachine fills in what is left out of m: the system itself, as far as this
// build reaches it.
func newMachine(m *machine, open func(func(announcement)) (line, error)) *machine {
	if m.hostName == nil {
		m.hostName = os.Hostname
	}
	if m.interfaces == nil {
		m.interfaces = kernelInterfaces
	}
	m.places = sync.OnceValue(func() map[string]string {
		nodes, err := m.frameworks.Places()
		if err != nil {
			return nil // a port without its place says so
		}
		return placesOf(nodes)
	})
	m.listeners = newListeners(m.clock, open)
	m.reread = newReread(m)
	m.profiler = newProfiler(m.profile, m.clock, m.profiled)
	return m
}

// close refuses everything from now on and ends what listens.
func (m *machine) close() error {
	if m.closed.Swap(true) {
		return nil
	}
	m.sampling.Lock()
	if m.resting != nil {
		m.resting.Stop()
	}
	m.sampling.Unlock()
	m.profiler.close()
	return m.listeners.closeAll()
}

// usable is an error once the platform is closed or the context has ended.
func (m *machine) usable(ctx context.Context) error {
	if m.closed.Load() {
		return native.ErrClosed
	}
	return ctx.Err()
}

// Snapshot reads the given areas.
func (m *machine) Snapshot(ctx context.Context, areas ...native.Area) (native.Snapshot, error) {
	if err := m.usable(ctx); err != nil {
		return native.Snapshot{}, err
	}
	s := native.Snapshot{At: native.Stamp(m.now()), Platform: platformName}
	for _, area := range areas {
		if why := m.read(&s, area); why != "" {
			s.Unknown.Add(string(area), why)
		}
		if err := ctx.Err(); err != nil {
			return native.Snapshot{}, err
		}
	}
	return s, nil
}

func (m *machine) now() time.Time { return m.clock.Now() }

// read fills one area in, or says why it is absent.
func (m *machine) read(s *native.Snapshot, area native.Area) (why native.Reason) {
	switch area {
	case native.AreaIdentity:
		s.Identity = m.identity()
	case native.AreaMemory:
		s.Memory = m.memory()
	case native.AreaSystem:
		s.System = m.system()
	case native.AreaNetwork:
		s.Network, why = m.network()
	case native.AreaThunderbolt:
		s.Thunderbolt, why = m.thunderbolt()
	case native.AreaRDMA:
		s.RDMA, why = m.rdma(m.verbs.Devices)
	default:
		why = native.ReasonNoPlatform
	}
	return why
}

func (m *machine) thunderbolt() (*native.Thunderbolt, native.Reason) {
	all, err := m.frameworks.Thunderbolt()
	if err != nil {
		return nil, whyNot(err)
	}
	t := newTree(all)
	if len(t.roots(kindController)) == 0 {
		if m.hadThunderbolt.Load() {
			return nil, native.ReasonSourceGone.With("its Thunderbolt controllers are no longer in the registry")
		}
		return nil, native.ReasonNoHardware
	}
	m.hadThunderbolt.Store(true)
	facts := thunderbolt(t, m.places())
	for i := range facts.Ports {
		m.besideEthernet(&facts.Ports[i])
	}
	m.profiler.complete(facts)
	return facts, ""
}

// profiled hints that system_profiler has answered.
func (m *machine) profiled() {
	m.reread.announced([]native.Area{native.AreaThunderbolt})
	m.listeners.hint(native.Hint{Area: native.AreaThunderbolt, Source: "system_profiler.answered", At: native.Stamp(m.clock.Now()), BootUS: m.clock.Boot().Microseconds()})
}

// besideEthernet marks the receptacle beside the Ethernet socket, on the one
// model whose case is known: some report that it carries no RDMA.
func (m *machine) besideEthernet(p *native.Port) {
	model, err := m.kernel.Text("hw.model")
	if err == nil && p.Place != "" && isStudio(model) {
		p.BesideEthernet = new(p.Place == "back-right")
	}
}

func (m *machine) network() (*native.Network, native.Reason) {
	interfaces, err := m.interfaces()
	if err != nil {
		return nil, native.ReasonReadFailed.With(err.Error())
	}
	in := networkSources{interfaces: interfaces, bridgeMembers: m.frameworks.BridgeMembers}
	in.store, in.storeErr = m.frameworks.Store()
	in.stored, in.storedErr = m.frameworks.Stored()
	// Without these two an interface is of an unknown type, and says so.
	in.known, _ = m.frameworks.Interfaces()
	ports, _ := m.frameworks.NetworkPorts()
	in.ports = newTree(ports)
	in.speeds, _ = m.frameworks.Services("IOEthernetInterface", "BSD Name", "^IOLinkSpeed")
	return network(in), ""
}

// Watch arms everything. The capabilities say which sources are silent.
func (m *machine) Watch(hint func(native.Hint)) (func() error, error) {
	if err := m.usable(context.Background()); err != nil {
		return nil, err
	}
	stop, err := m.listeners.listen(listener{hint: hint, every: func(a announcement) {
		m.reread.announced(a.areas())
		m.profiler.announced(a.areas())
	}})
	if err != nil {
		return nil, native.Unsupported(native.HintsFeature(native.AreaNetwork), whyNot(err))
	}
	end := m.reread.begin()
	return sync.OnceValue(func() error {
		end()
		return stop()
	}), nil
}

// Options says what New cannot find out. The zero value is this Mac.
type Options struct {
	// Units is the folder of the records of supervised units and of their
	// property lists, private to one daemon: a daemon removes units that it finds
	// there and does not know. Empty is /var/run/fulmen/units for root, else
	// Library/Caches/Fulmen/units in the account's home.
	Units string
	// Verbs are the arguments with which this program is a child that calls [AnswerVerbs];
	// none: the library is asked in this process.
	Verbs []string
}

// platform puts the machine's parts together. assert holds idle sleep off.
func (m *machine) platform(assert func(reason string) (release func() error, err error), closers ...func() error) native.Platform {
	p := &power{machine: m, assert: assert}
	d := &discovery{machine: m, connect: m.connect, sessions: map[*session]bool{}, own: map[string]int{}}
	return native.Platform{
		Name: platformName, Clock: m.clock, Facts: m, Power: p, Discovery: d, Network: m.actions, Processes: procsockets.Processes{},
		GPUUse: m.gpuUse, Stacks: stacks,
		Closers: append([]func() error{p.close, d.close, m.close}, closers...),
	}
}
