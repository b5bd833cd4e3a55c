package rdma

import (
	"context"
	"errors"
	"fmt"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/rdma/change"
	"fulmen/native"
)

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
			return api.Errorf(api.ReasonRDMABridgeCallsMissing, string(o.cfg.Node), "The macOS of %s lacks the calls to change the bridge safely.", node)
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
		e := api.Errorf(api.ReasonDeadline, string(o.cfg.Node), "On %s: %s.", node, late.Error())
		e.Data.WaitingFor = late.WaitingFor
		return e
	}
	return api.Errorf(api.ReasonRDMAChangeFailed, string(o.cfg.Node), "On %s: %s.", node, err)
}

// causeOf is an error as the cause of a change that is put back.
func (o *Owner) causeOf(ctx context.Context, doing string, err error) change.Cause {
	fault := o.faultOf(ctx, err)
	if fault.Data.Reason == api.ReasonRDMAChangeFailed || fault.Data.Reason == api.ReasonDeadline {
		return change.Cause{Reason: fault.Data.Reason, Message: fmt.Sprintf("could not %s: %s", doing, err)}
	}
	return change.Cause{Reason: fault.Data.Reason, Message: fault.Message}
}
