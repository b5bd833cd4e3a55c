package jaccl

import (
	"context"
	"net"
	"time"
)

// Options say which rank of which group this is.
type Options struct {
	// Rank is the number, and Devices the matrix of the whole group.
	Rank    int
	Devices [][][]string
	// Ring makes a ring of what may be a mesh too.
	Ring bool
	// Exchanges has the ranks of a mesh connect over each cable, for [Group.Exchange].
	Exchanges bool
	// Coordinator is where rank 0 listens.
	Coordinator string
	// Network is whose sockets are used; nil = this machine's.
	Network Network
	// Mark is what all ranks of the group have in common and no other group has.
	Mark uint64
	// At, where set, is called when each step is reached; it may not return.
	At func(Step)
	// Tried, where set, is told of every attempt to connect that failed.
	Tried func(attempt int, wait time.Duration)
}

// Network opens sockets.
type Network interface {
	// Listen listens as JACCL does: the port may have others, and one connection at
	// most waits to be accepted.
	Listen(address string) (net.Listener, error)
	// Dial connects.
	Dial(ctx context.Context, address string) (net.Conn, error)
}

// Step is how far a rank has come.
type Step string

const (
	// StepBegin is before anything.
	StepBegin Step = "begin"
	// StepOpen has a listener (rank 0) or is connected (all others).
	StepOpen Step = "open"
	// StepNumbered has sent its number or, as rank 0, read those of all.
	StepNumbered Step = "numbered"
	// StepDescribed has gathered the descriptions of queue pairs.
	StepDescribed Step = "described"
	// StepWaited has waited for all, once.
	StepWaited Step = "waited"
	// StepJoined is through.
	StepJoined Step = "joined"
)

// Steps lists the steps, in order.
func Steps() []Step {
	return []Step{StepBegin, StepOpen, StepNumbered, StepDescribed, StepWaited, StepJoined}
}

func (o *Options) at(s Step) {
	if o.At != nil {
		o.At(s)
	}
}
