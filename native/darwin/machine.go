package darwin

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"fulmen/native"
	"fulmen/native/procsockets"
)

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
	ears       *ears
	supervises bool                      // a supervisor goes with it
	connect    func() (responder, error) // to DNS-SD; nil without C
	actions    *actions                  // nil without C
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
	if m.frameworks == nil {
		m.frameworks = noFrameworks{}
	}
	m.places = sync.OnceValue(func() map[string]string {
		nodes, err := m.frameworks.Places()
		if err != nil {
			return nil // a port without its place says so
		}
		return placesOf(nodes)
	})
	m.ears = newEars(m.clock, open)
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
	return m.ears.closeAll()
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
			return nil, native.ReasonSourceGone.With("its controllers have left the registry")
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
	m.ears.hint(native.Hint{Area: native.AreaThunderbolt, Source: "system_profiler.answered", At: native.Stamp(m.clock.Now()), BootUS: m.clock.Boot().Microseconds()})
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
	stop, err := m.ears.listen(listener{hint: hint, every: func(a announcement) {
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

// platform puts the machine's parts together. assert holds idle sleep off; what a
// build lacks is nil, and refuses.
func (m *machine) platform(assert func(reason string) (release func() error, err error), closers ...func() error) native.Platform {
	p := &power{machine: m, assert: assert}
	out := native.Platform{Name: platformName, Clock: m.clock, Facts: m, Power: p, Processes: procsockets.Processes{}, Closers: []func() error{p.close}}
	if m.actions != nil {
		out.Network = m.actions
	}
	if m.connect != nil {
		d := &discovery{machine: m, connect: m.connect, sessions: map[*session]bool{}, own: map[string]int{}}
		out.Discovery = d
		out.Closers = append(out.Closers, d.close)
	}
	out.Closers = append(append(out.Closers, m.close), closers...)
	return out
}
