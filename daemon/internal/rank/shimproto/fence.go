package shimproto

import (
	"errors"
	"fmt"
)

// Fence decides whom a shim obeys. It is pure: the shim keeps it and asks it
// about every request before acting, one at a time: it is not for concurrent
// use.
type Fence struct {
	ref   Ref
	epoch int64
	own   Versions
}

// NewFence guards a rank at the epoch of its spec.
func NewFence(ref Ref, epoch int64, own Versions) *Fence {
	return &Fence{ref: ref, epoch: epoch, own: own}
}

// Epoch returns the highest epoch that was admitted.
func (f *Fence) Epoch() int64 { return f.epoch }

// Admit returns nil when the request may act, having raised the epoch to its
// own if that is higher, and otherwise the refusal to be sent. greeted says
// whether this connection's hello was admitted before. A refused request
// changes nothing, its epoch included.
func (f *Fence) Admit(r Request, greeted bool) *Refusal {
	hello, isHello := r.(Hello)
	switch {
	case isHello && hello.Ref != f.ref:
		return f.Refuse(r, RefuseOtherRank, fmt.Sprintf("this is rank %s, not %s", f.ref, hello.Ref))
	case !isHello && !greeted:
		return f.Refuse(r, RefuseNoHello, "the first message must be hello")
	case r.Header().Epoch < f.epoch:
		return f.Refuse(r, RefuseStaleEpoch, fmt.Sprintf("epoch %d is over, this is epoch %d", r.Header().Epoch, f.epoch))
	}
	if isHello {
		if _, err := f.own.Negotiate(hello.Versions); err != nil {
			reason := RefuseTooOld
			if hello.Oldest > f.own.Newest {
				reason = RefuseTooNew
			}
			return f.Refuse(r, reason, err.Error())
		}
	}
	f.epoch = r.Header().Epoch
	return nil
}

// Refuse makes the refusal of a request.
func (f *Fence) Refuse(r Request, reason RefusalReason, message string) *Refusal {
	return &Refusal{Re: r.Header().ID, Epoch: f.epoch, Reason: reason, Message: message}
}

// RefuseLine makes the refusal of a line that could not be read as a request.
func (f *Fence) RefuseLine(line []byte, err error) *Refusal {
	reason := RefuseMalformed
	var unknown *UnknownTypeError
	if errors.As(err, &unknown) {
		reason = RefuseUnknown
	}
	return &Refusal{Re: RequestID(line), Epoch: f.epoch, Reason: reason, Message: err.Error()}
}
