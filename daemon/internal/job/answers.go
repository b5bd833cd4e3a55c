package job

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"fulmen/daemon/api"
	"fulmen/daemon/internal/job/phase"
	"fulmen/native"
)

// definite reports whether a call's error is the other node's word that it has not
// done, and will not do, what it was asked. Otherwise nobody knows.
func definite(err error) bool {
	switch api.AsError(err).Code {
	case api.CodeUnreachable, api.CodeDeadline, api.CodeCancelled, api.CodeInternal:
		return false
	}
	return true
}

// newerHome is the event for a node that refused a call because it knows a newer home
// of the job: the home's document, which proves it and is asked for. Where there is none
// it is nil, and the refusal is one like any other.
func (j *Jobs) newerHome(id api.JobID, node api.NodeID, err error) phase.Event {
	if !errors.Is(err, api.ReasonStaleEpoch) {
		return nil
	}
	if record, ok := j.cfg.Ledger.Get(j.key(id)); ok && node != j.cfg.Node {
		var result api.PeerHoldResult
		err := j.call(j.ctx, node, "peer.hold", api.PeerHoldParams{Doc: record.Document()}, &result, callWithin, "to show the newer home of "+id.String())
		if err != nil {
			j.cfg.Log.Info("a node did not show the newer home that it knows", "job", id, "node", node, "error", err)
		}
		for _, d := range result.Others {
			j.foreign(id, d)
		}
	}
	if known, ok := j.Known(id); ok && !known.Gone && known.Job.Home != j.cfg.Node {
		return phase.Seen{Job: known.Job}
	}
	return nil
}

// causeOf is a call's error as the phase machine takes it; its message names the node.
func (j *Jobs) causeOf(err error, node api.NodeID) phase.Cause {
	e := api.AsError(err)
	if d, ok := errors.AsType[*native.DeadlineError](err); ok {
		e = api.Errorf(api.ReasonNodeUnreachable, string(node), "%s did not answer within %s.", j.name(node), d.After).WithWait(d.WaitingFor)
	}
	c := phase.Cause{Reason: e.Data.Reason, WaitingFor: e.Data.WaitingFor,
		Message: strings.TrimPrefix(e.Message, node.Display()+": ")} // people know it by its name
	switch e.Code {
	case api.CodeUnreachable, api.CodeDeadline, api.CodeCancelled:
		c.Reason = api.ReasonNodeUnreachable
		c.WaitingFor = cmp.Or(c.WaitingFor, "node "+j.name(node))
		if e.Code != api.CodeUnreachable {
			c.Message = j.name(node) + " did not answer in time."
		}
	}
	if !strings.Contains(c.Message, j.name(node)) {
		c.Message = phase.Attributed(j.name(node), c.Message)
	}
	c.Final = final(c.Reason)
	return c
}

// final reports whether a reason stands in the way of every further attempt: what
// a person has to put right before the job can run, or what a node can never do.
func final(r api.Reason) bool {
	info, _ := api.LookupReason(r)
	return info.Code == api.CodeUnsupported || slices.Contains([]api.Reason{
		api.ReasonSpecAltered, api.ReasonSpecExpired, api.ReasonBadSignature, api.ReasonNotAMember, api.ReasonSpecConflict, api.ReasonVariablesLost,
		api.ReasonAccountForbidden, api.ReasonInterpreterMissing, api.ReasonProgramMissing, api.ReasonProgramNotExecutable,
		api.ReasonDirectoryMissing, api.ReasonMacOSPrivacy, api.ReasonSyncTooLarge, api.ReasonSyncLeavesFolder,
		api.ReasonPrepareFailed, api.ReasonMLXVersionsDiffer, api.ReasonPythonVersionsDiffer,
		api.ReasonPackageVersionsDiffer,
	}, r)
}
