package native

import (
	"cmp"
	"context"
	"errors"
)

// Platform is everything a system offers to the daemon. It is a struct of small
// interfaces and not one large one, so that a test or a simulation can replace
// one part and keep the rest.
type Platform struct {
	// Name is "darwin", "linux", "sim" or, in tests, "memory".
	Name string
	// Simulated is true when its facts are not of a real machine.
	Simulated bool

	Facts      Facts
	Clock      Clock
	Discovery  Discovery
	Supervisor Supervisor
	Power      Power
	Network    NetworkActions
	Sockets    Sockets
	Processes  Processes
	// RDMACarried counts the bytes that an RDMA device has sent and received; nil where the
	// system counts none.
	RDMACarried func(device string) (uint64, error)
	// GPUUse is the share of its time, 0 to 1, that the GPU is used now, by whomever; nil where
	// the system does not tell.
	GPUUse func() (float64, error)
	// Stacks is what the threads of a process are in, as text for people, function by function;
	// nil where nothing tells. It starts a program, which takes a second.
	Stacks func(ctx context.Context, process int) (string, error)

	// Closers are run in order by Close, which releases threads, descriptors
	// and assertions.
	Closers []func() error
}

// Complete returns the platform with every missing part replaced by one whose
// every call is refused with [ErrUnsupported] and the reason
// [ReasonNoPlatform]. Facts and Clock cannot be missing: nothing runs without
// them, and their absence is the error.
func (p Platform) Complete() (Platform, error) {
	if p.Facts == nil {
		return Platform{}, errors.New("the platform has no facts")
	}
	if p.Clock == nil {
		return Platform{}, errors.New("the platform has no clock")
	}
	notPart := ReasonNoPlatform.With("not a part of " + p.Name)
	p.Discovery = cmp.Or[Discovery](p.Discovery, NoDiscovery{Reason: notPart})
	p.Supervisor = cmp.Or[Supervisor](p.Supervisor, NoSupervisor{Reason: notPart})
	p.Power = cmp.Or[Power](p.Power, NoPower{Reason: notPart})
	p.Network = cmp.Or[NetworkActions](p.Network, NoNetworkActions{Reason: notPart})
	p.Sockets = cmp.Or[Sockets](p.Sockets, NoSockets{Reason: notPart})
	p.Processes = cmp.Or[Processes](p.Processes, NoProcesses{Reason: notPart})
	return p, nil
}

// Close runs all closers and joins their errors.
func (p Platform) Close() error {
	var err error
	for _, closer := range p.Closers {
		err = errors.Join(err, closer())
	}
	return err
}
