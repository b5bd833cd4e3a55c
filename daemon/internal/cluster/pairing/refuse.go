package pairing

import (
	"fmt"
	"slices"

	"fulmen/daemon/api"
)

// refuse ends the exchange. It carries no words: whoever gets it shows its own,
// because nothing that a stranger writes comes on a screen.
type refuse struct {
	Reason api.Reason `json:"reason"`
	// TriesLeft is for wrong_code, at least 1.
	TriesLeft int `json:"tries_left,omitempty"`
}

// refusals are the reasons that one side gives to the other.
func refusals() []api.Reason {
	return []api.Reason{
		api.ReasonPairingNotOpen, api.ReasonPairingBusy, api.ReasonCodeExpired, api.ReasonCodeUsedUp, api.ReasonWrongCode,
		api.ReasonConfirmationFailed, api.ReasonInviteUsed, api.ReasonInviteExpired, api.ReasonMemberOfAnotherCluster,
		api.ReasonRemoved, api.ReasonRosterConflict, api.ReasonDuplicateIdentity, api.ReasonMalformedMessage, api.ReasonInternal,
	}
}

func (r *refuse) isValid() bool {
	most := 0
	if r.Reason == api.ReasonWrongCode {
		most = api.MaxCodeTries - 1
	}
	return slices.Contains(refusals(), r.Reason) && r.TriesLeft >= min(1, most) && r.TriesLeft <= most
}

// refusalOf is how the other side is told of an error. What it need not know is
// internal.
func refusalOf(err error, triesLeft int) *refuse {
	reason := api.AsError(err).Data.Reason
	if !slices.Contains(refusals(), reason) {
		reason = api.ReasonInternal
	}
	if reason != api.ReasonWrongCode {
		triesLeft = 0
	}
	return &refuse{Reason: reason, TriesLeft: triesLeft}
}

// refusedError is a refusal as this side's person reads it.
func (r *refuse) refusedError(peer api.NodeID) *api.Error {
	switch r.Reason {
	case api.ReasonWrongCode:
		return wrongCode(r.TriesLeft)
	case api.ReasonMalformedMessage, api.ReasonInternal:
		return api.Errorf(api.ReasonInternal, peer.Display(), "The other Mac could not go on with pairing: %s.", r.Reason).
			WithRemedy("Its log says why.")
	}
	return api.NewError(r.Reason, "")
}

// wrongCode says how often one may still try.
func wrongCode(left int) *api.Error {
	tries := "tries"
	if left == 1 {
		tries = "try"
	}
	return api.Errorf(api.ReasonWrongCode, "", "Wrong code, %s left.", fmt.Sprintf("%d %s", left, tries))
}
