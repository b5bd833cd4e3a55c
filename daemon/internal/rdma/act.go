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
		outcome, _, own := step.Outcome(found)
		if outcome == change.Ours { // by an attempt whose answer did not come
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
	done := change.PutBack{Step: at, Outcome: change.Changed}
	err := o.repeat(ctx, stepWithin, step, func(ctx context.Context, found change.Found) (bool, error) {
		outcome, text, own := step.Outcome(found)
		done.Outcome, done.Found = outcome, text
		if outcome != change.Ours {
			return true, nil
		}
		if step.What == api.RDMAStepService {
			return true, o.cfg.Network.DeleteService(ctx, serviceTo(own))
		}
		// The kernel takes no member that has an address; it stays for half a second
		// after its service is gone.
		if len(found.Addresses) > 0 {
			done.Outcome, done.Found = change.Changed, fmt.Sprintf("%s still has the address %s", step.Interface, found.Addresses[0])
			return serviceIsLeft(r), nil
		}
		return true, o.cfg.Network.SetBridgeMember(ctx, step.Bridge, step.Interface, true)
	})
	if err != nil {
		if done.Outcome != change.Changed || done.Found == "" {
			done.Outcome, done.Found = change.Changed, o.causeOf(ctx, "put back "+step.Interface, err).Message
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
	var err error
	isOver := o.until(ctx, func() (done bool) {
		var found change.Found
		if found, _, err = o.read(ctx, step.Interface); err == nil {
			done, err = f(ctx, found)
		}
		if done && err == nil || err != nil && !errors.Is(err, native.ErrStale) {
			return true
		}
		o.cfg.Clock.AfterFunc(retryAfter, func() { o.Look(false) })
		return false
	})
	switch {
	case isOver:
		return err
	case err == nil:
		return context.Cause(ctx)
	}
	return fmt.Errorf("%w; %w", err, context.Cause(ctx))
}

// verify waits until the system shows an end as the change wants it: the port
// active, with a GID made from the address.
func (o *Owner) verify(ctx context.Context, r change.Record) change.Event {
	ctx, cancel := o.within(ctx, shownWithin, "the RDMA port of "+r.Interface+" to be active with "+r.Address.Addr().String())
	defer cancel()
	missing := api.Cause{}
	if o.until(ctx, func() bool {
		found, snapshot, err := o.read(ctx, r.Interface)
		switch {
		case err == nil:
			missing = o.missing(r, found, snapshot)
			return missing.Reason == ""
		case missing.Reason == "":
			missing = o.causeOf(ctx, "read "+r.Interface, err)
		}
		return false
	}) {
		return change.Verified{}
	}
	missing.Message = fmt.Sprintf("%s; %s", missing.Message, context.Cause(ctx))
	return change.Failed{Cause: missing}
}

// missing is what an end lacks of what a change is for; the zero cause: nothing.
func (o *Owner) missing(r change.Record, found change.Found, s native.Snapshot) api.Cause {
	lacks := func(reason api.Reason, of, what string) api.Cause {
		return api.Cause{Reason: reason, Message: fmt.Sprintf("%s of %s %s", of, o.cfg.Name(o.cfg.Node), what)}
	}
	if !slices.Contains(found.Addresses, r.Address) {
		return lacks(api.ReasonNoAddress, r.Interface, "has no address "+r.Address.String())
	}
	var devices []native.RDMADevice
	if s.RDMA != nil {
		devices = s.RDMA.Devices
	}
	at := slices.IndexFunc(devices, func(d native.RDMADevice) bool { return d.Interface == r.Interface })
	if at < 0 {
		return lacks(api.ReasonRDMANoDevice, r.Interface, "has no RDMA device")
	}
	hasGID := slices.ContainsFunc(devices[at].GIDs, func(gid native.GID) bool {
		a, mapped := gid.IPv4()
		return mapped && a == r.Address.Addr()
	})
	switch d := devices[at]; {
	case !hasGID:
		return lacks(api.ReasonRDMANoIPv4GID, d.Name, "has no GID of "+r.Address.Addr().String())
	case d.PortState != native.RDMAPortActive:
		return lacks(api.ReasonRDMAPortDown, d.Name, "is "+string(d.PortState))
	}
	return api.Cause{}
}

// faultOf makes an error of the platform fit for a person. Where ctx ended, its
// cause says what was waited for.
func (o *Owner) faultOf(ctx context.Context, err error) *api.Error {
	if known, is := errors.AsType[*api.Error](err); is {
		return known
	}
	node := o.cfg.Name(o.cfg.Node)
	if unsupported, is := errors.AsType[*native.UnsupportedError](err); is {
		reason := api.Reason(unsupported.Reason.Key())
		if unsupported.Feature == native.FeatureBridgeMembership && reason == api.Reason(native.ReasonNoOS.Key()) {
			return api.Errorf(api.ReasonRDMABridgeCallsMissing, string(o.cfg.Node), "The version of macOS on %s has no safe way to change the bridge.", node)
		}
		if _, known := api.LookupReason(reason); !known {
			reason = api.ReasonNotSupportedByPlatform
		}
		return api.Errorf(reason, string(o.cfg.Node), "Fulmen cannot change the network of %s: %s.", node, unsupported.Reason)
	}
	late, isLate := errors.AsType[*native.DeadlineError](err)
	if !isLate {
		late, isLate = errors.AsType[*native.DeadlineError](context.Cause(ctx))
	}
	if isLate {
		return api.Errorf(api.ReasonDeadline, string(o.cfg.Node), "On %s: %s.", node, late.Error()).WithWait(late.WaitingFor)
	}
	return api.Errorf(api.ReasonRDMAChangeFailed, string(o.cfg.Node), "On %s: %s.", node, err)
}

// causeOf is an error as the cause of a change that is put back.
func (o *Owner) causeOf(ctx context.Context, doing string, err error) api.Cause {
	fault := o.faultOf(ctx, err)
	cause := api.Cause{Reason: fault.Data.Reason, Message: fault.Message}
	if cause.Reason == api.ReasonRDMAChangeFailed || cause.Reason == api.ReasonDeadline {
		cause.Message = fmt.Sprintf("could not %s: %s", doing, err)
	}
	return cause
}
