package peer

import (
	"encoding/json"

	"fulmen/daemon/api"
)

// Params reads the parameters of a node's call. The error is an *api.Error: that of
// an id which cannot be, or malformed_message.
func Params(raw json.RawMessage, into any) error {
	if err := json.Unmarshal(raw, into); err != nil {
		if e := api.AsError(err); e.Code != api.CodeInternal {
			return e
		}
		return api.Errorf(api.ReasonMalformedMessage, "params", "The parameters are not those of the method.")
	}
	return nil
}
