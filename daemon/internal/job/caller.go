package job

import "fulmen/daemon/api"

// Caller is who calls a method of the API.
type Caller struct {
	// Principal is the person; of this node.
	Principal api.Principal
	// Admin says that it is an administrator of this Mac.
	Admin bool
}

// may reports whether one principal may act for another.
func (j *Jobs) may(by, of api.Principal) bool {
	return by.Valid() && (by == of || j.cfg.Access.May(by, of))
}

// allowed refuses a caller who may not act for the job's principal.
func (j *Jobs) allowed(c Caller, id api.JobID, of api.Principal) error {
	if c.Admin || j.may(c.Principal, of) {
		return nil
	}
	return api.NewError(api.ReasonNotYourJob, id.String())
}

// speaker is whose wish a caller's is at another node. An administrator speaks
// for this node's people, for whom it vouches, and for nobody else's.
func (j *Jobs) speaker(c Caller, of api.Principal) api.Principal {
	if c.Admin && of.Node == j.cfg.Node {
		return of
	}
	return c.Principal
}
