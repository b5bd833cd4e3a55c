package rdma

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rdma/change"
	"fulmen/native"
)

// makeStep makes a step of a change, and gives what came of it.
func (o *Owner) makeStep(ctx context.Context, r change.Record, at int) change.Event {
	step := r.Steps[at]
	var made change.Service
	err := o.repeat(ctx, stepWithin, step, func(ctx context.Context, found change.Found) (bool, error) {
		if step.What == api.RDMAStepBridge {
			return true, o.cfg.Network.SetBridgeMember(ctx, step.Bridge, step.Interface, false)
		}
		fate, _, own := step.Fate(found)
		if fate == change.Ours { // by an attempt whose answer did not come
			made = own
			return true, nil
		}
		service, err := o.cfg.Network.CreateService(ctx, native.ServiceSpec{
			Interface: step.Interface, Name: step.Service.Name, Address: step.Service.Addresses[0],
		})
		made = serviceFrom(service)
		return true, err
	})
	if err != nil {
		return change.Failed{Cause: o.causeOf(ctx, "change "+step.Interface, err)}
	}
	return change.Made{Step: at, Service: made}
}

// putBack puts a step back, as far as it still is as the change left it. What
// cannot be put back within the time is left and told.
func (o *Owner) putBack(ctx context.Context, r change.Record, at int) change.Event {
	step := r.Steps[at]
	done := change.PutBack{Step: at, Fate: change.Changed}
	err := o.repeat(ctx, stepWithin, step, func(ctx context.Context, found change.Found) (bool, error) {
		fate, text, own := step.Fate(found)
		done.Fate, done.Found = fate, text
		if fate != change.Ours {
			return true, nil
		}
		if step.What == api.RDMAStepService {
			return true, o.cfg.Network.DeleteService(ctx, serviceTo(own))
		}
		// The kernel takes no member that has an address; it stays for half a second
		// after its service is gone.
		if len(found.Addresses) > 0 {
			done.Fate, done.Found = change.Changed, fmt.Sprintf("%s still has the address %s", step.Interface, found.Addresses[0])
			return serviceIsLeft(r), nil
		}
		return true, o.cfg.Network.SetBridgeMember(ctx, step.Bridge, step.Interface, true)
	})
	if err != nil {
		if done.Fate != change.Changed || done.Found == "" {
			done.Fate, done.Found = change.Changed, o.causeOf(ctx, "put back "+step.Interface, err).Message
		}
		o.cfg.Log.Warn("a setting could not be put back", "link", r.Link, "interface", step.Interface, "found", done.Found, "error", err)
	}
	return done
}

// serviceIsLeft reports whether the service of a change could not be put back: nobody
// takes its address away then.
func serviceIsLeft(r change.Record) bool {
	return slices.ContainsFunc(r.Steps, func(s change.Step) bool {
		return s.What == api.RDMAStepService && s.State == api.RDMAStepLeft
	})
}

// repeat reads what there is and has f act on it, until f is done without an error, or
// fails with one that does not pass by itself, or the time is over. Where somebody else
// changed the configuration meanwhile, or f has to wait, it reads again.
func (o *Owner) repeat(ctx context.Context, d time.Duration, step change.Step, f func(context.Context, change.Found) (done bool, err error)) error {
	ctx, cancel := o.within(ctx, d, "the network configuration of "+step.Interface)
	defer cancel()
	for {
		o.mu.Lock()
		news := o.news
		o.mu.Unlock()
		found, _, err := o.read(ctx, step.Interface)
		var done bool
		if err == nil {
			done, err = f(ctx, found)
		}
		if done && err == nil {
			return nil
		}
		if err != nil && !errors.Is(err, native.ErrStale) {
			return err
		}
		if !o.pause(ctx, news) {
			if err == nil {
				return context.Cause(ctx)
			}
			return fmt.Errorf("%w; %w", err, context.Cause(ctx))
		}
	}
}

// pause waits a moment, or until something has changed. It reports false where ctx
// ended before.
func (o *Owner) pause(ctx context.Context, news <-chan struct{}) bool {
	passed := make(chan struct{})
	timer := o.cfg.Clock.AfterFunc(retryAfter, func() { close(passed) })
	defer timer.Stop()
	select {
	case <-passed:
	case <-news:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// verify waits until the system shows an end as the change wants it: the port
// active, with a GID made from the address.
func (o *Owner) verify(ctx context.Context, r change.Record) change.Event {
	ctx, cancel := o.within(ctx, shownWithin, "the RDMA port of "+r.Interface+" to be active with "+r.Address.Addr().String())
	defer cancel()
	missing := change.Cause{}
	for {
		o.mu.Lock()
		news := o.news
		o.mu.Unlock()
		found, snapshot, err := o.read(ctx, r.Interface)
		if err == nil {
			if missing = o.missing(r, found, snapshot); missing.Reason == "" {
				return change.Verified{}
			}
		} else if missing.Reason == "" {
			missing = o.causeOf(ctx, "read "+r.Interface, err)
		}
		select {
		case <-news:
		case <-ctx.Done():
			missing.Message = fmt.Sprintf("%s; %s", missing.Message, context.Cause(ctx))
			return change.Failed{Cause: missing}
		}
	}
}

// missing is what an end lacks of what a change is for; the zero cause: nothing.
func (o *Owner) missing(r change.Record, found change.Found, s native.Snapshot) change.Cause {
	node := o.cfg.Name(o.cfg.Node)
	has := false
	for _, a := range found.Addresses {
		has = has || a == r.Address
	}
	if !has {
		return change.Cause{Reason: api.ReasonNoAddress, Message: fmt.Sprintf("%s of %s has no address %s", r.Interface, node, r.Address)}
	}
	if s.RDMA != nil {
		for _, d := range s.RDMA.Devices {
			if d.Interface != r.Interface {
				continue
			}
			for _, gid := range d.GIDs {
				if a, mapped := gid.IPv4(); mapped && a == r.Address.Addr() {
					if d.PortState == native.RDMAPortActive {
						return change.Cause{}
					}
					return change.Cause{Reason: api.ReasonRDMAPortDown, Message: fmt.Sprintf("%s of %s is %s", d.Name, node, d.PortState)}
				}
			}
			return change.Cause{Reason: api.ReasonRDMANoIPv4GID, Message: fmt.Sprintf("%s of %s has no GID of %s", d.Name, node, r.Address.Addr())}
		}
	}
	return change.Cause{Reason: api.ReasonRDMANoDevice, Message: fmt.Sprintf("%s of %s has no RDMA device", r.Interface, node)}
}
