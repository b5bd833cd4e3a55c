package client

import (
	"context"
	"errors"

	"fulmen/daemon/api"
)

// Login makes a token of the caller's own and writes it, with the daemon's
// address, to the caller's api.json, for scripts. A token of the same name from
// before is revoked: its file is about to be replaced. It works over the Unix
// socket only.
func Login(ctx context.Context, c *Client, path, name string) (api.APIAddress, error) {
	info, err := Call[api.DaemonInfoResult](ctx, c, "daemon.info", nil)
	if err != nil {
		return api.APIAddress{}, err
	}
	create := func() (api.DaemonCreateTokenResult, error) {
		return Call[api.DaemonCreateTokenResult](ctx, c, "daemon.create_token", api.DaemonCreateTokenParams{Name: name})
	}
	made, err := create()
	if errors.Is(err, api.ReasonNameTaken) {
		if _, err = Call[api.Empty](ctx, c, "daemon.revoke_token", api.DaemonRevokeTokenParams{Name: name}); err == nil {
			made, err = create()
		}
	}
	if err != nil {
		return api.APIAddress{}, err
	}
	a := api.APIAddress{URL: info.APIURL, Socket: info.Socket, Token: made.Token, Node: info.Node}
	return a, SaveAddress(path, a)
}
